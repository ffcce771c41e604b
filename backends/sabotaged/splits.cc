// The last rank says unsupported, the others have a right result. Expected: split, at every world
// above 1. The last rank takes part with an output of its own, so that nobody waits for it and
// nothing of its buffers is touched.
#include <vector>

#include "backends/sabotaged/correct.h"

using namespace tutti::sabotaged;

namespace {
tutti_status run(void* communicator, const tutti_request* request, const char** path) {
  const tutti_world& world = world_of(communicator);
  if (world.world == 1 || world.rank != world.world - 1)
    return correct_run(communicator, request, path);
  static std::vector<std::vector<char>> outputs;  // the stream may still need them
  tutti_request taken = *request;
  taken.recv = outputs.emplace_back(request->count * 4).data();
  const tutti_status status = correct_run(communicator, &taken, path);
  if (status == TUTTI_OK) set_reason(communicator, "refused on the last rank only");
  return status == TUTTI_OK ? TUTTI_UNSUPPORTED : status;
}
}  // namespace

TUTTI_SABOTAGED { return broken("splits", {.run = run}); }
