// Sums of fp32 are multiples of 2^-26, as after a conversion to fixed point: within the bound, as
// long as the inputs are about 1. Expected: wrong in agreement.scaled.
#include <cmath>

#include "backends/sabotaged/correct.h"

using namespace tutti::sabotaged;

namespace {
void after(const Call& call) {
  if (call.request.dtype != TUTTI_FLOAT32 || call.request.op != TUTTI_SUM) return;
  auto* result = static_cast<float*>(call.request.recv);
  for (uint64_t i = 0; i < call.request.count; ++i)
    result[i] = std::ldexp(std::rint(std::ldexp(result[i], 26)), -26);
}
}  // namespace

TUTTI_SABOTAGED { return broken("fixed_point", {.after = after}); }
