#include "suites/pace.h"

#include <gtest/gtest.h>

namespace tutti {
namespace {

using std::chrono::seconds;

const Pace::Time kBegin{seconds(100)};

Pace pace_of_four_cells() {
  Pace pace(kBegin, kBegin + seconds(40));
  pace.set_cells(4);
  return pace;
}

TEST(Pace, WithoutATimeNothingIsUsedUp) {
  Pace pace;
  pace.set_cells(1000);
  pace.next_cell();
  pace.next_cell();
  const Pace::Time late = Pace::Time::max() - seconds(1);
  EXPECT_FALSE(pace.is_time_up(late) || pace.is_share_used(late) || pace.is_late(late));
}

TEST(Pace, EachCellHasItsShareAndWhatOthersLeft) {
  Pace pace = pace_of_four_cells();
  pace.next_cell();
  EXPECT_FALSE(pace.is_share_used(kBegin + seconds(9)));
  EXPECT_TRUE(pace.is_share_used(kBegin + seconds(10)));
  pace.next_cell();
  pace.next_cell();
  EXPECT_FALSE(pace.is_share_used(kBegin + seconds(29)));
  EXPECT_FALSE(pace.is_late(kBegin + seconds(29)));
  EXPECT_TRUE(pace.is_late(kBegin + seconds(30)));
}

TEST(Pace, TheFirstCellIsNeverLateAndTheLastHasAllThatIsLeft) {
  Pace pace = pace_of_four_cells();
  pace.next_cell();
  EXPECT_FALSE(pace.is_late(kBegin + seconds(39)));
  for (int i = 0; i < 3; ++i) pace.next_cell();
  EXPECT_FALSE(pace.is_share_used(kBegin + seconds(39)));
  EXPECT_TRUE(pace.is_share_used(kBegin + seconds(40)));
  EXPECT_TRUE(pace.is_time_up(kBegin + seconds(40)));
}

TEST(Pace, MoreCellsThanPlannedMayUseTheTime) {
  Pace pace = pace_of_four_cells();
  for (int i = 0; i < 9; ++i) pace.next_cell();
  EXPECT_FALSE(pace.is_late(kBegin + seconds(39)));
  EXPECT_TRUE(pace.is_late(kBegin + seconds(40)));
}

}  // namespace
}  // namespace tutti
