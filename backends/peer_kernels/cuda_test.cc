// A backend on real GPUs: see cuda_ranks.h. Linked with each backend that is one kernel over peer
// memory.
#include <chrono>
#include <thread>

#include "backends/peer_kernels/cuda_ranks.h"
#include "backends/peer_kernels/typed_call.h"

namespace tutti {
namespace {

// Small whole numbers: sums are exact.
float input(int rank, std::size_t call, std::uint64_t i) {
  return static_cast<float>((i * 7 + call * 13 + static_cast<std::uint64_t>(rank) * 31) % 1021);
}

std::vector<float> inputs(int rank, std::size_t call, std::uint64_t count) {
  std::vector<float> values(count);
  for (std::uint64_t i = 0; i < count; ++i) values[i] = input(rank, call, i);
  return values;
}

void check_sums(CudaRank& rank, const std::vector<float>& values, std::size_t call) {
  for (std::uint64_t i = 0; i < values.size(); ++i) {
    float sum = 0;
    for (int peer = 0; peer < rank.world.world; ++peer) sum += input(peer, call, i);
    check(values[i] == sum, rank, "wrong sum");
  }
}

void run_many_sizes(CudaRank& rank) {
  const std::vector<std::uint64_t> counts{1, 7, 1025, 2048, 40'000, 262'144, 600'000, 2'097'153};
  constexpr std::size_t kBytes = 2'097'160 * sizeof(float);
  CudaBuffer send(rank, kBytes);
  CudaBuffer recv(rank, kBytes);
  for (std::size_t call = 0; call < 96; ++call) {
    const std::uint64_t count = counts[call % counts.size()];
    const std::size_t at = call % 5 * sizeof(float);
    const bool in_place = call % 3 == 0;
    send.write(at, inputs(rank.world.rank, call, count));
    CudaBuffer& target = in_place ? send : recv;
    if ((call + static_cast<std::size_t>(rank.world.rank)) % 4 == 0) {
      std::this_thread::sleep_for(std::chrono::microseconds(200));
    }
    run(rank, send.at(at), target.at(at), count);
    synchronize(rank);
    check_sums(rank, target.read<float>(at, count), call);
  }
}

// One call after the other, each with frames of its own.
void run_typed(CudaRank& rank, const std::vector<TypedCall>& calls) {
  for (const TypedCall& call : calls) {
    const Frame send = send_frame(call, rank.world.rank);
    const Frame recv = call.in_place ? send : recv_frame(call);
    CudaBuffer from(rank, send.size());
    CudaBuffer to(rank, recv.size());
    from.write(0, send);
    to.write(0, recv);
    run(rank, (call.in_place ? to : from).at(call.send_at()), to.at(call.recv_at()), call.count,
        call.dtype, call.op);
    synchronize(rank);
    const std::string problem =
        problem_of(call, rank.world.rank, rank.world.world, from.read<std::uint8_t>(0, send.size()),
                   to.read<std::uint8_t>(0, recv.size()));
    check(problem.empty(), rank, (call.text() + ": " + problem).c_str());
  }
}

// Calls follow each other without a pause, each with an input of its own.
void run_back_to_back(CudaRank& rank) {
  constexpr std::uint64_t kCount = 2048;
  constexpr std::size_t kBytes = kCount * sizeof(float);
  constexpr std::size_t kCalls = 500;
  CudaBuffer send(rank, kBytes * kCalls);
  CudaBuffer recv(rank, kBytes * kCalls);
  for (std::size_t call = 0; call < kCalls; ++call)
    send.write(call * kBytes, inputs(rank.world.rank, call, kCount));
  for (std::size_t call = 0; call < kCalls; ++call)
    run(rank, send.at(call * kBytes), recv.at(call * kBytes), kCount);
  synchronize(rank);
  for (std::size_t call = 0; call < kCalls; ++call)
    check_sums(rank, recv.read<float>(call * kBytes, kCount), call);
}

// A chain of calls captured once and replayed with new inputs: the rounds count on by themselves.
void replay_a_graph(CudaRank& rank) {
  constexpr std::uint64_t kCount = 2048;
  constexpr std::size_t kBytes = kCount * sizeof(float);
  constexpr std::size_t kChain = 122;
  CudaBuffer send(rank, kBytes);
  CudaBuffer recv(rank, kBytes * kChain);
  CapturedGraph graph(rank, [&] {
    for (std::size_t i = 0; i < kChain; ++i) run(rank, send.at(0), recv.at(i * kBytes), kCount);
  });
  for (std::size_t replay = 0; replay < 20; ++replay) {
    send.write(0, inputs(rank.world.rank, replay, kCount));
    graph.launch();
    synchronize(rank);
    for (std::size_t i = 0; i < kChain; ++i)
      check_sums(rank, recv.read<float>(i * kBytes, kCount), replay);
  }
}

// Rank 0 calls, its peers do not. `abort`: rank 0 gives up by itself.
void run_alone(CudaRank& rank, bool abort) {
  if (rank.world.rank != 0) return;
  CudaBuffer buffer(rank, 64);
  run(rank, buffer.at(0), buffer.at(0), 16);
  check(tutti_plugin()->poll_error(rank.communicator) == TUTTI_OK, rank,
        "poll_error blocks or fails early");
  if (abort) tutti_plugin()->abort(rank.communicator);
  check(rank.services().stream_synchronize(rank.services().self, rank.stream) == 0, rank,
        "synchronize");
  const tutti_status expected = abort ? TUTTI_ABORTED : TUTTI_TIMED_OUT;
  check(tutti_plugin()->poll_error(rank.communicator) == expected, rank, "poll_error");
}

TEST(PeerKernelCuda, ManySizes) {
  for (const int world : {1, 2, 4}) on_ranks(world, 20'000, run_many_sizes);
}
TEST(PeerKernelCuda, EveryDtypeAndOp) {
  for (const int world : {1, 2, 3})
    on_ranks(world, 20'000, [](CudaRank& rank) { run_typed(rank, calls_of_all_types()); });
}
TEST(PeerKernelCuda, EveryAlignment) {
  on_ranks(2, 20'000, [](CudaRank& rank) { run_typed(rank, calls_of_all_alignments()); });
}
TEST(PeerKernelCuda, BackToBack) { on_ranks(2, 20'000, run_back_to_back); }
TEST(PeerKernelCuda, GraphReplay) { on_ranks(2, 20'000, replay_a_graph); }
TEST(PeerKernelCuda, AnAbsentPeerTimesOut) {
  on_ranks(2, 500, [](CudaRank& rank) { run_alone(rank, false); });
}
TEST(PeerKernelCuda, AnAbortEndsPendingWork) {
  on_ranks(2, 100'000, [](CudaRank& rank) { run_alone(rank, true); });
}

}  // namespace
}  // namespace tutti
