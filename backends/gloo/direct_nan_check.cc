// Uses Gloo and nothing of tutti: what does gloo::allreduce with gloo::max<float> give when one
// rank's input is NaN? Legitimate are NaN (it propagates) and the largest of the numbers (it is
// ignored). gloo::max compares with std::max, which keeps its left operand when the right one is
// NaN and loses a NaN on the left, so at three ranks and more a partial maximum can vanish: the
// result is then neither.
//
//   gloo_direct_nan_check [world]     prints what each algorithm gives; exit status 1 when a result
//   is neither, 2 when a rank failed
#include <gloo/allreduce.h>
#include <gloo/math.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <utility>

#include "backends/gloo/direct_ranks.h"

using Algorithm = gloo::AllreduceOptions::Algorithm;

// Rank r has r + 1 in every element, but for element i, where rank i % world has NaN.
static std::vector<float> input(int rank, int world, size_t count) {
  std::vector<float> values(count, static_cast<float>(rank + 1));
  for (size_t i = 0; i < count; ++i) {
    if (static_cast<int>(i) % world == rank) values[i] = std::numeric_limits<float>::quiet_NaN();
  }
  return values;
}

// On rank 0; empty, after a line that says why, when a rank failed.
static std::vector<float> max_on_rank_0(int world, Algorithm algorithm, size_t count) {
  std::vector<float> result;
  const auto failures = on_all_ranks(world, std::chrono::seconds(10), [&](const auto& context) {
    std::vector<float> values = input(context->rank, world, count);
    gloo::AllreduceOptions options(context);
    options.setAlgorithm(algorithm);
    options.setReduceFunction([](void* to, const void* left, const void* right, size_t n) {
      gloo::max<float>(to, left, right, n);
    });
    options.setOutput(values.data(), count);
    gloo::allreduce(options);
    if (context->rank == 0) result = values;
    return std::string();
  });
  for (const std::string& failure : failures) {
    if (failure.empty()) continue;
    std::printf("a rank failed: %s\n", failure.c_str());
    return {};
  }
  return result;
}

int main(int argument_count, char** arguments) {
  const int world = argument_count > 1 ? std::atoi(arguments[1]) : 4;
  const size_t count = static_cast<size_t>(4 * world);
  int neither = 0;
  for (const auto& [name, algorithm] :
       {std::pair{"ring", Algorithm::RING}, std::pair{"bcube", Algorithm::BCUBE}}) {
    const std::vector<float> result = max_on_rank_0(world, algorithm, count);
    if (result.empty()) return 2;
    for (size_t i = 0; i < count; ++i) {
      const int absent = static_cast<int>(i) % world;  // the rank whose input is NaN
      const float largest = static_cast<float>(absent == world - 1 ? world - 1 : world);
      if (std::isnan(result[i]) || result[i] == largest) continue;
      ++neither;
      std::printf(
          "%s, world %d, element %zu: rank %d has NaN, the largest number is %g, gloo gives %g\n",
          name, world, i, absent, largest, result[i]);
    }
  }
  std::printf("%d of %zu results are neither NaN nor the largest number\n", neither, 2 * count);
  return neither ? 1 : 0;
}
