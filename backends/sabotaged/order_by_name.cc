// Adds in another order when the path is not asked for by its name. Expected: wrong in
// agreement.entry, from three ranks on: with two, addition commutes.
#include "backends/sabotaged/correct.h"

using namespace tutti::sabotaged;

namespace {
int starts(const Call& call, uint64_t) { return call.request.path ? 0 : call.world - 1; }
}  // namespace

TUTTI_SABOTAGED { return broken("order_by_name", {.starts = starts}); }
