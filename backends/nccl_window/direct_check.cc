// Uses NCCL and nothing of tutti: does a sum of bf16, fp16 or fp8 in a registered window come out
// right when the buffers are aligned to their elements only? Both ranks are threads of one process,
// one GPU each. Every buffer lies at the same offset in its window on both ranks, as NCCL demands.
//
//   nccl_window_direct_check     prints one line for each dtype, offset and count that is wrong;
//   exit status 1 if any is
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

// A float of 8 or 16 bits.
struct Type {
  const char* name;
  ncclDataType_t number;
  size_t bytes;
  int bias, fraction_bits;
};
constexpr Type kTypes[] = {{"bf16", ncclBfloat16, 2, 127, 7},
                           {"fp16", ncclFloat16, 2, 15, 10},
                           {"fp8_e4m3", ncclFloat8e4m3, 1, 7, 3},
                           {"fp8_e5m2", ncclFloat8e5m2, 1, 15, 2}};

// Of a whole number from 1 to 8, which is exact in all of them.
uint16_t bits_of(const Type& type, int value) {
  int exponent = 0;
  while ((value >> exponent) > 1) ++exponent;
  const int fraction = (value << type.fraction_bits >> exponent) - (1 << type.fraction_bits);
  return static_cast<uint16_t>((type.bias + exponent) << type.fraction_bits | fraction);
}

// 1 to 4: all sums of two are exact.
int input(int rank, size_t index) {
  return static_cast<int>((index * 7 + index / 5 + static_cast<size_t>(rank) * 3) % 4) + 1;
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

// Number of wrong elements of the sum of `count` that begin `offset` elements into the windows.
size_t wrong_elements(const Type& type, Rank& rank, int number, size_t offset, size_t count) {
  std::vector<char> host(type.bytes * count);
  const auto set = [&](size_t i, uint16_t bits) {
    std::memcpy(host.data() + i * type.bytes, &bits, type.bytes);
  };
  for (size_t i = 0; i < count; ++i) set(i, bits_of(type, input(number, i)));
  char *send = rank.send + type.bytes * offset, *recv = rank.recv + type.bytes * offset;
  require(cudaMemcpy(send, host.data(), host.size(), cudaMemcpyHostToDevice) == cudaSuccess,
          "cudaMemcpy");
  require(cudaMemset(recv, 0, host.size()) == cudaSuccess && cudaDeviceSynchronize() == cudaSuccess,
          "cudaMemset");
  require(
      ncclAllReduce(send, recv, count, type.number, ncclSum, rank.comm, rank.stream) == ncclSuccess,
      "ncclAllReduce");
  require(cudaStreamSynchronize(rank.stream) == cudaSuccess, "cudaStreamSynchronize");
  std::vector<char> got(host.size());
  require(cudaMemcpy(got.data(), recv, got.size(), cudaMemcpyDeviceToHost) == cudaSuccess,
          "cudaMemcpy");
  size_t wrong = 0;
  for (size_t i = 0; i < count; ++i) {
    set(i, bits_of(type, input(0, i) + input(1, i)));
    wrong +=
        std::memcmp(got.data() + i * type.bytes, host.data() + i * type.bytes, type.bytes) != 0;
  }
  return wrong;
}

}  // namespace

int main() {
  int version = 0, failed = 0, all = 0;
  ncclUniqueId id;
  require(ncclGetVersion(&version) == ncclSuccess && ncclGetUniqueId(&id) == ncclSuccess,
          "ncclGetUniqueId");
  const std::vector<size_t> offsets{0, 1, 2, 3, 4, 5, 7, 8},
      counts{1, 2, 4, 5, 1025, 65536, 1000003};
  std::vector<size_t> wrong[kRanks];
  std::vector<std::thread> threads;
  for (int number = 0; number < kRanks; ++number) {
    threads.emplace_back([&, number] {
      Rank rank{};
      open(rank, number, id);
      for (const Type& type : kTypes)
        for (const size_t offset : offsets)
          for (const size_t count : counts)
            wrong[number].push_back(wrong_elements(type, rank, number, offset, count));
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const Type& type : kTypes) {
    for (const size_t offset : offsets) {
      for (const size_t count : counts) {
        const size_t one = wrong[0][static_cast<size_t>(all)],
                     other = wrong[1][static_cast<size_t>(all)];
        ++all;
        if (one + other == 0) continue;
        ++failed;
        std::printf(
            "NCCL %d: %s sum of %zu elements, %zu bytes into the windows: %zu and %zu elements "
            "wrong\n",
            version, type.name, count, type.bytes * offset, one, other);
      }
    }
  }
  std::printf("NCCL %d: %d of %d combinations wrong\n", version, failed, all);
  std::fflush(stdout);
  std::_Exit(failed != 0);  // without NCCL's own clean-up, which waits for both ranks
}
