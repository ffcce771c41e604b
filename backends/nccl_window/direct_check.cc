// Uses NCCL and nothing of tutti: does a bf16 sum in a registered window come out right when the
// buffers are aligned to their elements only? Both ranks are threads of one process, one GPU each.
// Every buffer lies at the same offset in its window on both ranks, as NCCL demands.
//
//   nccl_window_direct_check     prints one line for each offset and count; exit status 1 if any
//   result is wrong
//
// Needs two GPUs. It is linked to the NCCL that was found when building; LD_LIBRARY_PATH puts
// another in its place.
#include <cuda_runtime.h>
#include <nccl.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <vector>

namespace {

constexpr int kRanks = 2;
constexpr size_t kWindowBytes = size_t{4} << 20;

void require(bool fine, const char* what) {
  if (fine) return;
  std::fprintf(stderr, "%s failed: %s\n", what, ncclGetLastError(nullptr));
  std::exit(2);
}

// Small whole numbers are exact in bf16, and so are their sums.
uint16_t bf16(int value) {
  const float number = static_cast<float>(value);
  uint32_t bits;
  std::memcpy(&bits, &number, sizeof bits);
  return static_cast<uint16_t>(bits >> 16);
}

int input(int rank, size_t index) {
  return static_cast<int>((index * 7 + static_cast<size_t>(rank) * 3) % 31) + 1;
}

struct Rank {
  ncclComm_t comm;
  char* send;
  char* recv;
  cudaStream_t stream;
};

void open(Rank& rank, int number, ncclUniqueId id) {
  require(cudaSetDevice(number) == cudaSuccess, "cudaSetDevice");
  require(cudaStreamCreate(&rank.stream) == cudaSuccess, "cudaStreamCreate");
  require(ncclCommInitRank(&rank.comm, kRanks, id, number) == ncclSuccess, "ncclCommInitRank");
  for (char** buffer : {&rank.send, &rank.recv}) {
    ncclWindow_t window = nullptr;
    require(ncclMemAlloc(reinterpret_cast<void**>(buffer), kWindowBytes) == ncclSuccess,
            "ncclMemAlloc");
    const ncclResult_t result =
        ncclCommWindowRegister(rank.comm, *buffer, kWindowBytes, &window, NCCL_WIN_COLL_SYMMETRIC);
    require(result == ncclSuccess && window, "ncclCommWindowRegister");
  }
}

// Number of wrong elements of the sum of `count` bf16 that begin `offset` elements into the
// windows.
size_t wrong_elements(Rank& rank, int number, size_t offset, size_t count) {
  std::vector<uint16_t> host(count);
  for (size_t i = 0; i < count; ++i) host[i] = bf16(input(number, i));
  char *send = rank.send + 2 * offset, *recv = rank.recv + 2 * offset;
  require(cudaMemcpy(send, host.data(), 2 * count, cudaMemcpyHostToDevice) == cudaSuccess,
          "cudaMemcpy");
  require(cudaMemset(recv, 0, 2 * count) == cudaSuccess && cudaDeviceSynchronize() == cudaSuccess,
          "cudaMemset");
  require(ncclAllReduce(send, recv, count, ncclBfloat16, ncclSum, rank.comm, rank.stream) ==
              ncclSuccess,
          "ncclAllReduce");
  require(cudaStreamSynchronize(rank.stream) == cudaSuccess, "cudaStreamSynchronize");
  require(cudaMemcpy(host.data(), recv, 2 * count, cudaMemcpyDeviceToHost) == cudaSuccess,
          "cudaMemcpy");
  size_t wrong = 0;
  for (size_t i = 0; i < count; ++i) wrong += host[i] != bf16(input(0, i) + input(1, i));
  return wrong;
}

}  // namespace

int main() {
  int version = 0, failed = 0;
  ncclUniqueId id;
  require(ncclGetVersion(&version) == ncclSuccess && ncclGetUniqueId(&id) == ncclSuccess,
          "ncclGetUniqueId");
  const size_t offsets[] = {0, 1, 2, 3, 4, 5, 7, 8}, counts[] = {1, 2, 4, 5, 1025, 65536, 1000003};
  size_t wrong[kRanks][8][7];
  std::vector<std::thread> threads;
  for (int number = 0; number < kRanks; ++number) {
    threads.emplace_back([&, number] {
      Rank rank{};
      open(rank, number, id);
      for (int o = 0; o < 8; ++o) {
        for (int c = 0; c < 7; ++c)
          wrong[number][o][c] = wrong_elements(rank, number, offsets[o], counts[c]);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (int o = 0; o < 8; ++o) {
    for (int c = 0; c < 7; ++c) {
      if (wrong[0][o][c] + wrong[1][o][c] == 0) continue;
      ++failed;
      std::printf(
          "NCCL %d: bf16 sum of %zu elements, %zu bytes into the windows: %zu and %zu elements "
          "wrong\n",
          version, counts[c], 2 * offsets[o], wrong[0][o][c], wrong[1][o][c]);
    }
  }
  std::printf("NCCL %d: %d of 56 combinations wrong\n", version, failed);
  std::fflush(stdout);
  std::_Exit(failed != 0);  // without NCCL's own clean-up, which waits for both ranks
}
