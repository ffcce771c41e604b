// Right results, but `poll_error` says error and `reason` has nothing to say. Expected: lost_path,
// as every rank failed at what it claims.
#include "backends/sabotaged/correct.h"

using namespace tutti::sabotaged;

namespace {
tutti_status poll_error(void*) { return TUTTI_ERROR; }
const char* reason(void*) { return ""; }
}  // namespace

TUTTI_SABOTAGED {
  tutti_backend* table = broken("fails_quietly", {});
  table->poll_error = poll_error;
  table->reason = reason;
  return table;
}
