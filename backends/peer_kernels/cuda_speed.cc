// How long a call takes on real GPUs, by size: no test, so it runs only when asked for, with
//     <backend>_cuda_test --gtest_also_run_disabled_tests --gtest_filter='*Speed*'
// One rank a GPU, two ranks at least. Where ranks share a GPU they take turns on it, and the
// figures say nothing about the kernel.
#include <algorithm>
#include <chrono>

#include "backends/peer_kernels/cuda_ranks.h"

namespace tutti {
namespace {

struct Size {
  std::size_t bytes;
  int chain;  // calls in the graph
};
constexpr Size kSizes[] = {{8 << 10, 122}, {64 << 10, 122}, {256 << 10, 122},
                           {1 << 20, 122}, {4 << 20, 30},   {16 << 20, 10}};
constexpr int kReplays = 21;

// Microseconds a call in a graph of calls, the median of the replays. In place, as values are
// zeros.
double measure(CudaRank& rank, const Size& size, tutti_dtype dtype, std::size_t element) {
  CudaBuffer buffer(rank, size.bytes);
  CapturedGraph graph(rank, [&] {
    for (int i = 0; i < size.chain; ++i)
      run(rank, buffer.at(0), buffer.at(0), size.bytes / element, dtype);
  });
  std::vector<double> times;
  for (int replay = 0; replay < kReplays + 3; ++replay) {
    rank.barrier();
    const auto start = std::chrono::steady_clock::now();
    graph.launch();
    synchronize(rank);
    const std::chrono::duration<double, std::micro> took = std::chrono::steady_clock::now() - start;
    if (replay >= 3) times.push_back(took.count() / size.chain);  // those before warm up
  }
  std::nth_element(times.begin(), times.begin() + kReplays / 2, times.end());
  return times[kReplays / 2];
}

void measure_all(CudaRank& rank) {
  for (const Size& size : kSizes) {
    const double fp32 = measure(rank, size, TUTTI_FLOAT32, 4);
    const double bf16 = measure(rank, size, TUTTI_BFLOAT16, 2);
    if (rank.world.rank == 0)
      std::printf("%s, %d ranks, %zu bytes: fp32 %.2f us, bf16 %.2f us a call\n",
                  tutti_plugin()->name, rank.world.world, size.bytes, fp32, bf16);
  }
  std::fflush(stdout);
}

TEST(PeerKernelCuda, DISABLED_Speed) {
  on_ranks(std::clamp(count_gpus(), 2, kMostCudaRanks), 20'000, measure_all);
}

}  // namespace
}  // namespace tutti
