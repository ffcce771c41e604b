#include "backends/nccl/communicator.h"

#include <array>
#include <cstring>
#include <string>
#include <vector>

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

bool same_device(const tutti_rank_facts& one, const tutti_rank_facts& other) {
  return one.device_index == other.device_index && std::strcmp(one.host, other.host) == 0;
}

bool shares_device(const tutti_facts& facts, int rank) {
  for (int other = 0; other < facts.world; ++other) {
    if (other != rank && same_device(facts.ranks[rank], facts.ranks[other])) return true;
  }
  return false;
}

// NCCL refuses on those ranks only that share a GPU, and a rank that has its own waits for them: no
// answer came within 20 seconds from NCCL 2.28. So NCCL is asked only where all ranks will be
// refused, or none.
bool would_leave_ranks_waiting(const tutti_facts& facts) {
  int sharing = 0;
  for (int rank = 0; rank < facts.world; ++rank) sharing += shares_device(facts, rank);
  return sharing != 0 && sharing != facts.world;
}

}  // namespace

const char* Communicator::version() {
  static const std::string text = library().version_text();
  return text.c_str();
}

plugin::Decision Communicator::decide(const char* path, const tutti_facts& facts,
                                      const tutti_request* request, Sharing sharing) {
  if (!request) return plugin::take(path);
  for (int rank = 0; rank < facts.world && sharing == Sharing::refused; ++rank) {
    if (shares_device(facts, rank)) return plugin::refuse("NCCL takes one rank a GPU");
  }
  if (request->collective != TUTTI_ALLREDUCE)
    return plugin::refuse("this backend has only allreduce");
  if (request->extension) return plugin::refuse("NCCL has no fused forms");
  if (static_cast<size_t>(request->dtype) >= kDtypes.size())
    return plugin::refuse("NCCL has no such dtype");
  if (static_cast<size_t>(request->op) >= kOps.size()) return plugin::refuse("NCCL has no such op");
  return plugin::take(path);
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
  UniqueId id{};
  if (mine == TUTTI_OK && world().rank == 0) {
    const Result result = nccl.get_unique_id(&id);
    mine = status_of(result);
    if (mine != TUTTI_OK) say(mine, nccl.explain("ncclGetUniqueId", result));
  }
  tutti_status status = agree_by_rank(mine);
  if (status != TUTTI_OK) return status;

  std::vector<UniqueId> ids;
  status = plugin::gather(world(), id, ids);
  if (status != TUTTI_OK) return say(status, "a rank left while NCCL's id was exchanged");
  const Result result = nccl.comm_init_rank(&comm_, world().world, ids[0], world().rank);
  if (result != kSuccess) say(status_of(result), nccl.explain("ncclCommInitRank", result));
  status = agree_by_rank(status_of(result));
  if (status != TUTTI_OK && result == kSuccess) nccl.comm_abort(comm_);
  return status;
}

tutti_status Communicator::run(const tutti_request& request, const char*) {
  if (aborted_) return say(TUTTI_ABORTED, "abort was called");
  const Library& nccl = library();
  const Result result =
      nccl.all_reduce(request.send, request.recv, request.count, kDtypes[request.dtype],
                      kOps[request.op], comm_, request.stream);
  if (result == kSuccess) return TUTTI_OK;
  return say(status_of(result), nccl.explain("ncclAllReduce", result));
}

tutti_status Communicator::poll_error() {
  if (aborted_) return say(TUTTI_ABORTED, "abort was called");
  const Library& nccl = library();
  Result error = kSuccess;
  const Result result = nccl.comm_get_async_error(comm_, &error);
  if (result != kSuccess) error = result;
  if (status_of(error) == TUTTI_OK) return TUTTI_OK;
  // Too late for a refusal: the work was enqueued.
  return say(error == kRemoteError ? TUTTI_PEER_FAILED : TUTTI_ERROR,
             nccl.explain("ncclCommGetAsyncError", error));
}

tutti_status Communicator::abort() {
  if (aborted_.exchange(true)) return TUTTI_OK;
  return library().comm_abort(comm_) == kSuccess ? TUTTI_OK : TUTTI_ERROR;
}

tutti_status Communicator::destroy() {
  if (aborted_) return TUTTI_OK;
  const Result result = library().comm_destroy(comm_);
  if (result == kSuccess) return TUTTI_OK;
  return say(TUTTI_ERROR, library().explain("ncclCommDestroy", result));
}

}  // namespace tutti::nccl
