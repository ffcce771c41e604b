// Rank 1's contribution is missing in the last element. Expected: wrong, explained so, at every
// world above 1.
#include "backends/sabotaged/correct.h"

using namespace tutti::sabotaged;

namespace {
bool counts(const Call& call, int rank, uint64_t index) {
  return rank != 1 || index + 1 != call.request.count;
}
}  // namespace

TUTTI_SABOTAGED { return broken("drops_rank", {.counts = counts}); }
