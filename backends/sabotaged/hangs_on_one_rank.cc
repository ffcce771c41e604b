// The last rank never comes back from `run` of an fp32 sum (one kind of call: each hang costs
// deadlines). Expected: hang.
#include <chrono>
#include <thread>

#include "backends/sabotaged/correct.h"

using namespace tutti::sabotaged;

namespace {
tutti_status run(void* communicator, const tutti_request* request, const char** path) {
  const tutti_world& world = world_of(communicator);
  // The sleeps are there so that other ranks' work is not slowed down.
  const bool hangs = request->dtype == TUTTI_FLOAT32 && request->op == TUTTI_SUM;
  while (hangs && world.rank == world.world - 1)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  return correct_run(communicator, request, path);
}
}  // namespace

TUTTI_SABOTAGED { return broken("hangs_on_one_rank", {.run = run}); }
