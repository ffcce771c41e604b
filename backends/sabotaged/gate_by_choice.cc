// Carries out what it is asked for by the name of its path, and refuses to choose it. Expected:
// lost_path in agreement.entry.
#include "backends/sabotaged/correct.h"

using namespace tutti::sabotaged;

namespace {
tutti_status run(void* communicator, const tutti_request* request, const char** path) {
  if (request->path) return correct_run(communicator, request, path);
  set_reason(communicator, "no path was named");
  return TUTTI_UNSUPPORTED;
}
}  // namespace

TUTTI_SABOTAGED { return broken("gate_by_choice", {.run = run, .plan = plan_unknown}); }
