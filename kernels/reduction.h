// Reductions of single elements, and what they promise:
//
//   type of accumulation  fp8, fp16, bf16: fp32, rounded once at the end; all others: their own
//   sum, prod             in the order of the ranks; integers wrap
//   min, max              NaN on either side is the result; -0 is less than +0
//   avg                   the sum, then one division by the number of ranks, in the type of
//                         accumulation; of integers that of the wrapped sum, toward zero
//
// The rounding at the end does not saturate: what overflows becomes infinity, and NaN in fp8 e4m3.
// A reduction starts from a first value, never from a neutral one, so that a sum of -0 alone stays
// -0: number_of() each, apply() in the order of the ranks, finish() and element_near() once.
#pragma once

#include <cstdint>
#include <type_traits>

#include "backends/backend.h"
#include "fixtures/data/number.h"

namespace tutti {

// Integers as unsigned ones that wrap. Those of 8 bits would be promoted to int.
template <typename Integer>
TUTTI_HOST_DEVICE constexpr auto modular(Integer value) {
  using Wrapping =
      std::conditional_t<(sizeof(Integer) < 4), unsigned, std::make_unsigned_t<Integer>>;
  return static_cast<Wrapping>(value);
}

// Of Sum, Prod, Min and Max: nothing is left to do at the end.
struct FinishedAsItIs {
  template <typename Wide>
  TUTTI_HOST_DEVICE static constexpr Wide finish(Wide accumulated, int) {
    return accumulated;
  }
};

struct Sum : FinishedAsItIs {
  template <typename Wide>
  TUTTI_HOST_DEVICE static constexpr Wide apply(Wide left, Wide right) {
    if constexpr (std::is_integral_v<Wide>) {
      return static_cast<Wide>(modular(left) + modular(right));
    } else {
      return left + right;
    }
  }
};

struct Prod : FinishedAsItIs {
  template <typename Wide>
  TUTTI_HOST_DEVICE static constexpr Wide apply(Wide left, Wide right) {
    if constexpr (std::is_integral_v<Wide>) {
      return static_cast<Wide>(modular(left) * modular(right));
    } else {
      return left * right;
    }
  }
};

// fminf, fmaxf and the device's instructions for them treat neither NaN nor zeros like this.
template <bool largest>
struct Extreme : FinishedAsItIs {
  template <typename Wide>
  TUTTI_HOST_DEVICE static constexpr Wide apply(Wide left, Wide right) {
    if constexpr (std::is_floating_point_v<Wide>) {
      if (left != left) return left;
      if (right != right) return right;
      if (left == right) return is_negative(left) == largest ? right : left;
    }
    return (left > right) == largest ? left : right;
  }

 private:
  template <typename Wide>
  TUTTI_HOST_DEVICE static constexpr bool is_negative(Wide value) {
    using Word = std::conditional_t<sizeof(Wide) == 4, std::int32_t, std::int64_t>;
    return __builtin_bit_cast(Word, value) < 0;
  }
};
using Min = Extreme<false>;
using Max = Extreme<true>;

struct Avg {
  template <typename Wide>
  TUTTI_HOST_DEVICE static constexpr Wide apply(Wide left, Wide right) {
    return Sum::apply(left, right);
  }
  template <typename Wide>
  TUTTI_HOST_DEVICE static constexpr Wide finish(Wide accumulated, int world) {
    return static_cast<Wide>(accumulated / static_cast<Wide>(world));
  }
};

// body(Reduction{}) for an op, and what it returns.
template <typename Body>
TUTTI_HOST_DEVICE constexpr auto with_reduction(tutti_op op, const Body& body) {
  switch (op) {
    case TUTTI_PROD:
      return body(Prod{});
    case TUTTI_MIN:
      return body(Min{});
    case TUTTI_MAX:
      return body(Max{});
    case TUTTI_AVG:
      return body(Avg{});
    case TUTTI_SUM:
      break;
  }
  return body(Sum{});
}

}  // namespace tutti
