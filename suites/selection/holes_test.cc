#include "suites/selection/holes.h"

#include <gtest/gtest.h>

namespace tutti {
namespace {

using enum ClaimState;

std::string problem_of(const std::string& answer, ClaimState state, const std::string& path = "") {
  const std::vector<Problem> problems = problems_of(answer, state, path);
  if (problems.empty()) return "";
  return std::string(name_of(problems.front().verdict)) + ": " + problems.front().what;
}

TEST(Problems, GatesCanBeTooOpenAndTooTight) {
  EXPECT_EQ(problem_of("path ring", claimed, "ring"), "");
  EXPECT_EQ(problem_of("path ring", claimed), "");
  EXPECT_EQ(problem_of("path ring", unspecified), "");
  EXPECT_EQ(problem_of("path tree", claimed, "ring"),
            "lost_path: takes path tree, but ring is claimed");
  EXPECT_EQ(problem_of("path ring", refuses),
            "lost_path: takes path ring, but the claims refuse it");
  EXPECT_EQ(problem_of("refused", refuses), "");
  EXPECT_EQ(problem_of("refused: too large", unspecified), "");
  EXPECT_EQ(problem_of("refused", claimed, "ring"), "lost_path: refused, but path ring is claimed");
  EXPECT_EQ(problem_of("silent", refuses), "lost_path: refused without a reason");
  EXPECT_EQ(problem_of("unknown", claimed), "");
  EXPECT_EQ(problem_of("split rank 0: path ring; rank 7: refused", claimed),
            "split: plan split rank #: path ring; rank #: refused");
}

TEST(Problems, EachLineOfAFailureIsOneButForItsNumbers) {
  const std::vector<Problem> two = problems_of(
      "failed KeyError: 12 in sizes\nKeyError: 12 in worlds\nKeyError: 7 in sizes", claimed, "");
  ASSERT_EQ(two.size(), 2u);
  EXPECT_EQ(two[0].what, "plan failed: KeyError: # in sizes");
  EXPECT_EQ(two[1].what, "plan failed: KeyError: # in worlds");
  EXPECT_EQ(problem_of("failed ", claimed), "crash: plan failed without a text");
}

// Two places of one capability each, two requests.
TEST(Holes, OfOneProblemAreOneInFewRules) {
  SweepPlan plan;
  plan.place_axes = {{"capability", {"9.0", "12.0"}}};
  plan.request_axes = {{"size", {"1 element", "2 elements"}}};
  Node& base = plan.sweep.base;
  base.device_kind = "host";
  base.devices.resize(1);
  base.devices[0].host = "one";
  base.devices[0].peer_access = base.devices[0].nvlinks = base.devices[0].pcie = {1};
  plan.sweep.places = {{",capability:9.0", 1}, {",capability:12.0", 1}};
  plan.sweep.requests.resize(2);
  plan.sweep.requests[1].count = 2;
  PlanAnswers answers;
  answers.texts = {"path ring", "failed KeyError: 12"};
  answers.rows = {{0, 0}, {1, 1}};
  answers.row_of = {0, 1};
  const std::vector<Hole> holes = holes_of(plan, answers, {}, Claims{});
  ASSERT_EQ(holes.size(), 1u);
  EXPECT_EQ(holes[0].rules, std::vector<std::string>{"capability 12.0"});
  EXPECT_EQ(holes[0].points, 2u);
  EXPECT_EQ(holes[0].place, 1u);
  const std::vector<Hole> dead =
      holes_of(plan, answers, {{0, Problem{Verdict::crash, "dies"}}}, Claims{});
  ASSERT_EQ(dead.size(), 2u);
  EXPECT_EQ(dead[0].rules, std::vector<std::string>{"capability 9.0"});
}

}  // namespace
}  // namespace tutti
