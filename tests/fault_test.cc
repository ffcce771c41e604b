// A worker that is killed, stopped or late at each phase: the world survives, the verdict says what
// happened.
#include "tests/program.h"

namespace tutti::testing {
namespace {

std::string line_with(const std::string& faults) {
  return fmt::format(
      "tutti1 backend=one_shot path=one_shot property=agreement.exact device=host node=host "
      "world=3 seed=7 delays=0 "
      "faults={} : allreduce dtype=fp32 op=sum count=1000 send_offset=0 recv_offset=0 place=out "
      "data=exact ; sync ; "
      "allreduce dtype=fp32 op=sum count=10 send_offset=0 recv_offset=0 place=out data=exact",
      faults);
}

CommandResult replay(const std::string& faults) {
  return tutti({"replay", line_with(faults), "--deadline-ms", "1500"});
}

class KilledIn : public ::testing::TestWithParam<std::string> {};

TEST_P(KilledIn, IsACrashThatNamesThePhase) {
  const CommandResult result = replay("worker_killed@" + GetParam() + ":1#1");
  EXPECT_EQ(result.status, 1) << result.output;
  EXPECT_NE(result.output.find("crash: rank 1's worker died"), std::string::npos) << result.output;
  EXPECT_NE(result.output.find("killed by signal 9"), std::string::npos) << result.output;
  EXPECT_NE(result.output.find("fired: worker_killed@" + GetParam()), std::string::npos)
      << result.output;
}

INSTANTIATE_TEST_SUITE_P(EachPhase, KilledIn,
                         ::testing::Values("create", "run", "between", "destroy"),
                         [](const auto& info) { return info.param; });

TEST(Fault, StoppedWorkerIsAHangThatNamesEveryWait) {
  const CommandResult result = replay("worker_stopped@run:2#1");
  EXPECT_EQ(result.status, 1) << result.output;
  EXPECT_NE(result.output.find("hang: "), std::string::npos) << result.output;
  EXPECT_NE(result.output.find("rank 2 in"), std::string::npos) << result.output;
}

TEST(Fault, LateWorkerChangesNothing) {
  const CommandResult result = replay("worker_late@run:0#1");
  EXPECT_EQ(result.status, 0) << result.output;
  EXPECT_NE(result.output.find("pass: "), std::string::npos) << result.output;
}

TEST(Fault, ThatNeverComesIsUnfired) {
  const CommandResult result = replay("worker_late@run:0#99");
  EXPECT_EQ(result.status, 1) << result.output;
  EXPECT_NE(result.output.find("unfired: "), std::string::npos) << result.output;
}

TEST(Fault, SwitchedOffIsGreen) { EXPECT_EQ(replay("none").status, 0); }

TEST(Fault, UnknownOneIsRefusedWithTheNearest) {
  const CommandResult result = replay("worker_kiled@run:0#1");
  EXPECT_EQ(result.status, 2) << result.output;
  EXPECT_NE(result.output.find("worker_killed"), std::string::npos) << result.output;
}

}  // namespace
}  // namespace tutti::testing
