// The two-shot kernel and its protocol, with ranks as threads over plain memory. Built with
// ThreadSanitizer as well, which then follows every hand-over of the flags.
#include "kernels/two_shot.h"

#include "kernels/thread_ranks.h"

namespace tutti {
namespace {

using SkewedTwoShot = TwoShot<Skewed<RoundProtocol>>;

TEST(TwoShot, RandomCallsFp32Sum) { check_random_calls<SkewedTwoShot, float>(TUTTI_SUM); }
TEST(TwoShot, RandomCallsBf16Max) { check_random_calls<SkewedTwoShot, bfloat16>(TUTTI_MAX); }
TEST(TwoShot, RandomCallsInt8Prod) { check_random_calls<SkewedTwoShot, std::int8_t>(TUTTI_PROD); }

// One pack less, as many, and one more than all parts have together, at all worlds.
TEST(TwoShot, CountsAroundTheParts) {
  for (int world = 1; world <= 8; ++world) {
    std::vector<RandomCall> calls;
    for (int packs = world; packs <= 3 * world; packs += world) {
      for (int count = 4 * packs - 5; count <= 4 * packs + 5; ++count)
        calls.push_back(
            {static_cast<std::uint64_t>(std::max(count, 0)), 1, 3, false, packs % 4 + 1});
    }
    EXPECT_EQ((count_wrong<TwoShot<>, float>(TUTTI_SUM, world, 3, 11, calls)), 0u) << world;
  }
}

TEST(TwoShot, FullInbox) {
  for (const int world : {1, 3, 5}) {
    const std::uint64_t count = TwoShot<>::most_bytes / sizeof(double);
    EXPECT_EQ((count_wrong<SkewedTwoShot, double>(TUTTI_AVG, world, 8, 5,
                                                  same_calls(1, count, kMostBlocks))),
              0u);
  }
}

TEST(TwoShot, ManyCalls) {
  EXPECT_EQ((count_wrong<SkewedTwoShot, float>(TUTTI_SUM, 4, 4, 5, same_calls(1000, 33, 2))), 0u);
}

// ThreadSanitizer reports these variants as the data races that they are.
#if !defined(__SANITIZE_THREAD__)
TEST(TwoShot, AMissingFirstWaitIsCaught) {
  expect_caught<TwoShot<WithoutWait<Skewed<RoundProtocol>, 1>>>();
}
TEST(TwoShot, AMissingSecondWaitIsCaught) {
  expect_caught<TwoShot<WithoutWait<Skewed<RoundProtocol>, 2>>>();
}
#endif

TEST(TwoShot, AnAbsentPeerEndsAtTheDeadlineAndForGood) {
  check_an_absent_peer<TwoShot<>>([](auto& ranks, std::vector<float>& out) {
    const std::vector<float> twos(100, 2.0f);
    ranks.set_deadline_ms(50);  // rank 0 does not come to the second round
    run_on_host<TwoShot<>, float>(ranks.call(1, twos.data(), out.data(), 100), 4, 4);
    EXPECT_EQ(ranks.control(1).status, kRoundTimedOut);
    EXPECT_EQ(out, std::vector<float>(100, 7.0f));
  });
}

TEST(TwoShot, AnAbortEndsAWait) { check_an_abort<TwoShot<>>(); }

TEST(TwoShot, CountsTwoRoundsACall) {
  ThreadRanks<TwoShot<>> ranks(1);
  float value = 3;
  for (int i = 0; i < 3; ++i) run_on_host<TwoShot<>, float>(ranks.call(0, &value, &value, 1), 2, 2);
  EXPECT_EQ(ranks.state(0).rounds, 6u);
  EXPECT_EQ(value, 3);
}

}  // namespace
}  // namespace tutti
