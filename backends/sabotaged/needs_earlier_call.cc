// Wrong only after a call with more than 1000 elements in the same process. Expected: wrong, with a
// replay line that holds both calls, since fresh workers do not show it otherwise.
#include "backends/sabotaged/correct.h"

using namespace tutti::sabotaged;

namespace {
bool seen_large = false;

void after(const Call& call) {
  if (seen_large && call.request.count > 0) call.spoil(0);
  if (call.request.count > 1000) seen_large = true;
}
}  // namespace

TUTTI_SABOTAGED { return broken("needs_earlier_call", {.after = after}); }
