// A whole backend on simulated devices: its decisions, programs of calls, and what it does when
// something goes wrong. Linked with each backend that is one kernel over peer memory.
#include <rapidcheck.h>

#include <chrono>

#include "backends/peer_kernels/test_ranks.h"

namespace tutti {
namespace {

// A sentence about the backend, whose name stands for $.
std::string named(std::string text) {
  for (auto at = text.find('$'); at != std::string::npos; at = text.find('$'))
    text.replace(at, 1, tutti_plugin()->name);
  return text;
}

std::string plan_of(const TestWorld& world, const tutti_request& request) {
  tutti_plan plan{};
  plan.size = sizeof plan;
  EXPECT_EQ(tutti_plugin()->plan(&world.facts(), 0, &request, &plan), TUTTI_OK);
  return (plan.answer == TUTTI_PLAN_PATH ? "path " : "refused ") + std::string(plan.text);
}

TEST(PeerKernel, PlansAndSaysWhyNot) {
  TestWorld world(4);
  const tutti_request fine = request_of(nullptr, nullptr, 1, nullptr);
  EXPECT_EQ(plan_of(world, fine), named("path $"));
  tutti_request other = fine;
  other.dtype = static_cast<tutti_dtype>(12);
  EXPECT_EQ(plan_of(world, other), named("refused $ has no dtype number 12 with op number 0"));
  other = fine;
  other.op = static_cast<tutti_op>(5);
  EXPECT_EQ(plan_of(world, other), named("refused $ has no dtype number 8 with op number 5"));
  other = fine;
  other.path = "auto";
  EXPECT_EQ(plan_of(world, other), named("refused $ has no path auto, only $"));
  other = fine;
  other.extension = &world;
  EXPECT_EQ(plan_of(world, other), named("refused $ has no fused forms"));
  world.deny(2, 1);
  EXPECT_EQ(plan_of(world, fine),
            named("refused rank 2 has no peer access to rank 1, and $ needs it between all ranks"));
  TestWorld hosts(2);
  hosts.rank(1).host = "there";
  EXPECT_EQ(plan_of(hosts, fine),
            named("refused rank 1 is on host there and rank 0 on here, but $ needs one host"));
  EXPECT_EQ(plan_of(TestWorld(32), fine), named("path $"));
  EXPECT_EQ(plan_of(TestWorld(33), fine), named("refused 33 ranks, but $ has room for 32"));
}

float input(int rank, std::size_t call, std::uint64_t i) {
  return static_cast<float>((i * 7 + call * 13 + static_cast<std::uint64_t>(rank) * 31) % 1021);
}

TEST(PeerKernel, RandomProgramsGiveExactSums) {
  const bool held = rc::check("sums are exact, in place or not, over streams and chunks", [] {
    TestWorld facts(*rc::gen::inRange(1, 5));
    TestRanks world(facts, 20'000);
    const auto delays = *rc::gen::element<std::uint64_t>(0, 1, 2, 3);
    const auto counts = *rc::gen::container<std::vector<std::uint64_t>>(
        *rc::gen::inRange<std::size_t>(1, 7),
        rc::gen::element<std::uint64_t>(0, 1, 3, 1025, 40'000, 262'144, 262'145, 600'000));
    const auto in_place = *rc::gen::arbitrary<bool>();
    const auto two_streams = *rc::gen::arbitrary<bool>();
    RC_ASSERT(world.create() == world.all(TUTTI_OK));
    const auto statuses = world.on_all([&](TestRank& rank) {
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
        status = rank.run(request);
        if (status != TUTTI_OK) return status;
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

TEST(PeerKernel, UnsupportedTouchesNothingAndStaysUsable) {
  TestWorld facts(1);
  TestRanks world(facts, 1000);
  ASSERT_EQ(world.create(), world.all(TUTTI_OK));
  float value = 3;
  float out = -1;
  tutti_request request = request_of(&value, &out, 1, world[0].stream);
  request.op = static_cast<tutti_op>(5);
  EXPECT_EQ(world[0].run(request), TUTTI_UNSUPPORTED);
  EXPECT_STREQ(tutti_plugin()->reason(world[0].communicator),
               named("$ has no dtype number 8 with op number 5").c_str());
  EXPECT_EQ(tutti_plugin()->poll_error(world[0].communicator), TUTTI_OK);
  request.op = TUTTI_SUM;
  EXPECT_EQ(world[0].run(request), TUTTI_OK);
  world[0].synchronize();
  EXPECT_EQ(out, 3);
  EXPECT_EQ(world.destroy(), world.all(TUTTI_OK));
}

TEST(PeerKernel, AFailureOfOneRankIsTheAnswerOfAll) {
  TestWorld facts(3);
  facts.rank(1).memory_bytes = 4096;
  TestRanks poor(facts, 1000);
  EXPECT_EQ(poor.create(), poor.all(TUTTI_ERROR));
  EXPECT_STREQ(tutti_plugin()->reason(nullptr),
               "allocating the region failed on rank 1 with cudaErrorMemoryAllocation (2)");
  EXPECT_EQ(poor.leaks(), "");

  TestWorld fine(3);
  TestRanks broken(fine, 1000);
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
  TestRanks denied(apart, 1000);
  EXPECT_EQ(denied.create(), denied.all(TUTTI_UNSUPPORTED));
  EXPECT_EQ(denied.leaks(), "");
}

TEST(PeerKernel, AnAbsentPeerTimesOut) {
  TestWorld facts(2);
  TestRanks world(facts, 50);
  ASSERT_EQ(world.create(), world.all(TUTTI_OK));
  TestRank& rank = world[0];
  float value = 3;
  float out = -1;
  const tutti_request request = request_of(&value, &out, 1, rank.stream);
  EXPECT_EQ(rank.run(request), TUTTI_OK);
  EXPECT_EQ(rank.run(request), TUTTI_OK);
  rank.synchronize();
  EXPECT_EQ(tutti_plugin()->poll_error(rank.communicator), TUTTI_TIMED_OUT);
  EXPECT_STREQ(tutti_plugin()->reason(rank.communicator), "rank 0 waited 50 ms for a peer's flag");
  EXPECT_EQ(rank.run(request), TUTTI_TIMED_OUT);
  EXPECT_EQ(out, -1);
  EXPECT_EQ(world.destroy(), world.all(TUTTI_OK));
  EXPECT_EQ(world.leaks(), "");
}

TEST(PeerKernel, AnAbortEndsPendingWork) {
  TestWorld facts(2);
  TestRanks world(facts, 60'000);
  ASSERT_EQ(world.create(), world.all(TUTTI_OK));
  TestRank& rank = world[0];
  float value = 3;
  float out = -1;
  const tutti_request request = request_of(&value, &out, 1, rank.stream);
  const auto start = std::chrono::steady_clock::now();
  EXPECT_EQ(rank.run(request), TUTTI_OK);
  std::thread aborter([&] { EXPECT_EQ(tutti_plugin()->abort(rank.communicator), TUTTI_OK); });
  rank.synchronize();
  aborter.join();
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(10));
  EXPECT_EQ(tutti_plugin()->poll_error(rank.communicator), TUTTI_ABORTED);
  EXPECT_EQ(out, -1);
  EXPECT_EQ(world.destroy(), world.all(TUTTI_OK));
  EXPECT_EQ(world.leaks(), "");
}

}  // namespace
}  // namespace tutti
