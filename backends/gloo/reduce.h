// The reductions given to Gloo: its own where it has them, ours for bf16, which Gloo of 2022 does
// not know.
#pragma once

#include <gloo/math.h>

#include <cmath>
#include <cstddef>

#include "backends/backend.h"
#include "fixtures/data/narrow_float.h"

namespace tutti {

using Reduction = void (*)(void* to, const void* left, const void* right, std::size_t count);

// Adds in fp32 and rounds once, at every hop.
inline void sum_bfloat16(void* to, const void* left, const void* right, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    const float sum = static_cast<const bfloat16*>(left)[i].to_float() +
                      static_cast<const bfloat16*>(right)[i].to_float();
    static_cast<bfloat16*>(to)[i] = bfloat16::from_float(sum);
  }
}

// NaN propagates, whatever the order.
inline void max_bfloat16(void* to, const void* left, const void* right, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    const bfloat16 one = static_cast<const bfloat16*>(left)[i],
                   other = static_cast<const bfloat16*>(right)[i];
    const bool keep = std::isnan(one.to_float()) || one.to_float() >= other.to_float();
    static_cast<bfloat16*>(to)[i] = keep ? one : other;
  }
}

// nullptr for what this backend does not offer.
inline Reduction reduction_of(tutti_dtype dtype, tutti_op op) {
  if (op != TUTTI_SUM && op != TUTTI_MAX) return nullptr;
  const bool sum = op == TUTTI_SUM;
  switch (dtype) {
    case TUTTI_FLOAT32:
      return sum ? Reduction(gloo::sum<float>) : Reduction(gloo::max<float>);
    case TUTTI_INT32:
      return sum ? Reduction(gloo::sum<int32_t>) : Reduction(gloo::max<int32_t>);
    case TUTTI_BFLOAT16:
      return sum ? sum_bfloat16 : max_bfloat16;
    default:
      return nullptr;
  }
}

}  // namespace tutti
