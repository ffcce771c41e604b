// Wrong only for int32 sum at world 5 and for bf16 max at world 8. Expected: exactly these cells
// are red, in one run.
#include "backends/sabotaged/correct.h"

using namespace tutti::sabotaged;

namespace {
void after(const Call& call) {
  const tutti_request& request = call.request;
  const bool one = request.dtype == TUTTI_INT32 && request.op == TUTTI_SUM && call.world == 5;
  const bool other = request.dtype == TUTTI_BFLOAT16 && request.op == TUTTI_MAX && call.world == 8;
  if ((one || other) && request.count > 0) call.spoil(request.count - 1);
}
}  // namespace

TUTTI_SABOTAGED { return broken("two_cells", {.after = after}); }
