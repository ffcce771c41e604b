// Chooses its path by itself, but refuses more than 100 elements when the path is asked for by its
// name. Expected: lost_path in agreement.entry.
#include "backends/sabotaged/correct.h"

using namespace tutti::sabotaged;

namespace {
tutti_status run(void* communicator, const tutti_request* request, const char** path) {
  if (!request->path || request->count <= 100) return correct_run(communicator, request, path);
  set_reason(communicator, "too large for this path");
  return TUTTI_UNSUPPORTED;
}
}  // namespace

TUTTI_SABOTAGED { return broken("gate_by_name", {.run = run, .plan = plan_unknown}); }
