// Has a gate that only one entry goes through: in place it refuses what it carries out otherwise.
// Expected: lost_path in agreement.entry.
#include "backends/sabotaged/correct.h"

using namespace tutti::sabotaged;

namespace {
tutti_status run(void* communicator, const tutti_request* request, const char** path) {
  if (request->send != request->recv) return correct_run(communicator, request, path);
  set_reason(communicator, "not in place");
  return TUTTI_UNSUPPORTED;
}
}  // namespace

TUTTI_SABOTAGED { return broken("gate_in_place", {.run = run, .plan = plan_unknown}); }
