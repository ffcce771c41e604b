// The reductions given to Gloo: its own templates where it has the type, ours for bf16 and fp8,
// which Gloo of 2022 does not know.
#pragma once

#include <gloo/math.h>
#include <gloo/types.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>

#include "backends/backend.h"
#include "fixtures/data/narrow_float.h"

namespace tutti {

using Reduction = void (*)(void* to, const void* left, const void* right, std::size_t count);

template <typename Element, typename Combine>
void reduce_narrow(void* to, const void* left, const void* right, std::size_t count,
                   Combine combine) {
  for (std::size_t i = 0; i < count; ++i) {
    static_cast<Element*>(to)[i] =
        Element::from_float(combine(static_cast<const Element*>(left)[i].to_float(),
                                    static_cast<const Element*>(right)[i].to_float()));
  }
}

// NaN propagates, and -0 is less than +0, whatever the order.
inline bool is_less(float a, float b) {
  return a < b || (a == b && std::signbit(a) && !std::signbit(b));
}
inline float least(float a, float b) { return std::isnan(a) || is_less(a, b) ? a : b; }
inline float largest(float a, float b) { return std::isnan(a) || is_less(b, a) ? a : b; }

// In fp32, rounded once, at every hop.
template <typename Element>
Reduction narrow_reduction(tutti_op op) {
  switch (op) {
    case TUTTI_SUM:
      return [](void* to, const void* left, const void* right, std::size_t count) {
        reduce_narrow<Element>(to, left, right, count, [](float a, float b) { return a + b; });
      };
    case TUTTI_PROD:
      return [](void* to, const void* left, const void* right, std::size_t count) {
        reduce_narrow<Element>(to, left, right, count, [](float a, float b) { return a * b; });
      };
    case TUTTI_MIN:
      return [](void* to, const void* left, const void* right, std::size_t count) {
        reduce_narrow<Element>(to, left, right, count, least);
      };
    case TUTTI_MAX:
      return [](void* to, const void* left, const void* right, std::size_t count) {
        reduce_narrow<Element>(to, left, right, count, largest);
      };
    default:
      return nullptr;
  }
}

template <typename Element>
Reduction own_reduction(tutti_op op) {
  switch (op) {
    case TUTTI_SUM:
      return gloo::sum<Element>;
    case TUTTI_PROD:
      return gloo::product<Element>;
    case TUTTI_MIN:
      return gloo::min<Element>;
    case TUTTI_MAX:
      return gloo::max<Element>;
    default:
      return nullptr;  // Gloo has no avg
  }
}

// nullptr for what this backend does not offer.
inline Reduction reduction_of(tutti_dtype dtype, tutti_op op) {
  switch (dtype) {
    case TUTTI_INT8:
      return own_reduction<std::int8_t>(op);
    case TUTTI_UINT8:
      return own_reduction<std::uint8_t>(op);
    case TUTTI_INT32:
      return own_reduction<std::int32_t>(op);
    case TUTTI_UINT32:
      return own_reduction<std::uint32_t>(op);
    case TUTTI_INT64:
      return own_reduction<std::int64_t>(op);
    case TUTTI_UINT64:
      return own_reduction<std::uint64_t>(op);
    case TUTTI_FLOAT16:
      return own_reduction<gloo::float16>(op);
    case TUTTI_FLOAT32:
      return own_reduction<float>(op);
    case TUTTI_FLOAT64:
      return own_reduction<double>(op);
    case TUTTI_BFLOAT16:
      return narrow_reduction<bfloat16>(op);
    case TUTTI_FLOAT8_E4M3:
      return narrow_reduction<float8_e4m3>(op);
    case TUTTI_FLOAT8_E5M2:
      return narrow_reduction<float8_e5m2>(op);
  }
  return nullptr;
}

// Calls `work` with a value as wide as an element: only the width matters to Gloo's algorithms.
template <typename Work>
void with_width(tutti_dtype dtype, Work work) {
  switch (dtype) {
    case TUTTI_INT8:
    case TUTTI_UINT8:
    case TUTTI_FLOAT8_E4M3:
    case TUTTI_FLOAT8_E5M2:
      return work(std::uint8_t{});
    case TUTTI_FLOAT16:
    case TUTTI_BFLOAT16:
      return work(std::uint16_t{});
    case TUTTI_INT32:
    case TUTTI_UINT32:
    case TUTTI_FLOAT32:
      return work(std::uint32_t{});
    case TUTTI_INT64:
    case TUTTI_UINT64:
    case TUTTI_FLOAT64:
      return work(std::uint64_t{});
  }
}

}  // namespace tutti
