// The types that dtypes stand for.
#pragma once

#include <cstddef>
#include <cstdint>
#include <tuple>
#include <utility>

#include "backends/backend.h"
#include "fixtures/data/narrow_float.h"

namespace tutti::peer_kernels {

// By the numbers of tutti_dtype.
using Elements =
    std::tuple<std::int8_t, std::uint8_t, std::int32_t, std::uint32_t, std::int64_t, std::uint64_t,
               float16, bfloat16, float, double, float8_e4m3, float8_e5m2>;

constexpr bool is_dtype(int number) {
  return number >= 0 && number < static_cast<int>(std::tuple_size_v<Elements>);
}

// body(T{}) with the element type T of a dtype, and what it returns, an int.
template <typename Body>
int with_type(tutti_dtype dtype, const Body& body) {
  int result = 0;
  const auto try_all = [&]<int... number>(std::integer_sequence<int, number...>) {
    const auto matches = [&]<int one>(std::integral_constant<int, one>) {
      if (one == dtype) result = body(std::tuple_element_t<one, Elements>{});
    };
    (matches(std::integral_constant<int, number>{}), ...);
  };
  try_all(std::make_integer_sequence<int, std::tuple_size_v<Elements>>{});
  return result;
}

// Bytes of one element.
inline std::size_t bytes_of(tutti_dtype dtype) {
  return static_cast<std::size_t>(
      with_type(dtype, [](auto element) { return static_cast<int>(sizeof element); }));
}

}  // namespace tutti::peer_kernels
