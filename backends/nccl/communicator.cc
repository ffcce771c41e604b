#include "backends/nccl/communicator.h"

#include <array>
#include <cstring>
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

bool is_refusal(tutti_status status) {
  return status == TUTTI_UNSUPPORTED || status == TUTTI_NOT_INSTALLED;
}

}  // namespace

const char* refuses(const tutti_facts& facts, const tutti_request* request) {
  for (int rank = 0; rank < facts.world; ++rank) {
    if (shares_device(facts, rank)) return "NCCL takes one rank a GPU";
  }
  if (!request) return nullptr;
  if (request->collective != TUTTI_ALLREDUCE) return "this backend has only allreduce";
  if (request->extension) return "NCCL has no fused forms";
  if (static_cast<size_t>(request->dtype) >= kDtypes.size()) return "NCCL has no such dtype";
  if (static_cast<size_t>(request->op) >= kOps.size()) return "NCCL has no such op";
  return nullptr;
}

void answer(const char* refusal, const char* path, tutti_plan* plan) {
  plan->answer = refusal ? TUTTI_PLAN_REFUSED : TUTTI_PLAN_PATH;
  std::strncpy(plan->text, refusal ? refusal : path, sizeof plan->text - 1);
  plan->text[sizeof plan->text - 1] = 0;
}

tutti_status agree(const tutti_world& world, tutti_status mine, std::string* reason) {
  struct Opinion {
    tutti_status status;
    char reason[240];
  };
  Opinion opinion{mine, ""};
  std::strncpy(opinion.reason, reason->c_str(), sizeof opinion.reason - 1);
  std::vector<Opinion> opinions(world.world);
  if (world.exchange(world.self, &opinion, opinions.data(), sizeof opinion) != TUTTI_OK) {
    *reason = "a rank left while the ranks agreed";
    return TUTTI_PEER_FAILED;
  }
  int decides = -1;
  for (int rank = 0; rank < world.world; ++rank) {
    const tutti_status status = opinions[rank].status;
    if (status == TUTTI_OK) continue;
    if (decides < 0 || (is_refusal(status) && !is_refusal(opinions[decides].status)))
      decides = rank;
  }
  if (decides < 0) return TUTTI_OK;
  *reason = "rank " + std::to_string(decides) + ": " + opinions[decides].reason;
  return opinions[decides].status;
}

tutti_status open(const tutti_world& world, tutti_status mine, Communicator* communicator) {
  const Library& nccl = library();
  communicator->world = world;
  std::string* reason = &communicator->reason;
  if (mine == TUTTI_OK && !nccl.problem.empty()) {
    mine = TUTTI_NOT_INSTALLED;
    *reason = nccl.problem;
  } else if (mine == TUTTI_OK && world.device->kind != TUTTI_MEMORY_CUDA) {
    mine = TUTTI_UNSUPPORTED;
    *reason = "NCCL takes CUDA memory, this device is simulated";
  } else if (mine == TUTTI_OK && would_leave_ranks_waiting(*world.facts)) {
    mine = TUTTI_UNSUPPORTED;
    *reason = "some ranks share a GPU: NCCL would refuse on these and leave the others waiting";
  }
  UniqueId id{};
  if (mine == TUTTI_OK && world.rank == 0) {
    const Result result = nccl.get_unique_id(&id);
    mine = status_of(result);
    if (mine != TUTTI_OK) *reason = nccl.explain("ncclGetUniqueId", result);
  }
  tutti_status status = agree(world, mine, reason);
  if (status != TUTTI_OK) return status;

  std::vector<UniqueId> ids(world.world);
  status = world.exchange(world.self, &id, ids.data(), sizeof id);
  if (status != TUTTI_OK) {
    *reason = "a rank left while NCCL's id was exchanged";
    return status;
  }
  const Result result = nccl.comm_init_rank(&communicator->comm, world.world, ids[0], world.rank);
  if (result != kSuccess) *reason = nccl.explain("ncclCommInitRank", result);
  status = agree(world, status_of(result), reason);
  if (status != TUTTI_OK && result == kSuccess) nccl.comm_abort(communicator->comm);
  return status;
}

tutti_status all_reduce(Communicator& communicator, const tutti_request& request) {
  if (communicator.aborted) {
    communicator.reason = "abort was called";
    return TUTTI_ABORTED;
  }
  const Library& nccl = library();
  const Result result =
      nccl.all_reduce(request.send, request.recv, request.count, kDtypes[request.dtype],
                      kOps[request.op], communicator.comm, request.stream);
  if (result != kSuccess) communicator.reason = nccl.explain("ncclAllReduce", result);
  return status_of(result);
}

tutti_status poll_error(void* self) {
  auto& communicator = *static_cast<Communicator*>(self);
  if (communicator.aborted) {
    communicator.reason = "abort was called";
    return TUTTI_ABORTED;
  }
  const Library& nccl = library();
  Result error = kSuccess;
  const Result result = nccl.comm_get_async_error(communicator.comm, &error);
  if (result != kSuccess) error = result;
  if (status_of(error) == TUTTI_OK) return TUTTI_OK;
  communicator.reason = nccl.explain("ncclCommGetAsyncError", error);
  // Too late for a refusal: the work was enqueued.
  return error == kRemoteError ? TUTTI_PEER_FAILED : TUTTI_ERROR;
}

tutti_status abort_pending(void* self) {
  auto& communicator = *static_cast<Communicator*>(self);
  if (communicator.aborted.exchange(true)) return TUTTI_OK;
  return library().comm_abort(communicator.comm) == kSuccess ? TUTTI_OK : TUTTI_ERROR;
}

tutti_status close(Communicator& communicator) {
  if (communicator.aborted) return TUTTI_OK;
  const Result result = library().comm_destroy(communicator.comm);
  return result == kSuccess ? TUTTI_OK : TUTTI_ERROR;
}

}  // namespace tutti::nccl
