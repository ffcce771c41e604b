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
#include <gloo/rendezvous/context.h>
#include <gloo/rendezvous/hash_store.h>
#include <gloo/transport/tcp/device.h>

#include <barrier>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <memory>
#include <string>
#include <thread>
#include <vector>

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
  gloo::rendezvous::HashStore store;
  std::barrier done(world);
  std::vector<std::thread> ranks;
  std::vector<std::string> results(static_cast<std::size_t>(world), "right");
  for (int rank = 0; rank < world; ++rank) {
    ranks.emplace_back([&, rank] {
      auto context = std::make_shared<gloo::rendezvous::Context>(rank, world);
      try {
        gloo::transport::tcp::attr address;
        address.iface = "lo";
        context->setTimeout(std::chrono::seconds(10));
        auto device = gloo::transport::tcp::CreateDevice(address);
        context->connectFullMesh(store, device);
        if (first > 0) run_chunked(context, first);
        const auto start = std::chrono::steady_clock::now();
        run_newer(context, second);
        const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
        if (rank == 0) std::printf("the second call took %.2f s\n", took.count());
      } catch (const std::exception& error) {
        results[static_cast<std::size_t>(rank)] = error.what();
      }
      done.arrive_and_wait();
    });
  }
  for (std::thread& rank : ranks) rank.join();
  bool failed = false;
  for (int rank = 0; rank < world; ++rank) {
    std::printf("rank %d: %s\n", rank, results[static_cast<std::size_t>(rank)].c_str());
    failed |= results[static_cast<std::size_t>(rank)] != "right";
  }
  return failed ? 1 : 0;
}
