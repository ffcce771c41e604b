#include "suites/pace.h"

#include <gtest/gtest.h>

namespace tutti {
namespace {

using std::chrono::seconds;

const Pace::Time kBegin{seconds(100)};

// After the begin.
Pace::Time at(int number) { return kBegin + seconds(number); }

// Two tests in 80 seconds, the first of them of four cells.
Pace pace_of_two_tests() {
  Pace pace(at(80));
  pace.set_tests(2, at(0));
  pace.begin_test(4, at(0));
  return pace;
}

TEST(Pace, WithoutATimeNothingIsUsedUp) {
  Pace pace;
  pace.set_tests(1000, at(0));
  pace.begin_test(5, at(0));
  pace.begin_cell();
  pace.begin_cell();
  const Pace::Time late = Pace::Time::max() - seconds(1);
  EXPECT_FALSE(pace.is_time_up(late) || pace.is_share_used(late) || pace.is_late(late));
}

TEST(Pace, EachCellHasItsShareAndWhatOthersLeft) {
  Pace pace = pace_of_two_tests();
  pace.begin_cell();
  EXPECT_FALSE(pace.is_share_used(at(9)));
  EXPECT_TRUE(pace.is_share_used(at(10)));
  pace.begin_cell();
  pace.begin_cell();
  EXPECT_FALSE(pace.is_share_used(at(29)));
  EXPECT_FALSE(pace.is_late(at(29)));
  EXPECT_TRUE(pace.is_late(at(30)));
}

TEST(Pace, TheFirstCellOfATestThatHasItsTurnIsNotLate) {
  Pace pace = pace_of_two_tests();
  pace.begin_cell();
  EXPECT_FALSE(pace.is_late(at(79)));
  pace.begin_test(4, at(79));
  pace.begin_cell();
  EXPECT_FALSE(pace.is_late(at(80)));
  EXPECT_TRUE(pace.is_time_up(at(80)));
}

TEST(Pace, TellsWhatIsLeftOfATest) {
  EXPECT_GT(Pace().seconds_left(at(1'000'000)), 1e6);
  const Pace pace = pace_of_two_tests();
  EXPECT_DOUBLE_EQ(pace.seconds_left(at(15)), 25);
  EXPECT_DOUBLE_EQ(pace.seconds_left(at(50)), 0);
}

TEST(Pace, TheLastTestHasAllThatIsLeft) {
  Pace pace = pace_of_two_tests();
  pace.begin_test(1, at(5));
  pace.begin_cell();
  EXPECT_FALSE(pace.is_share_used(at(79)));
  EXPECT_TRUE(pace.is_share_used(at(80)));
}

TEST(Pace, WhatATestUsesTooMuchDelaysTheNext) {
  Pace pace(at(100));
  pace.set_tests(5, at(0));
  pace.begin_test(1, at(0));
  pace.begin_test(1, at(20 + 16));  // 64 seconds for four
  pace.begin_cell();
  EXPECT_FALSE(pace.is_share_used(at(36 + 15)));
  EXPECT_TRUE(pace.is_share_used(at(36 + 16)));
}

TEST(Pace, ATestWhoseTurnIsOverIsLeftOut) {
  Pace pace(at(100));
  pace.set_tests(5, at(0));
  pace.begin_test(1, at(0));
  for (int turn = 1; turn < 3; ++turn) {  // until 40 and 60
    pace.begin_test(9, at(65));
    pace.begin_cell();
    EXPECT_TRUE(pace.is_late(at(65))) << turn;
  }
  pace.begin_test(9, at(65));  // until 80
  pace.begin_cell();
  EXPECT_FALSE(pace.is_late(at(65)));
}

TEST(Pace, MoreTestsAndCellsThanSaidMayUseTheTime) {
  Pace pace = pace_of_two_tests();
  pace.begin_test(1, at(10));
  pace.begin_test(1, at(20));
  for (int i = 0; i < 9; ++i) pace.begin_cell();
  EXPECT_FALSE(pace.is_late(at(79)));
  EXPECT_TRUE(pace.is_late(at(80)));
}

}  // namespace
}  // namespace tutti
