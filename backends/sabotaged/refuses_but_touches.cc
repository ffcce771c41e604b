// Refuses every call, as its claims say it must, but has already written to the output. Expected:
// corrupt.
#include "backends/sabotaged/correct.h"

using namespace tutti::sabotaged;

namespace {
tutti_status run(void* communicator, const tutti_request* request, const char**) {
  if (request->count > 0) *static_cast<unsigned char*>(request->recv) ^= 0xff;
  set_reason(communicator, "refused, after touching the output");
  return TUTTI_UNSUPPORTED;
}
}  // namespace

TUTTI_SABOTAGED { return broken("refuses_but_touches", {.run = run, .plan = plan_unknown}); }
