// The one-shot kernel and its protocol, with ranks as threads over plain memory. Built with
// ThreadSanitizer as well, which then follows every hand-over of the flags.
#include "kernels/one_shot.h"

#include "kernels/thread_ranks.h"

namespace tutti {
namespace {

using SkewedOneShot = OneShot<Skewed<OneShotProtocol>>;

// Broken on purpose: the slot that slow peers still read is overwritten.
struct SingleSlot : Skewed<OneShotProtocol> {
  static constexpr std::uint64_t slots = 1;
};

TEST(OneShot, RandomCallsFp32Sum) { check_random_calls<SkewedOneShot, float>(TUTTI_SUM); }
TEST(OneShot, RandomCallsBf16Max) { check_random_calls<SkewedOneShot, bfloat16>(TUTTI_MAX); }
TEST(OneShot, RandomCallsInt8Prod) { check_random_calls<SkewedOneShot, std::int8_t>(TUTTI_PROD); }

TEST(OneShot, FullSlots) {
  const std::uint64_t count = OneShot<>::most_bytes / sizeof(float);
  EXPECT_EQ((count_wrong<SkewedOneShot, float>(TUTTI_SUM, 3, 8, 5, same_calls(4, count, 16))), 0u);
}

TEST(OneShot, ManyCalls) {
  EXPECT_EQ((count_wrong<SkewedOneShot, float>(TUTTI_SUM, 4, 4, 5, same_calls(1000, 33, 2))), 0u);
}

// ThreadSanitizer reports these variants as the data races that they are.
#if !defined(__SANITIZE_THREAD__)
TEST(OneShot, ASingleSlotIsCaught) { expect_caught<OneShot<SingleSlot>>(); }
TEST(OneShot, AMissingWaitIsCaught) {
  expect_caught<OneShot<WithoutWait<Skewed<OneShotProtocol>, 1>>>();
}
#endif

TEST(OneShot, AnAbsentPeerEndsAtTheDeadlineAndForGood) {
  check_an_absent_peer<OneShot<>>([](auto& ranks, std::vector<float>& out) {
    const std::vector<float> twos(100, 2.0f);
    run_on_host<OneShot<>, float>(ranks.call(1, twos.data(), out.data(), 100), 4, 4);
    EXPECT_EQ(ranks.control(1).status, kRoundFine);
    EXPECT_EQ(out, std::vector<float>(100, 3.0f));  // that of the first call
  });
}

TEST(OneShot, AnAbortEndsAWait) { check_an_abort<OneShot<>>(); }

TEST(OneShot, CountsOneRoundACall) {
  ThreadRanks<OneShot<>> ranks(1);
  float value = 3;
  for (int i = 0; i < 3; ++i) run_on_host<OneShot<>, float>(ranks.call(0, &value, &value, 1), 2, 2);
  EXPECT_EQ(ranks.state(0).rounds, 3u);
  EXPECT_EQ(value, 3);
}

}  // namespace
}  // namespace tutti
