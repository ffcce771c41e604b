// Uses Gloo and nothing of tutti: sums of two fp16. gloo::float16 compares with `!=` before it
// assigns, and `!=` takes the bits of the other for a number: where the result is the number that
// the bits of the old value spell, as an integer, nothing is assigned.
//
//   gloo_direct_half_check      prints how many sums of non-negative fp16 are lost; exit status 1
//   if
//                               any is
#include <gloo/math.h>
#include <gloo/types.h>

#include <cstdio>

int main() {
  constexpr int kInfinity = 0x7c00;
  constexpr int kStep = 7;  // of the second summands: all pairs take a minute
  long lost = 0, all = 0;
  for (int left = 1; left < kInfinity; ++left) {
    for (int right = 1; right < kInfinity; right += kStep, ++all) {
      gloo::float16 sum, other;
      sum.x = static_cast<unsigned short>(left);
      other.x = static_cast<unsigned short>(right);
      const gloo::float16 expected =
          gloo::cpu_float2half_rn(gloo::cpu_half2float(sum) + gloo::cpu_half2float(other));
      gloo::sum<gloo::float16>(&sum, &other, 1);
      if (sum.x == expected.x) continue;
      if (++lost > 3) continue;
      const float shown = gloo::cpu_half2float(expected);
      std::printf("0x%04x + 0x%04x is 0x%04x instead of %g\n", left, right, sum.x,
                  static_cast<double>(shown));
    }
  }
  std::printf("%ld of %ld sums are lost\n", lost, all);
  return lost > 0;
}
