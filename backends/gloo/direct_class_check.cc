// Uses Gloo and nothing of tutti: its older allreduce classes, every rank a thread, small worlds
// and counts, each object run twice. Sums of rank + 1, so that a wrong one shows.
//
//   gloo_direct_class_check [largest world]     prints each combination that is wrong, or fails;
//   exit status 1 if any did
#include <gloo/allreduce_bcube.h>
#include <gloo/allreduce_halving_doubling.h>
#include <gloo/allreduce_ring.h>
#include <gloo/allreduce_ring_chunked.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "backends/gloo/direct_ranks.h"

namespace {

using Context = std::shared_ptr<gloo::Context>;

std::unique_ptr<gloo::Algorithm> make(const std::string& name, const Context& context, float* data,
                                      int count) {
  const std::vector<float*> buffers{data};
  if (name == "ring") return std::make_unique<gloo::AllreduceRing<float>>(context, buffers, count);
  if (name == "ring_chunked")
    return std::make_unique<gloo::AllreduceRingChunked<float>>(context, buffers, count);
  if (name == "halving_doubling")
    return std::make_unique<gloo::AllreduceHalvingDoubling<float>>(context, buffers, count);
  return std::make_unique<gloo::AllreduceBcube<float>>(context, buffers, count);
}

// "" or what is wrong.
std::string result_of(const std::string& name, const Context& context, int world, int count) {
  const float own = static_cast<float>(context->rank + 1);
  const float sum = static_cast<float>(world * (world + 1) / 2);
  std::vector<float> values(static_cast<size_t>(count), own);
  const auto object = make(name, context, values.data(), count);
  for (const char* which : {"first", "second"}) {
    std::fill(values.begin(), values.end(), own);
    object->run();
    for (const float value : values) {
      if (value == sum) continue;
      return std::string(which) + " run gives " + std::to_string(value) + " instead of " +
             std::to_string(sum);
    }
  }
  return "";
}

int wrong_in(const std::string& name, int world, int count) {
  const auto results = on_all_ranks(world, std::chrono::seconds(5), [&](const auto& context) {
    return result_of(name, context, world, count);
  });
  for (int rank = 0; rank < world; ++rank) {
    const std::string& result = results[static_cast<size_t>(rank)];
    if (result.empty()) continue;
    std::printf("%s, world %d, count %d, rank %d: %s\n", name.c_str(), world, count, rank,
                result.c_str());
    return 1;
  }
  return 0;
}

}  // namespace

int main(int argument_count, char** arguments) {
  const int largest = argument_count > 1 ? std::atoi(arguments[1]) : 8;
  int wrong = 0, all = 0;
  for (const char* name : {"ring", "ring_chunked", "halving_doubling", "bcube"}) {
    for (int world = 1; world <= largest; ++world) {
      for (const int count : {1, 2, 3, world, 1000, 65537}) {
        wrong += wrong_in(name, world, count);
        ++all;
      }
    }
  }
  std::printf("%d of %d combinations are wrong\n", wrong, all);
  return wrong ? 1 : 0;
}
