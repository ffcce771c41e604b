// Sums of nothing but -0 are -0, and +0 in messages of more than 64 elements: right by either rule,
// but not by one. Expected: wrong in agreement.special.
#include "backends/sabotaged/correct.h"

using namespace tutti::sabotaged;

namespace {
void after(const Call& call) {
  if (call.request.dtype != TUTTI_FLOAT32 || call.request.op != TUTTI_SUM) return;
  if (call.request.count <= 64) return;
  auto* numbers = static_cast<float*>(call.request.recv);
  for (uint64_t i = 0; i < call.request.count; ++i)
    if (numbers[i] == 0) numbers[i] = 0;
}
}  // namespace

TUTTI_SABOTAGED { return broken("zero_by_count", {.after = after}); }
