// Says ok to dtypes and ops that its claims say it refuses, and does nothing for them. Expected:
// wrong, in agreement.refusal only.
#include "backends/sabotaged/correct.h"

using namespace tutti::sabotaged;

namespace {
tutti_status run(void* communicator, const tutti_request* request, const char** path) {
  const tutti_status status = correct_run(communicator, request, path);
  if (status == TUTTI_UNSUPPORTED) *path = "direct";
  return status == TUTTI_UNSUPPORTED ? TUTTI_OK : status;
}
}  // namespace

TUTTI_SABOTAGED { return broken("accepts_everything", {.run = run}); }
