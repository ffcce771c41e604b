// What a known failure covers, and when it is no longer true.
#include "suites/expectations.h"

#include <gtest/gtest.h>

namespace tutti {
namespace {

class Expectations : public testing::Test {
 protected:
  Expectations() {
    node_.name = node_.device_kind = "host";
    RankFacts facts;
    facts.host = "one";
    facts.peer_access = facts.nvlinks = facts.pcie = {1};
    node_.devices = {facts};
    Allreduce call;
    call.count = 8;
    case_ = case_of(cell_);
    case_.steps = {call};
  }
  bool covers(Verdict verdict) {
    Outcome outcome;
    outcome.verdict = verdict;
    return expected_failure(cell_, case_, outcome) != nullptr;
  }
  // A known failure of the cell, whatever the call.
  void expect(std::vector<Verdict> verdicts, bool flaky) {
    Expected expected;
    expected.path = "ring";
    expected.verdicts = std::move(verdicts);
    expected.flaky = flaky;
    backend_.expected.push_back(expected);
  }
  bool is_contradicted_by_green() {
    GreenAgainstExpected green;
    green.add(cell_, case_);
    return green.contradicted(1) != nullptr;
  }

  Node node_;
  BackendEntry backend_{"some", "", "", false, {}, {}};
  Cell cell_{&properties().front(), &backend_, &node_, {}, 1, "ring", TUTTI_FLOAT32, TUTTI_SUM};
  Case case_;
};

TEST_F(Expectations, CoverTheirVerdictsOnly) {
  EXPECT_FALSE(covers(Verdict::wrong));
  expect({Verdict::wrong, Verdict::hang}, false);
  EXPECT_TRUE(covers(Verdict::wrong));
  EXPECT_TRUE(covers(Verdict::hang));
  EXPECT_FALSE(covers(Verdict::crash));
  cell_.path = "tree";
  EXPECT_FALSE(covers(Verdict::wrong));
}

TEST_F(Expectations, ThatComeAndGoHideNoOtherVerdict) {
  expect({Verdict::wrong}, true);
  EXPECT_TRUE(covers(Verdict::wrong));
  EXPECT_FALSE(covers(Verdict::crash));
  EXPECT_FALSE(covers(Verdict::corrupt));
}

TEST_F(Expectations, AreContradictedByGreenUnlessTheyComeAndGo) {
  expect({Verdict::wrong}, true);
  EXPECT_FALSE(is_contradicted_by_green());
  expect({Verdict::wrong}, false);
  EXPECT_TRUE(is_contradicted_by_green());
}

}  // namespace
}  // namespace tutti
