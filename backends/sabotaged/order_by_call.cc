// Sums begin at another rank in each call. Expected: wrong in agreement.each_time, from three ranks
// on: with two, addition commutes.
#include "backends/sabotaged/correct.h"

using namespace tutti::sabotaged;

namespace {
int starts(const Call& call, uint64_t) { return static_cast<int>(call.number % call.world); }
}  // namespace

TUTTI_SABOTAGED { return broken("order_by_call", {.starts = starts}); }
