#include "suites/selection/boxes.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <set>

namespace tutti {
namespace {

const std::vector<Axis> kAxes{{"capability", {"9.0", "10.0", "12.0", "12.1"}},
                              {"world", {"2", "3", "4"}},
                              {"multicast", {"no", "yes"}}};

Point point_at(int capability, int world, int multicast) {
  return static_cast<Point>((capability * 3 + world) * 2 + multicast);
}

std::vector<std::string> rules_of(const std::vector<Point>& points) {
  std::vector<std::string> rules;
  for (const Box& box : boxes_of(kAxes, points)) rules.push_back(text_of(kAxes, box));
  return rules;
}

TEST(Boxes, AllIsEverywhere) {
  std::vector<Point> all;
  for (Point point = 0; point < points_of(kAxes); ++point) all.push_back(point);
  EXPECT_EQ(rules_of(all), std::vector<std::string>{"everywhere"});
  EXPECT_TRUE(rules_of({}).empty());
}

TEST(Boxes, SayWhatAllHaveInCommon) {
  std::vector<Point> points;
  for (int capability = 2; capability < 4; ++capability) {
    for (int world = 0; world < 3; ++world) points.push_back(point_at(capability, world, 1));
  }
  EXPECT_EQ(rules_of(points), std::vector<std::string>{"capability 12.0, 12.1; multicast yes"});
  points = {point_at(0, 1, 0), point_at(1, 1, 0), point_at(2, 1, 0),
            point_at(0, 1, 1), point_at(1, 1, 1), point_at(2, 1, 1)};
  EXPECT_EQ(rules_of(points), std::vector<std::string>{"capability 9.0..12.0; world 3"});
}

TEST(Boxes, CoverEachPointOnceAndNothingElse) {
  EXPECT_TRUE(rc::check("the same set", [] {
    const auto chosen =
        *rc::gen::container<std::set<Point>>(rc::gen::inRange<Point>(0, points_of(kAxes)));
    std::multiset<Point> covered;
    for (const Box& box : boxes_of(kAxes, {chosen.begin(), chosen.end()})) {
      for (const int capability : box[0]) {
        for (const int world : box[1]) {
          for (const int multicast : box[2]) covered.insert(point_at(capability, world, multicast));
        }
      }
    }
    RC_ASSERT(covered == std::multiset<Point>(chosen.begin(), chosen.end()));
  }));
}

TEST(Boxes, TwoRulesStayTwo) {
  EXPECT_EQ(rules_of({point_at(0, 0, 0), point_at(3, 2, 1)}).size(), 2u);
}

}  // namespace
}  // namespace tutti
