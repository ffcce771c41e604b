#include "backends/nccl/non_blocking.h"

#include <chrono>
#include <thread>

namespace tutti::nccl {
namespace {

// The beginning of ncclConfig_t, as it was in 2.14; `size` and `version` tell NCCL that there is no
// more of it.
struct Config {
  std::size_t size = sizeof(Config);
  unsigned magic = 0xcafebeef;
  unsigned version = 21400;
  int blocking = 0;
};

}  // namespace

Result settled(Comm* comm, Result first, std::uint64_t deadline_ms) {
  const auto until = std::chrono::steady_clock::now() + std::chrono::milliseconds(deadline_ms);
  Result state = first;
  while (state == kInProgress && std::chrono::steady_clock::now() < until) {
    const Result asked = library().comm_get_async_error(comm, &state);
    if (asked != kSuccess) return asked;
    if (state == kInProgress) std::this_thread::sleep_for(std::chrono::microseconds(20));
  }
  return state;
}

Result open_non_blocking(Comm*& comm, const UniqueId& id, int world, int rank,
                         std::uint64_t deadline_ms) {
  Config config;
  const Result first = library().comm_init_rank_config(&comm, world, id, rank, &config);
  if (first != kSuccess && first != kInProgress) return first;
  const Result result = settled(comm, first, deadline_ms);
  if (result == kSuccess) return result;
  library().comm_abort(comm);
  comm = nullptr;
  return result;
}

Result close_non_blocking(Comm* comm, std::uint64_t deadline_ms) {
  const Result result = settled(comm, library().comm_finalize(comm), deadline_ms);
  if (result == kSuccess) return library().comm_destroy(comm);
  library().comm_abort(comm);
  return result;
}

}  // namespace tutti::nccl
