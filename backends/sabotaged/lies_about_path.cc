// Plans "direct" and then says that it took "slow". The numbers are right. Expected: lost_path.
#include "backends/sabotaged/correct.h"

using namespace tutti::sabotaged;

namespace {
tutti_status run(void* communicator, const tutti_request* request, const char** path) {
  const tutti_status status = correct_run(communicator, request, path);
  if (status == TUTTI_OK) *path = "slow";
  return status;
}
}  // namespace

TUTTI_SABOTAGED {
  static const char* const paths[] = {"direct", "slow", nullptr};
  tutti_backend* table = broken("lies_about_path", {.run = run});
  table->paths = paths;
  return table;
}
