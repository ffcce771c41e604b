// Treats short calls in another way, as real backends do: fewer than 4 elements are refused, and
// fewer than 8 take another path. Its claims leave that open. Expected: green; what parts of split
// calls come to is seen in tests/split_test.cc.
#include "backends/sabotaged/correct.h"

using namespace tutti::sabotaged;

namespace {
const char* const paths[] = {"direct", "short", nullptr};

tutti_status run(void* communicator, const tutti_request* request, const char** path) {
  if (request->count < 4) {
    set_reason(communicator, "too short");
    return TUTTI_UNSUPPORTED;
  }
  tutti_request by_choice = *request;
  by_choice.path = nullptr;
  const tutti_status status = correct_run(communicator, &by_choice, path);
  if (request->count < 8) *path = "short";
  return status;
}
}  // namespace

TUTTI_SABOTAGED {
  tutti_backend* table = broken("short_calls", {.run = run, .plan = plan_unknown});
  table->paths = paths;
  return table;
}
