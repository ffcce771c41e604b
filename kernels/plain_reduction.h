// For tests: what an allreduce has to give, by the promises of reduction.h, in other arithmetic:
// each step in 113 or 128 bits, then rounded or wrapped.
#pragma once

#include <cstdint>
#include <cstring>
#include <vector>

#include "fixtures/data/element.h"

namespace tutti {

__extension__ typedef unsigned __int128 Unsigned128;

// All of them as one number; products and sums modulo 2^128 are right modulo 2^64.
template <typename T>
T plainly_reduced_integers(Op op, const std::vector<T>& values) {
  auto result = static_cast<Integer128>(values[0]);
  for (std::size_t i = 1; i < values.size(); ++i) {
    const auto value = static_cast<Integer128>(values[i]);
    const auto unsigned_result = static_cast<Unsigned128>(result);
    if (op == TUTTI_PROD) result = unsigned_result * static_cast<Unsigned128>(value);
    if (op == TUTTI_SUM || op == TUTTI_AVG)
      result = unsigned_result + static_cast<Unsigned128>(value);
    if (op == TUTTI_MIN) result = value < result ? value : result;
    if (op == TUTTI_MAX) result = value > result ? value : result;
  }
  const auto wrapped_result = static_cast<T>(result);
  if (op != TUTTI_AVG) return wrapped_result;
  return static_cast<T>(static_cast<Integer128>(wrapped_result) /
                        static_cast<Integer128>(values.size()));
}

// Rounding from 113 bits is the same as rounding once: 113 >= 2 * 53 + 2.
template <typename T>
T plainly_reduced_floats(Op op, const std::vector<T>& values) {
  using Partial = Number<T>;
  auto result = number_of(values[0]);
  for (std::size_t i = 1; i < values.size(); ++i) {
    const Wide left = result, right = number_of(values[i]);
    const bool less = left < right || (left == right && is_negative(left));
    Wide next = 0;
    if (op == TUTTI_SUM || op == TUTTI_AVG) next = left + right;
    if (op == TUTTI_PROD) next = left * right;
    if (op == TUTTI_MIN) next = less ? left : right;
    if (op == TUTTI_MAX) next = less ? right : left;
    if (is_nan(left) || is_nan(right)) next = left + right;
    result = static_cast<Partial>(next);
  }
  if (op == TUTTI_AVG)
    result = static_cast<Partial>(static_cast<Wide>(result) / static_cast<Wide>(values.size()));
  if constexpr (std::is_same_v<T, Partial>) {
    return result;
  } else {
    return T::from_float(result);
  }
}

// One element's values, by rank.
template <typename T>
T plainly_reduced(Op op, const std::vector<T>& values) {
  if constexpr (kIsFloat<T>) {
    return plainly_reduced_floats(op, values);
  } else {
    return plainly_reduced_integers(op, values);
  }
}

// The same bits, or both NaN.
template <typename T>
bool is_same_element(T left, T right) {
  if (std::memcmp(&left, &right, sizeof left) == 0) return true;
  if constexpr (kIsFloat<T>) {
    return number_of(left) != number_of(left) && number_of(right) != number_of(right);
  } else {
    return false;
  }
}

}  // namespace tutti
