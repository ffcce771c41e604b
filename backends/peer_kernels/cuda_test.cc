// The backend on real GPUs, with ranks as processes. Skipped where there is no GPU. More ranks than
// GPUs share them.
#include <cuda_runtime.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <functional>
#include <memory>
#include <new>
#include <string>
#include <thread>
#include <vector>

#include "backends/backend.h"
#include "fixtures/device/device.h"
#include "fixtures/device/host_test_world.h"

namespace {

constexpr unsigned kDeadlineSeconds = 120;  // of a whole test; an alarm ends the rank
constexpr std::size_t kExchangeBytes = 1024;
constexpr int kMostRanks = 8;

// Shared by all ranks of a test.
struct Board {
  std::atomic<int> arrived{0};
  char parts[kMostRanks][kExchangeBytes];
};

struct Rank {
  Board* board = nullptr;
  int passed = 0;  // barriers
  std::unique_ptr<tutti::Device> device;
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
    auto* rank = static_cast<Rank*>(self);
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
void check(bool held, const Rank& rank, const char* what) {
  if (held) return;
  std::fprintf(stderr, "rank %d: %s; last reason: %s\n", rank.world.rank, what,
               tutti_plugin()->reason(rank.communicator));
  _exit(1);
}

int count_gpus() {
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

void serve(Rank& rank, const tutti_facts& facts, const std::function<void(Rank&)>& body) {
  try {
    rank.device = tutti::open_device("cuda", facts, rank.world.rank, TUTTI_LIBRARY_FOLDER);
  } catch (const tutti::DeviceError& error) {
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
void on_ranks(int world, std::uint64_t deadline_ms, const std::function<void(Rank&)>& body) {
  const int gpus = count_gpus();
  if (gpus == 0) GTEST_SKIP() << "no GPU";
  tutti::TestWorld facts(world);
  for (int rank = 0; rank < world; ++rank) facts.rank(rank).device_index = rank % gpus;
  void* shared =
      mmap(nullptr, sizeof(Board), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(shared, MAP_FAILED);
  auto* board = new (shared) Board;
  std::vector<pid_t> children;
  for (int i = 0; i < world; ++i) {
    children.push_back(fork());
    if (children.back() != 0) continue;
    alarm(kDeadlineSeconds);
    Rank rank;
    rank.board = board;
    rank.world = {sizeof(tutti_world),
                  i,
                  world,
                  i,
                  world,
                  &facts.facts(),
                  nullptr,
                  deadline_ms,
                  Rank::exchange,
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
  munmap(shared, sizeof(Board));
}

// Small whole numbers: sums are exact.
float input(int rank, std::size_t call, std::uint64_t i) {
  return static_cast<float>((i * 7 + call * 13 + static_cast<std::uint64_t>(rank) * 31) % 1021);
}

std::vector<float> inputs(int rank, std::size_t call, std::uint64_t count) {
  std::vector<float> values(count);
  for (std::uint64_t i = 0; i < count; ++i) values[i] = input(rank, call, i);
  return values;
}

bool is_sum(const std::vector<float>& values, int world, std::size_t call) {
  for (std::uint64_t i = 0; i < values.size(); ++i) {
    float sum = 0;
    for (int rank = 0; rank < world; ++rank) sum += input(rank, call, i);
    if (values[i] != sum) return false;
  }
  return true;
}

// Device memory for the calls of a test.
class Buffer {
 public:
  Buffer(Rank& rank, std::uint64_t count) : rank_(rank) {
    check(services().allocate(services().self, count * sizeof(float), &memory_) == 0, rank,
          "allocate");
  }
  ~Buffer() { services().release(services().self, memory_); }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  float* at(std::uint64_t offset) { return static_cast<float*>(memory_) + offset; }
  void write(std::uint64_t offset, const std::vector<float>& values) {
    const std::size_t bytes = values.size() * sizeof(float);
    check(services().copy(services().self, at(offset), values.data(), bytes, nullptr) == 0, rank_,
          "copy");
  }
  std::vector<float> read(std::uint64_t offset, std::uint64_t count) {
    std::vector<float> values(count);
    const std::size_t bytes = count * sizeof(float);
    check(services().copy(services().self, values.data(), at(offset), bytes, nullptr) == 0, rank_,
          "copy");
    return values;
  }

 private:
  const tutti_device& services() const { return rank_.services(); }
  Rank& rank_;
  void* memory_ = nullptr;
};

void run(Rank& rank, const float* send, float* recv, std::uint64_t count) {
  const tutti_request request{sizeof request, TUTTI_ALLREDUCE, send,        recv,    count,
                              TUTTI_FLOAT32,  TUTTI_SUM,       rank.stream, nullptr, nullptr};
  const char* path = "";
  check(tutti_plugin()->run(rank.communicator, &request, &path) == TUTTI_OK, rank, "run");
}

void synchronize(Rank& rank) {
  check(rank.services().stream_synchronize(rank.services().self, rank.stream) == 0, rank,
        "synchronize");
  check(tutti_plugin()->poll_error(rank.communicator) == TUTTI_OK, rank, "poll_error");
}

void run_many_sizes(Rank& rank) {
  const std::vector<std::uint64_t> counts{1, 7, 1025, 2048, 40'000, 262'144, 600'000};
  Buffer send(rank, 600'016);
  Buffer recv(rank, 600'016);
  for (std::size_t call = 0; call < 140; ++call) {
    const std::uint64_t count = counts[call % counts.size()];
    const std::uint64_t offset = call % 5;
    const bool in_place = call % 3 == 0;
    send.write(offset, inputs(rank.world.rank, call, count));
    Buffer& target = in_place ? send : recv;
    if ((call + static_cast<std::size_t>(rank.world.rank)) % 4 == 0) {
      std::this_thread::sleep_for(std::chrono::microseconds(200));
    }
    run(rank, send.at(offset), target.at(offset), count);
    synchronize(rank);
    check(is_sum(target.read(offset, count), rank.world.world, call), rank, "wrong sum");
  }
}

// Calls follow each other without a pause, each with an input of its own.
void run_back_to_back(Rank& rank) {
  constexpr std::uint64_t kCount = 2048;
  constexpr std::size_t kCalls = 500;
  Buffer send(rank, kCount * kCalls);
  Buffer recv(rank, kCount * kCalls);
  for (std::size_t call = 0; call < kCalls; ++call)
    send.write(call * kCount, inputs(rank.world.rank, call, kCount));
  for (std::size_t call = 0; call < kCalls; ++call)
    run(rank, send.at(call * kCount), recv.at(call * kCount), kCount);
  synchronize(rank);
  for (std::size_t call = 0; call < kCalls; ++call) {
    check(is_sum(recv.read(call * kCount, kCount), rank.world.world, call), rank, "wrong sum");
  }
}

// A chain of calls captured once and replayed with new inputs: the epoch counts on by itself.
void replay_a_graph(Rank& rank) {
  constexpr std::uint64_t kCount = 2048;
  constexpr int kChain = 122;
  Buffer send(rank, kCount);
  Buffer recv(rank, kCount * kChain);
  const auto stream = static_cast<cudaStream_t>(rank.stream);
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t executable = nullptr;
  check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal) == cudaSuccess, rank,
        "capture");
  for (int i = 0; i < kChain; ++i)
    run(rank, send.at(0), recv.at(kCount * static_cast<std::uint64_t>(i)), kCount);
  check(cudaStreamEndCapture(stream, &graph) == cudaSuccess, rank, "end of capture");
  check(cudaGraphInstantiate(&executable, graph, 0) == cudaSuccess, rank, "instantiate");
  for (std::size_t replay = 0; replay < 20; ++replay) {
    send.write(0, inputs(rank.world.rank, replay, kCount));
    const auto start = std::chrono::steady_clock::now();
    check(cudaGraphLaunch(executable, stream) == cudaSuccess, rank, "launch of the graph");
    synchronize(rank);
    const std::chrono::duration<double, std::micro> took = std::chrono::steady_clock::now() - start;
    if (replay == 19 && rank.world.rank == 0)
      std::printf("%.2f us a call\n", took.count() / kChain);
    for (int i = 0; i < kChain; ++i) {
      const auto values = recv.read(kCount * static_cast<std::uint64_t>(i), kCount);
      check(is_sum(values, rank.world.world, replay), rank, "wrong sum");
    }
  }
  std::fflush(stdout);
  cudaGraphExecDestroy(executable);
  cudaGraphDestroy(graph);
}

// Rank 0 calls, its peers do not. `abort`: rank 0 gives up by itself.
void run_alone(Rank& rank, bool abort) {
  if (rank.world.rank != 0) return;
  Buffer buffer(rank, 16);
  run(rank, buffer.at(0), buffer.at(0), 16);
  check(tutti_plugin()->poll_error(rank.communicator) == TUTTI_OK, rank,
        "poll_error blocks or fails early");
  if (abort) tutti_plugin()->abort(rank.communicator);
  check(rank.services().stream_synchronize(rank.services().self, rank.stream) == 0, rank,
        "synchronize");
  const tutti_status expected = abort ? TUTTI_ABORTED : TUTTI_TIMED_OUT;
  check(tutti_plugin()->poll_error(rank.communicator) == expected, rank, "poll_error");
}

TEST(OneShotCuda, ManySizes) {
  for (const int world : {1, 2, 4}) on_ranks(world, 20'000, run_many_sizes);
}
TEST(OneShotCuda, BackToBack) { on_ranks(2, 20'000, run_back_to_back); }
TEST(OneShotCuda, GraphReplay) { on_ranks(2, 20'000, replay_a_graph); }
TEST(OneShotCuda, AnAbsentPeerTimesOut) {
  on_ranks(2, 500, [](Rank& rank) { run_alone(rank, false); });
}
TEST(OneShotCuda, AnAbortEndsPendingWork) {
  on_ranks(2, 100'000, [](Rank& rank) { run_alone(rank, true); });
}

}  // namespace
