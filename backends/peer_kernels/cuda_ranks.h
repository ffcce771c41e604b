// For tests of a backend on real GPUs, with ranks as processes. Skipped where there is no GPU. More
// ranks than GPUs share them.
#pragma once

#include <cuda_runtime.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstring>
#include <functional>
#include <memory>
#include <new>
#include <string>
#include <vector>

#include "backends/backend.h"
#include "fixtures/device/device.h"
#include "fixtures/device/host_test_world.h"

namespace tutti {

inline constexpr unsigned kDeadlineSeconds = 240;  // of a whole test; an alarm ends the rank
inline constexpr std::size_t kExchangeBytes = 1024;
inline constexpr int kMostCudaRanks = 8;

// Shared by all ranks of a test.
struct CudaBoard {
  std::atomic<int> arrived{0};
  char parts[kMostCudaRanks][kExchangeBytes];
};

struct CudaRank {
  CudaBoard* board = nullptr;
  int passed = 0;  // barriers
  std::unique_ptr<Device> device;
  tutti_world world{};
  void* communicator = nullptr;
  void* stream = nullptr;

  const tutti_device& services() const { return device->services(); }
  void barrier() {
    const int wanted = ++passed * world.world;
    board->arrived.fetch_add(1);
    while (board->arrived.load() < wanted) sched_yield();
  }
  static tutti_status exchange(void* self, const void* sent, void* received, std::size_t bytes) {
    auto* rank = static_cast<CudaRank*>(self);
    if (bytes > kExchangeBytes) return TUTTI_ERROR;
    std::memcpy(rank->board->parts[rank->world.rank], sent, bytes);
    rank->barrier();
    for (int peer = 0; peer < rank->world.world; ++peer) {
      std::memcpy(static_cast<char*>(received) + static_cast<std::size_t>(peer) * bytes,
                  rank->board->parts[peer], bytes);
    }
    rank->barrier();
    return TUTTI_OK;
  }
};

// A failed check ends the rank, and with it the test.
inline void check(bool held, const CudaRank& rank, const char* what) {
  if (held) return;
  std::fprintf(stderr, "rank %d: %s; last reason: %s\n", rank.world.rank, what,
               tutti_plugin()->reason(rank.communicator));
  _exit(1);
}

inline int count_gpus() {
  const pid_t child =
      fork();  // the CUDA runtime does not survive a fork, so this process never uses it
  if (child == 0) {
    int count = 0;
    _exit(cudaGetDeviceCount(&count) == cudaSuccess ? count : 0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 0;
}

inline void serve(CudaRank& rank, const tutti_facts& facts,
                  const std::function<void(CudaRank&)>& body) {
  try {
    rank.device = open_device("cuda", facts, rank.world.rank, TUTTI_LIBRARY_FOLDER);
  } catch (const DeviceError& error) {
    check(false, rank, error.what());
  }
  rank.world.device = &rank.services();
  check(tutti_plugin()->create(&rank.world, &rank.communicator) == TUTTI_OK, rank, "create");
  check(rank.services().stream_create(rank.services().self, &rank.stream) == 0, rank,
        "stream_create");
  body(rank);
  check(tutti_plugin()->destroy(rank.communicator) == TUTTI_OK, rank, "destroy");
  rank.communicator = nullptr;
  rank.services().stream_destroy(rank.services().self, rank.stream);
  check(rank.device->leaks().empty(), rank, "something leaks");
}

// Forks `world` ranks, each of which creates a communicator, runs the body, and destroys it.
inline void on_ranks(int world, std::uint64_t deadline_ms,
                     const std::function<void(CudaRank&)>& body) {
  const int gpus = count_gpus();
  if (gpus == 0) GTEST_SKIP() << "no GPU";
  TestWorld facts(world);
  for (int rank = 0; rank < world; ++rank) {
    facts.rank(rank).device = facts.rank(rank % gpus).device;
    facts.rank(rank).device_index = rank % gpus;
  }
  void* shared =
      mmap(nullptr, sizeof(CudaBoard), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(shared, MAP_FAILED);
  auto* board = new (shared) CudaBoard;
  std::vector<pid_t> children;
  for (int i = 0; i < world; ++i) {
    children.push_back(fork());
    if (children.back() != 0) continue;
    alarm(kDeadlineSeconds);
    CudaRank rank;
    rank.board = board;
    rank.world = {sizeof(tutti_world),
                  i,
                  world,
                  i,
                  world,
                  &facts.facts(),
                  nullptr,
                  deadline_ms,
                  CudaRank::exchange,
                  [](void*, const char*) {},
                  &rank};
    serve(rank, facts.facts(), body);
    _exit(0);
  }
  for (const pid_t child : children) {
    int status = 0;
    waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
  }
  munmap(shared, sizeof(CudaBoard));
}

// Bytes in the memory of the rank's device.
class CudaBuffer {
 public:
  CudaBuffer(CudaRank& rank, std::size_t bytes) : rank_(rank) {
    check(services().allocate(services().self, bytes, &memory_) == 0, rank, "allocate");
  }
  ~CudaBuffer() { services().release(services().self, memory_); }
  CudaBuffer(const CudaBuffer&) = delete;
  CudaBuffer& operator=(const CudaBuffer&) = delete;

  void* at(std::size_t byte) const { return static_cast<char*>(memory_) + byte; }
  // Elements of any type, from `byte` on.
  template <typename T>
  void write(std::size_t byte, const std::vector<T>& values) {
    copy(at(byte), values.data(), values.size() * sizeof(T));
  }
  template <typename T>
  std::vector<T> read(std::size_t byte, std::size_t count) {
    std::vector<T> values(count);
    copy(values.data(), at(byte), count * sizeof(T));
    return values;
  }

 private:
  const tutti_device& services() const { return rank_.services(); }
  void copy(void* to, const void* from, std::size_t bytes) {
    check(services().copy(services().self, to, from, bytes, nullptr) == 0, rank_, "copy");
  }
  CudaRank& rank_;
  void* memory_ = nullptr;
};

inline void run(CudaRank& rank, const void* send, void* recv, std::uint64_t count,
                tutti_dtype dtype = TUTTI_FLOAT32, tutti_op op = TUTTI_SUM) {
  const tutti_request request{sizeof request, TUTTI_ALLREDUCE, send,   recv, count, dtype, op,
                              rank.stream,    nullptr,         nullptr};
  const char* path = "";
  check(tutti_plugin()->run(rank.communicator, &request, &path) == TUTTI_OK, rank, "run");
}

inline void synchronize(CudaRank& rank) {
  check(rank.services().stream_synchronize(rank.services().self, rank.stream) == 0, rank,
        "synchronize");
  check(tutti_plugin()->poll_error(rank.communicator) == TUTTI_OK, rank, "poll_error");
}

// What enqueue() enqueues on the rank's stream, captured once to be launched again and again.
class CapturedGraph {
 public:
  template <typename Enqueue>
  CapturedGraph(CudaRank& rank, const Enqueue& enqueue) : rank_(rank) {
    cudaGraph_t graph = nullptr;
    check(cudaStreamBeginCapture(stream(), cudaStreamCaptureModeThreadLocal) == cudaSuccess, rank,
          "capture");
    enqueue();
    check(cudaStreamEndCapture(stream(), &graph) == cudaSuccess, rank, "end of capture");
    check(cudaGraphInstantiate(&executable_, graph, 0) == cudaSuccess, rank, "instantiate");
    cudaGraphDestroy(graph);
  }
  ~CapturedGraph() { cudaGraphExecDestroy(executable_); }
  CapturedGraph(const CapturedGraph&) = delete;
  CapturedGraph& operator=(const CapturedGraph&) = delete;

  void launch() {
    check(cudaGraphLaunch(executable_, stream()) == cudaSuccess, rank_, "launch of the graph");
  }

 private:
  cudaStream_t stream() const { return static_cast<cudaStream_t>(rank_.stream); }
  CudaRank& rank_;
  cudaGraphExec_t executable_ = nullptr;
};

}  // namespace tutti
