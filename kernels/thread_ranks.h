// For tests of kernels over peer memory: ranks as threads over plain memory, and random calls that
// they make back to back.
#pragma once

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <thread>
#include <vector>

#include "kernels/grid.h"
#include "kernels/plain_reduction.h"

namespace tutti {

inline std::uint64_t mix(std::uint64_t value) {
  value = (value ^ (value >> 33)) * 0xff51afd7ed558ccdu;
  value = (value ^ (value >> 29)) * 0xc4ceb9fe1a85ec53u;
  return value ^ (value >> 32);
}

// Ranks dawdle between phases, each in its own way.
inline thread_local std::uint64_t dawdle_state = 0;  // 0: never
template <typename Protocol>
struct Skewed : Protocol {
  static void between_phases() {
    if (dawdle_state == 0) return;
    dawdle_state = mix(dawdle_state + 1) | 1;
    const std::uint64_t drawn = dawdle_state >> 8;
    if (drawn % 4 == 0) std::this_thread::sleep_for(std::chrono::microseconds((drawn >> 8) % 200));
    if (drawn % 4 == 1) std::this_thread::yield();
  }
};
// Broken on purpose: a round in which nobody waits.
template <typename Protocol, int round>
struct WithoutWait : Protocol {
  static constexpr int skipped_wait = round;
};

template <typename Kernel>
class ThreadRanks {
 public:
  using Region = typename Kernel::Region;

  explicit ThreadRanks(int world, std::uint64_t deadline_ms = 20'000)
      : world_(world), deadline_ns_(deadline_ms * 1'000'000), states_(world), controls_(world) {
    for (int rank = 0; rank < world; ++rank) regions_.push_back(std::make_unique<Region>());
  }

  PeerCall<Region> call(int rank, const void* send, void* recv, std::uint64_t count,
                        Op op = TUTTI_SUM) {
    PeerCall<Region> call{};
    call.send = send;
    call.recv = recv;
    call.count = count;
    call.op = op;
    for (int peer = 0; peer < world_; ++peer) call.regions[peer] = regions_[peer].get();
    call.state = &states_[rank];
    call.control = &controls_[rank];
    call.deadline_ns = deadline_ns_;
    call.rank = rank;
    call.world = world_;
    return call;
  }
  RoundControl& control(int rank) { return controls_[rank]; }
  const RoundState& state(int rank) const { return states_[rank]; }
  void set_deadline_ms(std::uint64_t deadline_ms) { deadline_ns_ = deadline_ms * 1'000'000; }

  // body(rank) on a thread each.
  template <typename Body>
  void on_all(const Body& body) {
    std::vector<std::thread> threads;
    for (int rank = 0; rank < world_; ++rank) threads.emplace_back([&body, rank] { body(rank); });
    for (std::thread& thread : threads) thread.join();
  }

 private:
  int world_;
  std::uint64_t deadline_ns_;
  std::vector<std::unique_ptr<Region>> regions_;
  std::vector<RoundState> states_;
  std::vector<RoundControl> controls_;
};

struct RandomCall {
  std::uint64_t count;
  std::size_t send_offset;  // in elements
  std::size_t recv_offset;
  bool in_place;
  int blocks;
};

inline std::vector<RandomCall> same_calls(std::size_t calls, std::uint64_t count, int blocks) {
  return std::vector<RandomCall>(calls, RandomCall{count, 0, 0, false, blocks});
}

// Order-sensitive reals for the floats; all values for the integers.
template <typename T>
T drawn_element(std::uint64_t bits) {
  if constexpr (!kIsFloat<T>) {
    return static_cast<T>(bits);
  } else {
    const float value = std::ldexp(static_cast<float>(static_cast<std::int32_t>(bits >> 32)),
                                   static_cast<int>(bits % 12) - 31);
    if constexpr (std::is_floating_point_v<T>) {
      return value;
    } else {
      return T::from_float(value);
    }
  }
}

template <typename T>
std::vector<T> drawn_input(std::uint64_t seed, std::size_t call, int rank, std::uint64_t count) {
  std::vector<T> values(count);
  for (std::uint64_t i = 0; i < count; ++i)
    values[i] = drawn_element<T>(mix(mix(mix(seed + call) + static_cast<std::uint64_t>(rank)) + i));
  return values;
}

// The outputs of one call, by rank: how many elements differ from the reduced inputs, or, beside
// the output, from 0.
template <typename T>
std::uint64_t count_wrong_elements(Op op, const RandomCall& call,
                                   const std::vector<std::vector<T>>& inputs,
                                   const std::vector<std::vector<T>>& outputs) {
  std::uint64_t wrong = 0;
  std::vector<T> column(inputs.size());
  for (std::uint64_t at = 0; at < outputs[0].size(); ++at) {
    T expected{};
    const bool inside = at >= call.recv_offset && at - call.recv_offset < call.count;
    if (inside) {
      for (std::size_t rank = 0; rank < inputs.size(); ++rank)
        column[rank] = inputs[rank][at - call.recv_offset];
      expected = plainly_reduced(op, column);
    }
    for (const std::vector<T>& output : outputs) wrong += !is_same_element(output[at], expected);
  }
  return wrong;
}

// Runs the calls back to back on all ranks, each rank on its thread, and returns how many elements
// came out wrong.
template <typename Kernel, typename T>
std::uint64_t count_wrong(Op op, int world, int lanes, std::uint64_t seed,
                          const std::vector<RandomCall>& calls) {
  ThreadRanks<Kernel> ranks(world);
  using Buffers = std::vector<std::vector<T>>;  // by rank
  std::vector<Buffers> inputs(calls.size(), Buffers(world)), outputs = inputs;
  for (std::size_t i = 0; i < calls.size(); ++i) {
    for (int rank = 0; rank < world; ++rank) {
      inputs[i][rank] = drawn_input<T>(seed, i, rank, calls[i].count);
      outputs[i][rank].resize(calls[i].recv_offset + calls[i].count + 2);
    }
  }
  ranks.on_all([&](int rank) {
    dawdle_state = mix(seed + 77 * static_cast<std::uint64_t>(rank)) | 1;
    for (std::size_t i = 0; i < calls.size(); ++i) {
      const RandomCall& call = calls[i];
      std::vector<T> send(call.send_offset);
      send.insert(send.end(), inputs[i][rank].begin(), inputs[i][rank].end());
      T* recv = outputs[i][rank].data() + call.recv_offset;
      if (call.in_place) std::copy_n(inputs[i][rank].data(), call.count, recv);
      const T* from = call.in_place ? recv : send.data() + call.send_offset;
      run_on_host<Kernel, T>(ranks.call(rank, from, recv, call.count, op), call.blocks, lanes);
    }
  });
  std::uint64_t wrong = 0;
  for (std::size_t i = 0; i < calls.size(); ++i)
    wrong += count_wrong_elements(op, calls[i], inputs[i], outputs[i]);
  for (int rank = 0; rank < world; ++rank) wrong += ranks.control(rank).status != kRoundFine;
  return wrong;
}

// Programs of random calls, also of no elements, and of fewer than there are ranks.
template <typename Kernel, typename T>
void check_random_calls(Op op) {
  const bool held = rc::check("random calls, back to back, give every rank the exact result", [&] {
    const int world = *rc::gen::inRange(1, 9);
    const int lanes = *rc::gen::element(1, 3, 32);
    const auto seed = *rc::gen::arbitrary<std::uint64_t>();
    std::vector<RandomCall> calls(*rc::gen::inRange<std::size_t>(1, 12));
    for (RandomCall& call : calls) {
      call.count = *rc::gen::element<std::uint64_t>(0, 1, 2, 7, 8, 9, 15, 16, 17, 63, 257, 1025);
      call.send_offset = *rc::gen::inRange<std::size_t>(0, 17);
      call.recv_offset = *rc::gen::inRange<std::size_t>(0, 17);
      call.in_place = *rc::gen::arbitrary<bool>();
      call.blocks = *rc::gen::inRange(1, 9);
    }
    RC_ASSERT((count_wrong<Kernel, T>(op, world, lanes, seed, calls)) == 0u);
  });
  EXPECT_TRUE(held);
}

// A kernel that is broken on purpose gives wrong results, at the latest after some tries.
template <typename Broken>
void expect_caught() {
  std::uint64_t wrong = 0;
  for (std::uint64_t seed = 0; seed < 200 && wrong == 0; ++seed)
    wrong = count_wrong<Broken, float>(TUTTI_SUM, 4, 4, seed, same_calls(100, 65, 1));
  EXPECT_GT(wrong, 0u);
}

// Rank 1 of 2 does not come: rank 0 gives up, and for good. late(ranks, output) is what happens
// then: the first call of rank 0 had the input 100 times 1.
template <typename Kernel, typename Late>
void check_an_absent_peer(const Late& late) {
  ThreadRanks<Kernel> ranks(2, 50);
  const std::vector<float> ones(100, 1.0f);
  std::vector<float> out(100, 7.0f);
  const auto start = std::chrono::steady_clock::now();
  run_on_host<Kernel, float>(ranks.call(0, ones.data(), out.data(), 100), 4, 4);
  const auto took = std::chrono::steady_clock::now() - start;
  EXPECT_GE(took, std::chrono::milliseconds(50));
  EXPECT_LT(took, std::chrono::seconds(5));
  EXPECT_EQ(ranks.control(0).status, kRoundTimedOut);
  EXPECT_EQ(out, std::vector<float>(100, 7.0f));

  // Later calls end at once, and leave alone what a late peer reads.
  const std::vector<float> twos(100, 2.0f);
  ranks.set_deadline_ms(60'000);
  for (int again = 0; again < 4; ++again)
    run_on_host<Kernel, float>(ranks.call(0, twos.data(), out.data(), 100), 4, 4);
  EXPECT_EQ(out, std::vector<float>(100, 7.0f));
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(10));
  late(ranks, out);
}

template <typename Kernel>
void check_an_abort() {
  ThreadRanks<Kernel> ranks(2, 60'000);
  const std::vector<float> ones(100, 1.0f);
  std::vector<float> out(100, 7.0f);
  const auto start = std::chrono::steady_clock::now();
  std::thread aborter([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    store_relaxed_system(&ranks.control(0).abort, 1);
  });
  run_on_host<Kernel, float>(ranks.call(0, ones.data(), out.data(), 100), 1, 4);
  aborter.join();
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(10));
  EXPECT_EQ(ranks.control(0).status, kRoundAborted);
}

}  // namespace tutti
