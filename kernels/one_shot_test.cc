// The protocol of the one-shot kernel, with ranks as threads over plain memory. Built with
// ThreadSanitizer as well, which then follows every hand-over of the flags.
#include "kernels/one_shot.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>
#include <limits>
#include <memory>
#include <thread>
#include <vector>

namespace tutti {
namespace {

std::uint64_t mix(std::uint64_t value) {
  value = (value ^ (value >> 33)) * 0xff51afd7ed558ccdu;
  value = (value ^ (value >> 29)) * 0xc4ceb9fe1a85ec53u;
  return value ^ (value >> 32);
}

// Ranks dawdle between phases, each in its own way.
thread_local std::uint64_t dawdle_state = 0;  // 0: never
struct Skewed : OneShotProtocol {
  static void between_phases() {
    if (dawdle_state == 0) return;
    dawdle_state = mix(dawdle_state + 1) | 1;
    const std::uint64_t drawn = dawdle_state >> 8;
    if (drawn % 4 == 0) std::this_thread::sleep_for(std::chrono::microseconds((drawn >> 8) % 200));
    if (drawn % 4 == 1) std::this_thread::yield();
  }
};
// Broken on purpose: the slot that slow peers still read is overwritten.
struct SkewedSingleSlot : Skewed {
  static constexpr std::uint64_t slots = 1;
};

class World {
 public:
  explicit World(int world, std::uint64_t deadline_ms = 20'000)
      : world_(world), deadline_ns_(deadline_ms * 1'000'000), states_(world), controls_(world) {
    for (int rank = 0; rank < world; ++rank) regions_.push_back(std::make_unique<OneShotRegion>());
  }

  OneShotArguments call(int rank, const void* send, void* recv, std::uint64_t count) {
    OneShotArguments call{};
    call.send = send;
    call.recv = recv;
    call.count = count;
    for (int peer = 0; peer < world_; ++peer) call.regions[peer] = regions_[peer].get();
    call.state = &states_[rank];
    call.control = &controls_[rank];
    call.deadline_ns = deadline_ns_;
    call.rank = rank;
    call.world = world_;
    return call;
  }
  OneShotControl& control(int rank) { return controls_[rank]; }
  const OneShotState& state(int rank) const { return states_[rank]; }
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
  std::vector<std::unique_ptr<OneShotRegion>> regions_;
  std::vector<OneShotState> states_;
  std::vector<OneShotControl> controls_;
};

// Order-sensitive reals for the floats; all values for the integers.
void draw(std::uint64_t bits, float* out) {
  *out = std::ldexp(static_cast<float>(static_cast<std::int32_t>(bits >> 32)),
                    static_cast<int>(bits % 12) - 31);
}
void draw(std::uint64_t bits, bfloat16* out) {
  float value;
  draw(bits, &value);
  *out = bfloat16::from_float(value);
}
void draw(std::uint64_t bits, std::int32_t* out) { *out = static_cast<std::int32_t>(bits); }

template <typename T>
std::vector<T> input_of(std::uint64_t seed, std::size_t call, int rank, std::uint64_t count) {
  std::vector<T> values(count);
  for (std::uint64_t i = 0; i < count; ++i)
    draw(mix(mix(mix(seed + call) + static_cast<std::uint64_t>(rank)) + i), &values[i]);
  return values;
}

struct Call {
  std::uint64_t count;
  std::size_t send_offset;
  std::size_t recv_offset;
  bool in_place;
  int blocks;
};

// Runs the calls back to back on all ranks, each rank on its thread, and returns how many elements
// came out wrong.
template <typename T, typename Reduction, typename Protocol>
std::uint64_t count_wrong(int world_size, int lanes, std::uint64_t seed,
                          const std::vector<Call>& calls) {
  World world(world_size);
  std::vector<std::vector<std::vector<T>>> outputs(world_size);
  std::vector<std::vector<std::vector<T>>> inputs(world_size);
  for (int rank = 0; rank < world_size; ++rank) {
    for (std::size_t i = 0; i < calls.size(); ++i) {
      inputs[rank].push_back(input_of<T>(seed, i, rank, calls[i].count));
      outputs[rank].emplace_back(calls[i].count + calls[i].recv_offset);
    }
  }
  world.on_all([&](int rank) {
    dawdle_state = mix(seed + 77 * static_cast<std::uint64_t>(rank)) | 1;
    for (std::size_t i = 0; i < calls.size(); ++i) {
      const Call& call = calls[i];
      std::vector<T> send(call.send_offset);
      send.insert(send.end(), inputs[rank][i].begin(), inputs[rank][i].end());
      T* recv = outputs[rank][i].data() + call.recv_offset;
      if (call.in_place) std::copy_n(inputs[rank][i].data(), call.count, recv);
      const T* from = call.in_place ? recv : send.data() + call.send_offset;
      one_shot_on_host<T, Reduction, Protocol>(world.call(rank, from, recv, call.count),
                                               call.blocks, lanes);
    }
  });
  std::uint64_t wrong = 0;
  for (std::size_t i = 0; i < calls.size(); ++i) {
    for (std::uint64_t at = 0; at < calls[i].count; ++at) {
      auto sum = widen(inputs[0][i][at]);
      for (int rank = 1; rank < world_size; ++rank)
        sum = Reduction::apply(sum, widen(inputs[rank][i][at]));
      T expected;
      narrow(sum, &expected);
      for (int rank = 0; rank < world_size; ++rank) {
        wrong +=
            std::memcmp(&outputs[rank][i][at + calls[i].recv_offset], &expected, sizeof(T)) != 0;
      }
    }
  }
  for (int rank = 0; rank < world_size; ++rank) {
    wrong += world.control(rank).status != kOneShotFine;
    wrong += world.state(rank).epoch != calls.size();
  }
  return wrong;
}

template <typename T, typename Reduction>
void check_random_calls() {
  const bool held = rc::check("random calls, back to back, give every rank the exact result", [] {
    const int world = *rc::gen::inRange(1, 9);
    const int lanes = *rc::gen::element(1, 3, 32);
    const auto seed = *rc::gen::arbitrary<std::uint64_t>();
    std::vector<Call> calls(*rc::gen::inRange<std::size_t>(1, 12));
    for (Call& call : calls) {
      call.count = *rc::gen::element<std::uint64_t>(1, 2, 7, 8, 9, 63, 257, 1025, 4096);
      call.send_offset = *rc::gen::inRange<std::size_t>(0, 9);
      call.recv_offset = *rc::gen::inRange<std::size_t>(0, 9);
      call.in_place = *rc::gen::arbitrary<bool>();
      call.blocks = *rc::gen::inRange(1, 9);
    }
    const std::uint64_t wrong = count_wrong<T, Reduction, Skewed>(world, lanes, seed, calls);
    RC_ASSERT(wrong == 0u);
  });
  EXPECT_TRUE(held);
}

TEST(OneShot, RandomCallsFp32Sum) { check_random_calls<float, Sum>(); }
TEST(OneShot, RandomCallsFp32Max) { check_random_calls<float, Max>(); }
TEST(OneShot, RandomCallsBf16Sum) { check_random_calls<bfloat16, Sum>(); }
TEST(OneShot, RandomCallsBf16Max) { check_random_calls<bfloat16, Max>(); }
TEST(OneShot, RandomCallsInt32Sum) { check_random_calls<std::int32_t, Sum>(); }
TEST(OneShot, RandomCallsInt32Max) { check_random_calls<std::int32_t, Max>(); }

std::vector<Call> same_calls(std::size_t calls, std::uint64_t count, int blocks) {
  return std::vector<Call>(calls, Call{count, 0, 0, false, blocks});
}

TEST(OneShot, FullSlots) {
  const std::uint64_t count = kOneShotSlotBytes / sizeof(float);
  EXPECT_EQ((count_wrong<float, Sum, Skewed>(3, 8, 5, same_calls(4, count, 16))), 0u);
}

TEST(OneShot, ManyCalls) {
  EXPECT_EQ((count_wrong<float, Sum, Skewed>(4, 4, 5, same_calls(1000, 33, 2))), 0u);
}

// ThreadSanitizer reports this variant as the data race that it is, so it is left out there.
#if !defined(__SANITIZE_THREAD__)
TEST(OneShot, ASingleSlotIsCaught) {
  std::uint64_t wrong = 0;
  for (std::uint64_t seed = 0; seed < 200 && wrong == 0; ++seed) {
    wrong = count_wrong<float, Sum, SkewedSingleSlot>(4, 4, seed, same_calls(100, 65, 1));
  }
  EXPECT_GT(wrong, 0u);
}
#endif

TEST(OneShot, AnAbsentPeerEndsAtTheDeadlineAndForGood) {
  World world(2, 50);
  const std::vector<float> ones(100, 1.0f);
  std::vector<float> out(100, 7.0f);
  const auto start = std::chrono::steady_clock::now();
  one_shot_on_host<float, Sum>(world.call(0, ones.data(), out.data(), 100), 4, 4);
  const auto took = std::chrono::steady_clock::now() - start;
  EXPECT_GE(took, std::chrono::milliseconds(50));
  EXPECT_LT(took, std::chrono::seconds(5));
  EXPECT_EQ(world.control(0).status, kOneShotTimedOut);
  EXPECT_EQ(out, std::vector<float>(100, 7.0f));

  // Later calls end at once, and leave alone what a late peer reads: it still gets the right result
  // of the first call.
  const std::vector<float> twos(100, 2.0f);
  world.set_deadline_ms(60'000);
  for (int again = 0; again < 4; ++again) {
    one_shot_on_host<float, Sum>(world.call(0, twos.data(), out.data(), 100), 4, 4);
  }
  EXPECT_EQ(out, std::vector<float>(100, 7.0f));
  one_shot_on_host<float, Sum>(world.call(1, twos.data(), out.data(), 100), 4, 4);
  EXPECT_EQ(world.control(1).status, kOneShotFine);
  EXPECT_EQ(out, std::vector<float>(100, 3.0f));
}

TEST(OneShot, AnAbortEndsAWait) {
  World world(2, 60'000);
  const std::vector<float> ones(100, 1.0f);
  std::vector<float> out(100, 7.0f);
  const auto start = std::chrono::steady_clock::now();
  std::thread aborter([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    store_relaxed_system(&world.control(0).abort, 1);
  });
  one_shot_on_host<float, Sum>(world.call(0, ones.data(), out.data(), 100), 1, 4);
  aborter.join();
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(10));
  EXPECT_EQ(world.control(0).status, kOneShotAborted);
}

// All ranks' values of one element, reduced.
template <typename T, typename Reduction>
T reduced(const std::vector<T>& values) {
  World world(static_cast<int>(values.size()));
  std::vector<T> results(values.size());
  world.on_all([&](int rank) {
    one_shot_on_host<T, Reduction>(world.call(rank, &values[rank], &results[rank], 1), 1, 2);
  });
  for (const T& result : results) EXPECT_EQ(std::memcmp(&result, &results[0], sizeof(T)), 0);
  return results[0];
}

TEST(OneShot, SpecialValues) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const float infinity = std::numeric_limits<float>::infinity();
  const float tiny = std::numeric_limits<float>::denorm_min();
  EXPECT_TRUE(std::isnan(reduced<float, Max>({nan, 1, 2})));
  EXPECT_TRUE(std::isnan(reduced<float, Max>({1, nan, 2})));
  EXPECT_TRUE(std::isnan(reduced<float, Max>({1, infinity, nan})));
  EXPECT_FALSE(std::signbit(reduced<float, Max>({-0.0f, 0.0f, -0.0f})));
  EXPECT_FALSE(std::signbit(reduced<float, Max>({0.0f, -0.0f})));
  EXPECT_TRUE(std::signbit(reduced<float, Max>({-0.0f, -0.0f})));
  EXPECT_TRUE(std::signbit(reduced<float, Sum>({-0.0f, -0.0f, -0.0f})));
  EXPECT_FALSE(std::signbit(reduced<float, Sum>({-0.0f, 0.0f})));
  EXPECT_EQ((reduced<float, Sum>({tiny, tiny})), 2 * tiny);
  EXPECT_EQ((reduced<float, Max>({-infinity, -tiny})), -tiny);
  EXPECT_TRUE(std::isnan(reduced<float, Sum>({infinity, -infinity})));
  EXPECT_EQ((reduced<std::int32_t, Sum>({std::numeric_limits<std::int32_t>::max(), 1})),
            std::numeric_limits<std::int32_t>::min());
  EXPECT_EQ((reduced<std::int32_t, Max>({std::numeric_limits<std::int32_t>::min(), -1})), -1);
  EXPECT_EQ((reduced<bfloat16, Max>({{0x7fc0}, {0x3f80}})).bits, 0x7fc0);  // NaN against 1
  EXPECT_EQ((reduced<bfloat16, Sum>({{0x0001}, {0x0001}})).bits, 0x0002);  // subnormals
  // 256 + four halves: each partial sum rounded to bf16 would stay 256, fp32 keeps the halves.
  EXPECT_EQ((reduced<bfloat16, Sum>({{0x4380}, {0x3f00}, {0x3f00}, {0x3f00}, {0x3f00}})).to_float(),
            258.0f);
}

}  // namespace
}  // namespace tutti
