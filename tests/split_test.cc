// A call in two parts is judged as one: what a part comes to is what the call comes to.
#include "tests/program.h"

namespace tutti::testing {
namespace {

struct Split {
  std::string name, call;
  int status;
  std::string verdict;  // and what is said of it
};

class SplitCall : public ::testing::TestWithParam<Split> {};

TEST_P(SplitCall, IsJudgedAsOne) {
  const std::string plugin = sabotaged("short_calls");
  const CommandResult result = tutti(
      {"replay", "tutti1 backend=short_calls plugin=" + plugin +
                     " path=direct property=agreement.exact device=host node=host world=2 seed=5 " +
                     "delays=0 faults=none : allreduce dtype=fp32 op=sum data=exact " +
                     GetParam().call});
  EXPECT_EQ(result.status, GetParam().status) << result.output;
  EXPECT_NE(result.output.find("\n" + GetParam().verdict), std::string::npos) << result.output;
}

INSTANTIATE_TEST_SUITE_P(
    All, SplitCall,
    ::testing::Values(Split{"in_two", "count=100 split=50", 0, "pass: "},
                      Split{"behind_its_end", "count=100 split=100", 0, "pass: "},
                      Split{"in_place", "count=100 split=1 place=in", 0, "refused: "},
                      Split{"the_first_refused", "count=100 split=2", 0,
                            "refused: run said unsupported: too short"},
                      // What the first part wrote is no touched output of a refusal.
                      Split{"the_second_refused", "count=100 split=98", 0,
                            "refused: run said unsupported: too short"},
                      Split{"by_two_paths", "count=100 split=5", 0,
                            "fell_back: call 0: path short+direct instead of direct"}),
    [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace tutti::testing
