// The whole backend on simulated devices, with ranks as threads of this process.
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <barrier>
#include <chrono>
#include <cstring>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "backends/backend.h"
#include "fixtures/device/device.h"
#include "fixtures/device/host_test_world.h"

namespace {

using tutti::Device;
using tutti::TestWorld;

// The out-of-band channel: an allgather between threads.
class Exchange {
 public:
  explicit Exchange(int world) : barrier_(world), parts_(world) {}
  tutti_status gather(int rank, const void* sent, void* received, std::size_t bytes) {
    const char* from = static_cast<const char*>(sent);
    parts_[rank].assign(from, from + bytes);
    barrier_.arrive_and_wait();
    for (std::size_t peer = 0; peer < parts_.size(); ++peer) {
      std::memcpy(static_cast<char*>(received) + peer * bytes, parts_[peer].data(), bytes);
    }
    barrier_.arrive_and_wait();
    return TUTTI_OK;
  }

 private:
  std::barrier<> barrier_;
  std::vector<std::vector<char>> parts_;
};

struct Rank {
  std::unique_ptr<Device> device;
  tutti_device services;  // a copy that tests may break
  tutti_world world;
  Exchange* exchange;
  void* communicator = nullptr;
  void* stream = nullptr;
};

class World {
 public:
  World(TestWorld& facts, std::uint64_t deadline_ms)
      : exchange_(facts.facts().world), ranks_(static_cast<std::size_t>(facts.facts().world)) {
    for (int i = 0; i < size(); ++i) {
      Rank& rank = ranks_[i];
      rank.device = tutti::open_device("host", facts.facts(), i, "");
      rank.services = rank.device->services();
      rank.exchange = &exchange_;
      rank.world = {sizeof(tutti_world),
                    i,
                    size(),
                    i,
                    size(),
                    &facts.facts(),
                    &rank.services,
                    deadline_ms,
                    [](void* self, const void* sent, void* received, std::size_t bytes) {
                      auto* rank = static_cast<Rank*>(self);
                      return rank->exchange->gather(rank->world.rank, sent, received, bytes);
                    },
                    [](void*, const char*) {},
                    &rank};
      EXPECT_EQ(rank.services.stream_create(rank.services.self, &rank.stream), 0);
    }
  }
  int size() const { return static_cast<int>(ranks_.size()); }
  Rank& operator[](int rank) { return ranks_[rank]; }

  // body(rank) on a thread each; what they returned, by rank.
  template <typename Body>
  std::vector<tutti_status> on_all(const Body& body) {
    std::vector<tutti_status> statuses(ranks_.size());
    std::vector<std::thread> threads;
    for (int i = 0; i < size(); ++i)
      threads.emplace_back([&, i] { statuses[i] = body(ranks_[i]); });
    for (std::thread& thread : threads) thread.join();
    return statuses;
  }
  std::vector<tutti_status> create() {
    return on_all(
        [](Rank& rank) { return tutti_plugin()->create(&rank.world, &rank.communicator); });
  }
  std::vector<tutti_status> destroy() {
    return on_all([](Rank& rank) { return tutti_plugin()->destroy(rank.communicator); });
  }
  // Of what the tests did not open themselves.
  std::string leaks() {
    std::string all;
    for (Rank& rank : ranks_) {
      const std::string leaks = rank.device->leaks();
      if (leaks != "1 stream") all += leaks + "; ";
    }
    return all;
  }
  std::vector<tutti_status> all(tutti_status status) const {
    return std::vector(ranks_.size(), status);
  }

 private:
  Exchange exchange_;
  std::vector<Rank> ranks_;
};

tutti_request request_of(const float* send, float* recv, std::uint64_t count, void* stream) {
  return {sizeof(tutti_request), TUTTI_ALLREDUCE, send,   recv,    count,
          TUTTI_FLOAT32,         TUTTI_SUM,       stream, nullptr, nullptr};
}

std::string plan_of(const TestWorld& world, const tutti_request& request) {
  tutti_plan plan{};
  plan.size = sizeof plan;
  EXPECT_EQ(tutti_plugin()->plan(&world.facts(), 0, &request, &plan), TUTTI_OK);
  return (plan.answer == TUTTI_PLAN_PATH ? "path " : "refused ") + std::string(plan.text);
}

TEST(OneShotBackend, PlansAndSaysWhyNot) {
  TestWorld world(4);
  const tutti_request fine = request_of(nullptr, nullptr, 1, nullptr);
  EXPECT_EQ(plan_of(world, fine), "path one_shot");
  tutti_request other = fine;
  other.dtype = TUTTI_FLOAT16;
  EXPECT_EQ(plan_of(world, other), "refused one_shot has fp32, bf16 and int32 only");
  other = fine;
  other.op = TUTTI_AVG;
  EXPECT_EQ(plan_of(world, other), "refused one_shot has sum and max only");
  other = fine;
  other.path = "two_shot";
  EXPECT_EQ(plan_of(world, other), "refused one_shot has no path two_shot, only one_shot");
  other = fine;
  other.extension = &world;
  EXPECT_EQ(plan_of(world, other), "refused one_shot has no fused forms");
  world.deny(2, 1);
  EXPECT_EQ(plan_of(world, fine),
            "refused rank 2 has no peer access to rank 1, and one_shot needs it between all ranks");
  TestWorld hosts(2);
  hosts.rank(1).host = "there";
  EXPECT_EQ(plan_of(hosts, fine),
            "refused rank 1 is on host there and rank 0 on here, but one_shot needs one host");
  EXPECT_EQ(plan_of(TestWorld(32), fine), "path one_shot");
  EXPECT_EQ(plan_of(TestWorld(33), fine), "refused 33 ranks, but one_shot has room for 32");
}

float input(int rank, std::size_t call, std::uint64_t i) {
  return static_cast<float>((i * 7 + call * 13 + static_cast<std::uint64_t>(rank) * 31) % 1021);
}

TEST(OneShotBackend, RandomProgramsGiveExactSums) {
  const bool held = rc::check("sums are exact, in place or not, over streams and chunks", [] {
    TestWorld facts(*rc::gen::inRange(1, 5));
    World world(facts, 20'000);
    const auto delays = *rc::gen::element<std::uint64_t>(0, 1, 2, 3);
    const auto counts = *rc::gen::container<std::vector<std::uint64_t>>(
        *rc::gen::inRange<std::size_t>(1, 7),
        rc::gen::element<std::uint64_t>(0, 1, 3, 1025, 40'000, 262'144, 600'000));
    const auto in_place = *rc::gen::arbitrary<bool>();
    const auto two_streams = *rc::gen::arbitrary<bool>();
    RC_ASSERT(world.create() == world.all(TUTTI_OK));
    const auto statuses = world.on_all([&](Rank& rank) {
      rank.device->set_delays(delays);
      const tutti_device& device = rank.services;
      void* second = nullptr;
      device.stream_create(device.self, &second);
      std::vector<std::vector<float>> sent(counts.size());
      std::vector<std::vector<float>> received(counts.size());
      tutti_status status = TUTTI_OK;
      for (std::size_t call = 0; call < counts.size(); ++call) {
        for (std::uint64_t i = 0; i < counts[call]; ++i)
          sent[call].push_back(input(rank.world.rank, call, i));
        received[call] = in_place ? sent[call] : std::vector<float>(counts[call], -1.0f);
        const float* send = in_place ? received[call].data() : sent[call].data();
        const tutti_request request =
            request_of(send, received[call].data(), counts[call],
                       two_streams && call % 2 == 1 ? second : rank.stream);
        const char* path = "";
        status = tutti_plugin()->run(rank.communicator, &request, &path);
        if (status != TUTTI_OK || std::string(path) != "one_shot") return TUTTI_ERROR;
      }
      device.stream_synchronize(device.self, rank.stream);
      device.stream_destroy(device.self, second);
      for (std::size_t call = 0; call < counts.size(); ++call) {
        for (std::uint64_t i = 0; i < counts[call]; ++i) {
          float sum = 0;
          for (int peer = 0; peer < rank.world.world; ++peer) sum += input(peer, call, i);
          if (received[call][i] != sum) return TUTTI_ERROR;
        }
      }
      return tutti_plugin()->poll_error(rank.communicator);
    });
    RC_ASSERT(statuses == world.all(TUTTI_OK));
    RC_ASSERT(world.destroy() == world.all(TUTTI_OK));
    RC_ASSERT(world.leaks() == "");
  });
  EXPECT_TRUE(held);
}

TEST(OneShotBackend, EveryDtypeAndOp) {
  TestWorld facts(3);
  World world(facts, 20'000);
  ASSERT_EQ(world.create(), world.all(TUTTI_OK));
  const auto run = [&](tutti_dtype dtype, tutti_op op, auto value_of_rank) {
    using T = decltype(value_of_rank(0));
    std::vector<T> values{value_of_rank(0), value_of_rank(1), value_of_rank(2)};
    const auto statuses = world.on_all([&](Rank& rank) {
      T* value = &values[rank.world.rank];
      const tutti_request request{sizeof request, TUTTI_ALLREDUCE, value,  value, 1, dtype, op,
                                  rank.stream,    nullptr,         nullptr};
      const char* path = "";
      const tutti_status status = tutti_plugin()->run(rank.communicator, &request, &path);
      rank.services.stream_synchronize(rank.services.self, rank.stream);
      return status;
    });
    EXPECT_EQ(statuses, world.all(TUTTI_OK));
    EXPECT_EQ(values[0], values[1]);
    EXPECT_EQ(values[0], values[2]);
    return values[0];
  };
  const auto bf16_bits = [](int rank) {
    return static_cast<std::uint16_t>(0x3f80 + 0x80 * rank);
  };  // 1, 2, 4
  EXPECT_EQ(run(TUTTI_FLOAT32, TUTTI_SUM, [](int rank) { return 0.5f + static_cast<float>(rank); }),
            4.5f);
  EXPECT_EQ(run(TUTTI_FLOAT32, TUTTI_MAX, [](int rank) { return 0.5f - static_cast<float>(rank); }),
            0.5f);
  EXPECT_EQ(run(TUTTI_INT32, TUTTI_SUM, [](int rank) { return 10 - 20 * rank; }), -30);
  EXPECT_EQ(run(TUTTI_INT32, TUTTI_MAX, [](int rank) { return -5 - rank; }), -5);
  EXPECT_EQ(run(TUTTI_BFLOAT16, TUTTI_SUM, bf16_bits), 0x40e0);  // 7
  EXPECT_EQ(run(TUTTI_BFLOAT16, TUTTI_MAX, bf16_bits), 0x4080);  // 4
  EXPECT_EQ(world.destroy(), world.all(TUTTI_OK));
}

TEST(OneShotBackend, UnsupportedTouchesNothingAndStaysUsable) {
  TestWorld facts(1);
  World world(facts, 1000);
  ASSERT_EQ(world.create(), world.all(TUTTI_OK));
  float value = 3;
  float out = -1;
  tutti_request request = request_of(&value, &out, 1, world[0].stream);
  request.op = TUTTI_PROD;
  const char* path = "";
  EXPECT_EQ(tutti_plugin()->run(world[0].communicator, &request, &path), TUTTI_UNSUPPORTED);
  EXPECT_STREQ(tutti_plugin()->reason(world[0].communicator), "one_shot has sum and max only");
  EXPECT_EQ(tutti_plugin()->poll_error(world[0].communicator), TUTTI_OK);
  request.op = TUTTI_SUM;
  EXPECT_EQ(tutti_plugin()->run(world[0].communicator, &request, &path), TUTTI_OK);
  world[0].services.stream_synchronize(world[0].services.self, world[0].stream);
  EXPECT_EQ(out, 3);
  EXPECT_EQ(world.destroy(), world.all(TUTTI_OK));
}

TEST(OneShotBackend, AFailureOfOneRankIsTheAnswerOfAll) {
  TestWorld facts(3);
  facts.rank(1).memory_bytes = 4096;
  World poor(facts, 1000);
  EXPECT_EQ(poor.create(), poor.all(TUTTI_ERROR));
  EXPECT_STREQ(tutti_plugin()->reason(nullptr),
               "allocating the region failed on rank 1 with cudaErrorMemoryAllocation (2)");
  EXPECT_EQ(poor.leaks(), "");

  TestWorld fine(3);
  World broken(fine, 1000);
  broken[2].services.import_memory = [](void*, const tutti_memory_handle*, int, void**) {
    return 217;
  };
  EXPECT_EQ(broken.create(), broken.all(TUTTI_UNSUPPORTED));
  EXPECT_STREQ(
      tutti_plugin()->reason(nullptr),
      "importing the region of rank 0 failed on rank 2 with cudaErrorPeerAccessUnsupported (217)");
  EXPECT_EQ(broken.leaks(), "");

  TestWorld apart(3);
  apart.deny(0, 2);
  World denied(apart, 1000);
  EXPECT_EQ(denied.create(), denied.all(TUTTI_UNSUPPORTED));
  EXPECT_EQ(denied.leaks(), "");
}

TEST(OneShotBackend, AnAbsentPeerTimesOut) {
  TestWorld facts(2);
  World world(facts, 50);
  ASSERT_EQ(world.create(), world.all(TUTTI_OK));
  Rank& rank = world[0];
  float value = 3;
  float out = -1;
  const tutti_request request = request_of(&value, &out, 1, rank.stream);
  const char* path = "";
  EXPECT_EQ(tutti_plugin()->run(rank.communicator, &request, &path), TUTTI_OK);
  EXPECT_EQ(tutti_plugin()->run(rank.communicator, &request, &path), TUTTI_OK);
  rank.services.stream_synchronize(rank.services.self, rank.stream);
  EXPECT_EQ(tutti_plugin()->poll_error(rank.communicator), TUTTI_TIMED_OUT);
  EXPECT_STREQ(tutti_plugin()->reason(rank.communicator), "rank 0 waited 50 ms for a peer's flag");
  EXPECT_EQ(tutti_plugin()->run(rank.communicator, &request, &path), TUTTI_TIMED_OUT);
  EXPECT_EQ(out, -1);
  EXPECT_EQ(world.destroy(), world.all(TUTTI_OK));
  EXPECT_EQ(world.leaks(), "");
}

TEST(OneShotBackend, AnAbortEndsPendingWork) {
  TestWorld facts(2);
  World world(facts, 60'000);
  ASSERT_EQ(world.create(), world.all(TUTTI_OK));
  Rank& rank = world[0];
  float value = 3;
  float out = -1;
  const tutti_request request = request_of(&value, &out, 1, rank.stream);
  const char* path = "";
  const auto start = std::chrono::steady_clock::now();
  EXPECT_EQ(tutti_plugin()->run(rank.communicator, &request, &path), TUTTI_OK);
  std::thread aborter([&] { EXPECT_EQ(tutti_plugin()->abort(rank.communicator), TUTTI_OK); });
  rank.services.stream_synchronize(rank.services.self, rank.stream);
  aborter.join();
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(10));
  EXPECT_EQ(tutti_plugin()->poll_error(rank.communicator), TUTTI_ABORTED);
  EXPECT_EQ(out, -1);
  EXPECT_EQ(world.destroy(), world.all(TUTTI_OK));
  EXPECT_EQ(world.leaks(), "");
}

}  // namespace
