// Uses Gloo and nothing of tutti: what does gloo::allreduce with gloo::max<float> give when one
// rank's input is NaN? Legitimate are NaN (it propagates) and the largest of the numbers (it is
// ignored). gloo::max compares with std::max, which keeps its left operand when the right one is
// NaN and loses a NaN on the left, so at three ranks and more a partial maximum can vanish: the
// result is then neither.
//
//   gloo_direct_nan_check [world]     prints what each algorithm gives; exit status 1 when a result
//   is neither
#include <gloo/allreduce.h>
#include <gloo/math.h>
#include <gloo/rendezvous/context.h>
#include <gloo/rendezvous/hash_store.h>
#include <gloo/transport/tcp/device.h>

#include <barrier>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <thread>
#include <vector>

using Algorithm = gloo::AllreduceOptions::Algorithm;

// Rank r has r + 1 in every element, but for element i, where rank i % world has NaN.
static std::vector<float> input(int rank, int world, size_t count) {
  std::vector<float> values(count, static_cast<float>(rank + 1));
  for (size_t i = 0; i < count; ++i) {
    if (static_cast<int>(i) % world == rank) values[i] = std::numeric_limits<float>::quiet_NaN();
  }
  return values;
}

static std::vector<float> max_on_rank_0(int world, Algorithm algorithm, size_t count) {
  gloo::rendezvous::HashStore store;
  std::barrier done(world);
  std::vector<std::thread> ranks;
  std::vector<float> result;
  for (int rank = 0; rank < world; ++rank) {
    ranks.emplace_back([&, rank] {
      auto context = std::make_shared<gloo::rendezvous::Context>(rank, world);
      gloo::transport::tcp::attr address;
      address.iface = "lo";
      auto device = gloo::transport::tcp::CreateDevice(address);
      context->setTimeout(std::chrono::seconds(10));
      context->connectFullMesh(store, device);
      std::vector<float> values = input(rank, world, count);
      gloo::AllreduceOptions options(context);
      options.setAlgorithm(algorithm);
      options.setReduceFunction([](void* to, const void* left, const void* right, size_t n) {
        gloo::max<float>(to, left, right, n);
      });
      options.setOutput(values.data(), count);
      gloo::allreduce(options);
      if (rank == 0) result = values;
      done.arrive_and_wait();
    });
  }
  for (std::thread& rank : ranks) rank.join();
  return result;
}

int main(int argument_count, char** arguments) {
  const int world = argument_count > 1 ? std::atoi(arguments[1]) : 4;
  const size_t count = static_cast<size_t>(4 * world);
  int neither = 0;
  for (const auto& [name, algorithm] :
       {std::pair{"ring", Algorithm::RING}, std::pair{"bcube", Algorithm::BCUBE}}) {
    const std::vector<float> result = max_on_rank_0(world, algorithm, count);
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
