// Sums begin at another rank after each 64 elements of a message. Expected: wrong in
// agreement.split, from three ranks on: with two, addition commutes.
#include "backends/sabotaged/correct.h"

using namespace tutti::sabotaged;

namespace {
int starts(const Call& call, uint64_t index) { return static_cast<int>(index / 64 % call.world); }
}  // namespace

TUTTI_SABOTAGED { return broken("order_by_place", {.starts = starts}); }
