// Only the last rank's output is wrong, in its first element. Expected: wrong, at every world.
#include "backends/sabotaged/correct.h"

using namespace tutti::sabotaged;

namespace {
void after(const Call& call) {
  if (call.rank == call.world - 1 && call.request.count > 0) call.spoil(0);
}
}  // namespace

TUTTI_SABOTAGED { return broken("wrong_on_last_rank", {.after = after}); }
