// A communicator of NCCL behind the functions of the ABI, shared by the plugins that use NCCL.
#pragma once

#include <atomic>
#include <string>

#include "backends/backend.h"
#include "backends/nccl/library.h"

namespace tutti::nccl {

struct Communicator {
  tutti_world world{};
  Comm* comm = nullptr;
  std::atomic<bool> aborted{false};  // and then `comm` is gone
  std::string reason = "nothing has failed";
};

// nullptr, or why NCCL does not take this. `request` may be null: only the world is looked at then.
const char* refuses(const tutti_facts& facts, const tutti_request* request);

// Fills a plan with `path`, or with the refusal.
void answer(const char* refusal, const char* path, tutti_plan* plan);

// Collective: the same answer on all ranks, TUTTI_OK only when all say so. A refusal of one rank
// goes before failures of others, which are mostly its consequence. `reason` becomes that of the
// rank that decided.
tutti_status agree(const tutti_world& world, tutti_status mine, std::string* reason);

// Collective. Fills `communicator`; the reason is that of `create`. ncclCommInitRank waits for all
// ranks without a deadline: if one never comes, only the end of the worker ends it.
tutti_status open(const tutti_world& world, tutti_status mine, Communicator* communicator);

// Hands the request to NCCL. The caller has asked `refuses`.
tutti_status all_reduce(Communicator& communicator, const tutti_request& request);

tutti_status poll_error(void* communicator);
tutti_status abort_pending(void* communicator);

// Collective: ncclCommDestroy, unless the communicator was aborted.
tutti_status close(Communicator& communicator);

}  // namespace tutti::nccl
