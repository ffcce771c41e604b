// The types that dtypes and ops stand for.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <tuple>
#include <utility>

#include "backends/backend.h"
#include "kernels/reduction.h"

namespace tutti::peer_kernels {

// By the numbers of tutti_dtype and tutti_op.
using Elements = std::tuple<std::int8_t, std::uint8_t, std::int32_t, std::uint32_t, std::int64_t,
                            std::uint64_t, float16, bfloat16, float, double, float8_e4m3,
                            float8_e5m2>;
using Reductions = std::tuple<Sum, Prod, Min, Max, Avg>;

template <typename Types>
constexpr bool is_type(int number) {
  return number >= 0 && number < static_cast<int>(std::tuple_size_v<Types>);
}

// Calls body(value) with a value of that type, and returns what it returns, an int.
template <typename Types, typename Body>
int with_type(int number, const Body& body) {
  int result = 0;
  const auto each = [&]<int... index>(std::integer_sequence<int, index...>) {
    static_cast<void>(((index == number
                            ? (result = body(std::tuple_element_t<index, Types>{}), true)
                            : false) ||
                       ...));
  };
  each(std::make_integer_sequence<int, std::tuple_size_v<Types>>{});
  return result;
}

// Calls body(T{}, Reduction{}).
template <typename Body>
int with_types(tutti_dtype dtype, tutti_op op, const Body& body) {
  return with_type<Elements>(dtype, [&](auto element) {
    return with_type<Reductions>(op, [&](auto reduction) { return body(element, reduction); });
  });
}

// Bytes of one element.
inline std::size_t bytes_of(tutti_dtype dtype) {
  return static_cast<std::size_t>(
      with_type<Elements>(dtype, [](auto element) { return static_cast<int>(sizeof element); }));
}

}  // namespace tutti::peer_kernels
