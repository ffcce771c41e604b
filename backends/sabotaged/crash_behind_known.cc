// Large calls are wrong when they are a process's first, and abort it when they come later.
// Expected, with the wrong result entered as a known failure: crash all the same, though fresh
// workers show the known failure only.
#include <cstdlib>

#include "backends/sabotaged/correct.h"

using namespace tutti::sabotaged;

namespace {
void after(const Call& call) {
  if (call.request.count <= 1000) return;
  if (call.number >= 4) std::abort();
  if (call.number == 1) call.spoil(0);
}
}  // namespace

TUTTI_SABOTAGED { return broken("crash_behind_known", {.after = after}); }
