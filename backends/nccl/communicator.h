// A communicator of NCCL, shared by the plugins that use NCCL: those add their name and path.
#pragma once

#include <atomic>

#include "backends/nccl/library.h"
#include "backends/plugin.h"

namespace tutti::nccl {

inline constexpr const char* kNonBlocking = "nonblocking";

class Communicator : public plugin::Communicator {
 public:
  static constexpr uint32_t kMemory = TUTTI_MEMORY_CUDA;
  static const char* version();

  // Ranks that share a GPU: NCCL refuses them, unless each of them passes for a host of its own.
  enum class Sharing { refused, taken };
  explicit Communicator(const tutti_world& world, Sharing sharing = Sharing::refused)
      : plugin::Communicator(world), sharing_(sharing) {}
  // Collective. ncclCommInitRank waits for all ranks without a deadline: if one never comes, only
  // the end of the worker ends it.
  tutti_status create() { return open(TUTTI_OK); }
  tutti_status run(const tutti_request& request, const char* path);
  tutti_status poll_error();
  tutti_status abort();
  // Collective: ncclCommDestroy, unless the communicator was aborted.
  tutti_status destroy();

 protected:
  // Takes one of `paths` (ending on null; the first where the request names none), or says why NCCL
  // does not take this. A null request, so create, is always taken: NCCL is asked there whatever is
  // known, as it is checked that it refuses gracefully.
  static plugin::Decision decide(const char* const* paths, const tutti_facts& facts,
                                 const tutti_request* request, Sharing sharing = Sharing::refused);

  // create(), where this rank alone may have a reason against it, said before.
  tutti_status open(tutti_status mine);

  // agree(), with the rank that decided named in the reason.
  tutti_status agree_by_rank(tutti_status mine);

  // By a non-blocking communicator, which the first such call makes.
  tutti_status run_non_blocking(const tutti_request& request);

  Comm* comm_ = nullptr;
  std::atomic<bool> aborted_{false};  // and then the communicators are gone

 private:
  tutti_status problem();
  tutti_status enqueued(Result result);
  Result all_reduce(const tutti_request& request, Comm* comm);

  UniqueId non_blocking_id_{};
  std::atomic<Comm*> non_blocking_{nullptr};

  const Sharing sharing_;
};

}  // namespace tutti::nccl
