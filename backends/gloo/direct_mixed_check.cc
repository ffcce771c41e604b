// Uses Gloo and nothing of tutti: an object of the older class AllreduceRingChunked, then the newer
// gloo::allreduce on the same context, every rank a thread.
//
//   gloo_direct_mixed_check [world [elements of the first [elements of the second]]]
//
// prints how long the second call took and what each rank came to; exit status 1 if any failed. On
// 2 cores with Gloo 0.5 30 s; without the first object (0 elements) 0.1 s.
#include <gloo/allreduce.h>
#include <gloo/allreduce_ring_chunked.h>
#include <gloo/math.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "backends/gloo/direct_ranks.h"

namespace {

void run_chunked(const std::shared_ptr<gloo::Context>& context, std::size_t count) {
  std::vector<std::int8_t> values(count, 1);
  gloo::AllreduceRingChunked<std::int8_t> ring(context, {values.data()}, static_cast<int>(count));
  ring.run();
}

void run_newer(const std::shared_ptr<gloo::Context>& context, std::size_t count) {
  std::vector<std::uint32_t> values(count, 1);
  gloo::AllreduceOptions options(context);
  options.setOutput(values.data(), count);
  options.setReduceFunction(static_cast<void (*)(void*, const void*, const void*, std::size_t)>(
      &gloo::sum<std::uint32_t>));
  options.setAlgorithm(gloo::AllreduceOptions::Algorithm::RING);
  gloo::allreduce(options);
  if (values.front() != static_cast<std::uint32_t>(context->size))
    throw std::runtime_error("a wrong sum");
}

}  // namespace

int main(int argument_count, char** arguments) {
  const auto argument = [&](int place, std::size_t otherwise) {
    return argument_count > place ? std::strtoull(arguments[place], nullptr, 10) : otherwise;
  };
  const int world = static_cast<int>(argument(1, 4));
  const std::size_t first = argument(2, 8192), second = argument(3, 8388604);
  const auto results = on_all_ranks(world, std::chrono::seconds(10), [&](const auto& context) {
    if (first > 0) run_chunked(context, first);
    const auto start = std::chrono::steady_clock::now();
    run_newer(context, second);
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
    if (context->rank == 0) std::printf("the second call took %.2f s\n", took.count());
    return std::string("right");
  });
  bool failed = false;
  for (int rank = 0; rank < world; ++rank) {
    std::printf("rank %d: %s\n", rank, results[static_cast<std::size_t>(rank)].c_str());
    failed |= results[static_cast<std::size_t>(rank)] != "right";
  }
  return failed ? 1 : 0;
}
