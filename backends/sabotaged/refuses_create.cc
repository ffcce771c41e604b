// Makes no communicator, gracefully. Expected: lost_path in what its claims promise (bf16), and
// refused in the rest, in the same run.
#include "backends/sabotaged/correct.h"

using namespace tutti::sabotaged;

namespace {
tutti_status create(const tutti_world*, void**) { return TUTTI_UNSUPPORTED; }
const char* reason(void*) { return "not today"; }
}  // namespace

TUTTI_SABOTAGED {
  tutti_backend* table = broken("refuses_create", {});
  table->create = create;
  table->reason = reason;
  return table;
}
