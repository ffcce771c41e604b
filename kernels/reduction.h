// Element-wise reductions. Narrow floats are accumulated in fp32 and rounded once, at the end.
#pragma once

#include <cstdint>
#include <cstring>

#include "fixtures/data/narrow_float.h"

namespace tutti {

TUTTI_HOST_DEVICE inline float widen(float value) { return value; }
TUTTI_HOST_DEVICE inline float widen(bfloat16 value) { return value.to_float(); }
TUTTI_HOST_DEVICE inline std::int32_t widen(std::int32_t value) { return value; }

TUTTI_HOST_DEVICE inline void narrow(float value, float* out) { *out = value; }
TUTTI_HOST_DEVICE inline void narrow(float value, bfloat16* out) {
  *out = bfloat16::from_float(value);
}
TUTTI_HOST_DEVICE inline void narrow(std::int32_t value, std::int32_t* out) { *out = value; }

// Integers wrap. A sum starts from a first value, never from 0, so that a sum of -0 alone stays -0.
struct Sum {
  TUTTI_HOST_DEVICE static float apply(float left, float right) { return left + right; }
  TUTTI_HOST_DEVICE static std::int32_t apply(std::int32_t left, std::int32_t right) {
    return static_cast<std::int32_t>(static_cast<std::uint32_t>(left) +
                                     static_cast<std::uint32_t>(right));
  }
};

// A NaN on either side is the result, and +0 is larger than -0. Neither holds for fmaxf or the
// device's max instruction.
struct Max {
  TUTTI_HOST_DEVICE static float apply(float left, float right) {
    if (left != left) return left;
    if (right != right) return right;
    if (left == right) return is_negative(left) ? right : left;
    return left > right ? left : right;
  }
  TUTTI_HOST_DEVICE static std::int32_t apply(std::int32_t left, std::int32_t right) {
    return left > right ? left : right;
  }

 private:
  TUTTI_HOST_DEVICE static bool is_negative(float value) {
    std::uint32_t bits;
    std::memcpy(&bits, &value, sizeof bits);
    return (bits >> 31) != 0;
  }
};

}  // namespace tutti
