// Every element type with every reduction against other arithmetic, and what reduction.h promises
// of special values.
#include "kernels/reduction.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <tuple>

#include "kernels/plain_reduction.h"

namespace tutti {
namespace {

using Elements =
    std::tuple<std::int8_t, std::uint8_t, std::int32_t, std::uint32_t, std::int64_t, std::uint64_t,
               float16, bfloat16, float, double, float8_e4m3, float8_e5m2>;

template <typename T, typename Reduction>
T reduced(const std::vector<T>& values) {
  auto result = number_of(values[0]);
  for (std::size_t i = 1; i < values.size(); ++i)
    result = Reduction::apply(result, number_of(values[i]));
  return element_near<T>(Reduction::finish(result, static_cast<int>(values.size())));
}

// Any bits; every fourth value near those of the first, where floats interact, or special.
template <typename T>
std::vector<T> drawn(std::mt19937_64& random) {
  std::vector<T> values(1 + random() % 9);
  for (T& value : values) {
    const std::uint64_t bits = random();
    std::memcpy(&value, &bits, sizeof value);
    if constexpr (kIsFloat<T>) {
      using Format = FloatBits<T>;
      const auto sign = static_cast<typename Format::Bits>(bits % 2 == 0 ? Format::sign : 0);
      const typename Format::Bits special[] = {
          0, 1, Format::smallest_normal, Format::largest, Format::infinity, Format::quiet_nan};
      if (random() % 16 == 0)
        value =
            element_of_bits<T>(static_cast<typename Format::Bits>(special[(bits >> 8) % 6] | sign));
      if (random() % 2 == 0)  // between 1/2 and 2, so that rounding and not only the largest counts
        value = element_of_bits<T>(static_cast<typename Format::Bits>(
            Format::power_of_two(-1 + static_cast<int>((bits >> 16) % 2)) | sign |
            ((bits >> 32) & Format::fraction_mask)));
    }
  }
  return values;
}

template <typename T, typename Reduction>
int count_wrong(Op op) {
  std::mt19937_64 random(17);
  int wrong = 0;
  for (int i = 0; i < 2000; ++i) {
    const std::vector<T> values = drawn<T>(random);
    wrong += !is_same_element(reduced<T, Reduction>(values), plainly_reduced(op, values));
  }
  return wrong;
}

template <typename T>
void check_all() {
  SCOPED_TRACE(__PRETTY_FUNCTION__);
  EXPECT_EQ((count_wrong<T, Sum>(TUTTI_SUM)), 0);
  EXPECT_EQ((count_wrong<T, Prod>(TUTTI_PROD)), 0);
  EXPECT_EQ((count_wrong<T, Min>(TUTTI_MIN)), 0);
  EXPECT_EQ((count_wrong<T, Max>(TUTTI_MAX)), 0);
  EXPECT_EQ((count_wrong<T, Avg>(TUTTI_AVG)), 0);
}

TEST(Reduction, EveryTypeAndOp) {
  std::apply([](auto... elements) { (check_all<decltype(elements)>(), ...); }, Elements{});
}

TEST(Reduction, NanAndZerosInMinAndMax) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const float infinity = std::numeric_limits<float>::infinity();
  EXPECT_TRUE(std::isnan(reduced<float, Max>({nan, 1, 2})));
  EXPECT_TRUE(std::isnan(reduced<float, Min>({1, nan, 2})));
  EXPECT_TRUE(std::isnan(reduced<float, Max>({1, infinity, nan})));
  EXPECT_FALSE(std::signbit(reduced<float, Max>({-0.0f, 0.0f, -0.0f})));
  EXPECT_FALSE(std::signbit(reduced<float, Max>({0.0f, -0.0f})));
  EXPECT_TRUE(std::signbit(reduced<float, Max>({-0.0f, -0.0f})));
  EXPECT_TRUE(std::signbit(reduced<float, Min>({0.0f, -0.0f})));
  EXPECT_TRUE(std::signbit(reduced<float, Min>({-0.0f, 0.0f})));
  EXPECT_EQ((reduced<bfloat16, Max>({{0x7fc0}, {0x3f80}})).bits, 0x7fc0);  // NaN against 1
  EXPECT_TRUE((reduced<float8_e4m3, Min>({{0x38}, {0xff}})).is_nan());
}

TEST(Reduction, SumsOfFloats) {
  const float infinity = std::numeric_limits<float>::infinity();
  const float tiny = std::numeric_limits<float>::denorm_min();
  EXPECT_TRUE(std::signbit(reduced<float, Sum>({-0.0f, -0.0f, -0.0f})));
  EXPECT_FALSE(std::signbit(reduced<float, Sum>({-0.0f, 0.0f})));
  EXPECT_EQ((reduced<float, Sum>({tiny, tiny})), 2 * tiny);
  EXPECT_TRUE(std::isnan(reduced<float, Sum>({infinity, -infinity})));
  EXPECT_EQ((reduced<bfloat16, Sum>({{0x0001}, {0x0001}})).bits, 0x0002);  // subnormals
  // 256 + four halves: each partial sum rounded to bf16 would stay 256, fp32 keeps the halves.
  EXPECT_EQ((reduced<bfloat16, Sum>({{0x4380}, {0x3f00}, {0x3f00}, {0x3f00}, {0x3f00}})).to_float(),
            258.0f);
  // In the order of ranks: 1 is lost in 2^24, but not 2.
  EXPECT_EQ((reduced<float, Sum>({0x1p24f, 1, 1})), 0x1p24f);
  EXPECT_EQ((reduced<float, Sum>({1, 1, 0x1p24f})), 0x1p24f + 2);
}

TEST(Reduction, OverflowOfNarrowFloats) {
  const auto e4m3 = float8_e4m3::largest();
  const auto e5m2 = float8_e5m2::largest();
  EXPECT_TRUE((reduced<float8_e4m3, Sum>({e4m3, e4m3})).is_nan());
  EXPECT_EQ((reduced<float8_e5m2, Sum>({e5m2, e5m2})).bits, float8_e5m2::infinity().bits);
  EXPECT_EQ((reduced<float16, Prod>({float16::largest(), float16::largest()})).bits,
            float16::infinity().bits);
  // Only the last rounding can overflow, and an average does not.
  EXPECT_EQ((reduced<float8_e4m3, Avg>({e4m3, e4m3})).bits, e4m3.bits);
  EXPECT_EQ(
      (reduced<float8_e5m2, Sum>({e5m2, e5m2, {static_cast<std::uint8_t>(e5m2.bits | 0x80)}})).bits,
      e5m2.bits);
}

TEST(Reduction, IntegersWrapAndTruncate) {
  using std::numeric_limits;
  constexpr auto lowest = numeric_limits<std::int32_t>::min();
  EXPECT_EQ((reduced<std::int32_t, Sum>({numeric_limits<std::int32_t>::max(), 1})), lowest);
  EXPECT_EQ((reduced<std::int32_t, Max>({lowest, -1})), -1);
  EXPECT_EQ((reduced<std::int32_t, Min>({lowest, -1})), lowest);
  EXPECT_EQ((reduced<std::uint32_t, Max>({0x80000000u, 1u})), 0x80000000u);
  EXPECT_EQ((reduced<std::uint64_t, Prod>({0xffffffffffffffffu, 0xffffffffffffffffu})), 1u);
  EXPECT_EQ((reduced<std::int8_t, Prod>({-128, -1})), -128);
  EXPECT_EQ((reduced<std::uint8_t, Prod>({255, 255, 255})), 255);
  EXPECT_EQ((reduced<std::int32_t, Avg>({-3, -4})), -3);
  EXPECT_EQ((reduced<std::int8_t, Avg>({127, 127})), -1);  // the sum wraps to -2
  EXPECT_EQ((reduced<std::uint8_t, Avg>({200, 100})), 22);
}

}  // namespace
}  // namespace tutti
