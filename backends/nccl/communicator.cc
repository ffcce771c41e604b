#include "backends/nccl/communicator.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "backends/nccl/non_blocking.h"

namespace tutti::nccl {
namespace {

// NCCL's numbers of the ABI's dtypes and ops, in the ABI's order.
constexpr std::array<int, 12> kDtypes{0, 1, 2, 3, 4, 5, 6, 9, 7, 8, 10, 11};
constexpr std::array<int, 5> kOps{0, 1, 3, 2, 4};

tutti_status status_of(Result result) {
  switch (result) {
    case kSuccess:
    case kInProgress:
      return TUTTI_OK;
    case kInvalidArgument:
    case kInvalidUsage:
      return TUTTI_UNSUPPORTED;
    case kRemoteError:
      return TUTTI_PEER_FAILED;
    default:
      return TUTTI_ERROR;
  }
}

bool shares_device(const tutti_facts& facts, int rank) {
  for (int other = 0; other < facts.world; ++other) {
    if (other != rank && std::strcmp(facts.ranks[rank].device, facts.ranks[other].device) == 0)
      return true;
  }
  return false;
}

// How many ranks share a device with another one. Mostly none, and this is asked millions of times.
int ranks_that_share(const tutti_facts& facts) {
  std::vector<std::size_t> hashes;
  for (int rank = 0; rank < facts.world; ++rank)
    hashes.push_back(std::hash<std::string_view>{}(facts.ranks[rank].device));
  std::sort(hashes.begin(), hashes.end());
  if (std::adjacent_find(hashes.begin(), hashes.end()) == hashes.end()) return 0;
  int sharing = 0;
  for (int rank = 0; rank < facts.world; ++rank) sharing += shares_device(facts, rank);
  return sharing;
}

// NCCL refuses on those ranks only that share a GPU, and a rank that has its own waits for them: no
// answer came within 20 seconds from NCCL 2.28. So NCCL is asked only where all ranks will be
// refused, or none.
bool would_leave_ranks_waiting(const tutti_facts& facts) {
  const int sharing = ranks_that_share(facts);
  return sharing != 0 && sharing != facts.world;
}

}  // namespace

const char* Communicator::version() {
  static const std::string text = library().version_text();
  return text.c_str();
}

plugin::Decision Communicator::decide(const char* const* paths, const tutti_facts& facts,
                                      const tutti_request* request, Sharing sharing) {
  if (!request) return plugin::take(*paths);
  if (sharing == Sharing::refused && ranks_that_share(facts) > 0)
    return plugin::refuse("NCCL takes one rank a GPU");
  if (request->collective != TUTTI_ALLREDUCE)
    return plugin::refuse("this backend has only allreduce");
  if (request->extension) return plugin::refuse("NCCL has no fused forms");
  if (static_cast<size_t>(request->dtype) >= kDtypes.size())
    return plugin::refuse("NCCL has no such dtype");
  if (static_cast<size_t>(request->op) >= kOps.size()) return plugin::refuse("NCCL has no such op");
  const bool is_fp8 = request->dtype == TUTTI_FLOAT8_E4M3 || request->dtype == TUTTI_FLOAT8_E5M2;
  if (is_fp8 && request->op == TUTTI_AVG)
    return plugin::refuse("NCCL has no average of fp8 (ncclAllReduce: invalid argument)");
  if (!request->path) return plugin::take(*paths);
  for (const char* const* path = paths; *path; ++path) {
    if (std::strcmp(*path, request->path) == 0) return plugin::take(*path);
  }
  return plugin::refuse(std::string("this backend has no path ") + request->path);
}

tutti_status Communicator::agree_by_rank(tutti_status mine) {
  if (mine != TUTTI_OK) say(mine, "rank " + std::to_string(world().rank) + ": " + reason());
  return agree(mine);
}

// What speaks against NCCL before it is asked.
tutti_status Communicator::problem() {
  if (!library().problem.empty()) return say(TUTTI_NOT_INSTALLED, library().problem);
  if (device().kind != TUTTI_MEMORY_CUDA)
    return say(TUTTI_UNSUPPORTED, "NCCL takes CUDA memory, this device is simulated");
  if (sharing_ == Sharing::refused && would_leave_ranks_waiting(*world().facts)) {
    return say(TUTTI_UNSUPPORTED,
               "some ranks share a GPU: NCCL would refuse on these and leave the others waiting");
  }
  return TUTTI_OK;
}

tutti_status Communicator::open(tutti_status mine) {
  const Library& nccl = library();
  if (mine == TUTTI_OK) mine = problem();
  std::array<UniqueId, 2> id{};  // of the communicator, and of a non-blocking one
  if (mine == TUTTI_OK && world().rank == 0) {
    Result result = nccl.get_unique_id(&id[0]);
    if (result == kSuccess) result = nccl.get_unique_id(&id[1]);
    mine = status_of(result);
    if (mine != TUTTI_OK) say(mine, nccl.explain("ncclGetUniqueId", result));
  }
  tutti_status status = agree_by_rank(mine);
  if (status != TUTTI_OK) return status;

  std::vector<std::array<UniqueId, 2>> ids;
  status = plugin::gather(world(), id, ids);
  if (status != TUTTI_OK) return say(status, "a rank left while NCCL's id was exchanged");
  non_blocking_id_ = ids[0][1];
  const Result result = nccl.comm_init_rank(&comm_, world().world, ids[0][0], world().rank);
  if (result != kSuccess) say(status_of(result), nccl.explain("ncclCommInitRank", result));
  status = agree_by_rank(status_of(result));
  if (status != TUTTI_OK && result == kSuccess) nccl.comm_abort(comm_);
  return status;
}

Result Communicator::all_reduce(const tutti_request& request, Comm* comm) {
  return library().all_reduce(request.send, request.recv, request.count, kDtypes[request.dtype],
                              kOps[request.op], comm, request.stream);
}

tutti_status Communicator::enqueued(Result result) {
  if (result == kSuccess) return TUTTI_OK;
  if (result == kInProgress) return say(TUTTI_TIMED_OUT, "ncclAllReduce stayed in progress");
  return say(status_of(result), library().explain("ncclAllReduce", result));
}

tutti_status Communicator::run(const tutti_request& request, const char* path) {
  if (aborted_) return say(TUTTI_ABORTED, "abort was called");
  return path == kNonBlocking ? run_non_blocking(request) : enqueued(all_reduce(request, comm_));
}

tutti_status Communicator::run_non_blocking(const tutti_request& request) {
  const Library& nccl = library();
  if (!nccl.has_non_blocking())
    return say(TUTTI_UNSUPPORTED, "non-blocking communicators came with NCCL 2.14");
  const std::uint64_t deadline_ms = world().deadline_ms;
  if (!non_blocking_) {
    Comm* comm = nullptr;
    const Result result =
        open_non_blocking(comm, non_blocking_id_, world().world, world().rank, deadline_ms);
    if (result == kInProgress)
      return say(TUTTI_TIMED_OUT, "a non-blocking ncclCommInitRankConfig stayed in progress");
    if (result != kSuccess)
      return say(status_of(result), nccl.explain("ncclCommInitRankConfig", result));
    non_blocking_ = comm;
  }
  return enqueued(settled(non_blocking_, all_reduce(request, non_blocking_), deadline_ms));
}

// Too late for a refusal: the work was enqueued.
tutti_status Communicator::poll_error() {
  if (aborted_) return say(TUTTI_ABORTED, "abort was called");
  const Library& nccl = library();
  for (Comm* comm : {comm_, non_blocking_.load()}) {
    if (!comm) continue;
    Result error = kSuccess;
    const Result result = nccl.comm_get_async_error(comm, &error);
    if (result != kSuccess) error = result;
    if (status_of(error) == TUTTI_OK) continue;
    return say(error == kRemoteError ? TUTTI_PEER_FAILED : TUTTI_ERROR,
               nccl.explain("ncclCommGetAsyncError", error));
  }
  return TUTTI_OK;
}

tutti_status Communicator::abort() {
  if (aborted_.exchange(true)) return TUTTI_OK;
  bool ended = library().comm_abort(comm_) == kSuccess;
  if (Comm* comm = non_blocking_) ended = library().comm_abort(comm) == kSuccess && ended;
  return ended ? TUTTI_OK : TUTTI_ERROR;
}

tutti_status Communicator::destroy() {
  if (aborted_) return TUTTI_OK;
  const Library& nccl = library();
  if (Comm* comm = non_blocking_) {
    const Result result = close_non_blocking(comm, world().deadline_ms);
    if (result == kInProgress) return say(TUTTI_TIMED_OUT, "ncclCommFinalize stayed in progress");
    if (result != kSuccess) return say(TUTTI_ERROR, nccl.explain("ncclCommFinalize", result));
  }
  const Result result = nccl.comm_destroy(comm_);
  if (result == kSuccess) return TUTTI_OK;
  return say(TUTTI_ERROR, nccl.explain("ncclCommDestroy", result));
}

}  // namespace tutti::nccl
