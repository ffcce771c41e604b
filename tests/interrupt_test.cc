// A run that is ended from outside: nothing is left behind, and the journal is kept.
#include <fmt/ranges.h>

#include <algorithm>
#include <csignal>

#include "tests/background.h"

namespace tutti::testing {
namespace {

struct Ending {
  const char* name;
  int signal;
  const char* target;  // tutti, its mpirun, or the group, as a shell's kill %1 and timeout do
};

class EndedBy : public ::testing::TestWithParam<Ending> {};

TEST_P(EndedBy, LeavesNothingAndMarksTheRunIncomplete) {
  const TemporaryFolder folder;
  const std::string out = folder / "out";
  const auto shm_before = names_in_shm();
  Background background("one_shot", out, fmt::format("{}-{}", GetParam().name, ::getpid()));
  ASSERT_TRUE(wait_for_records(out)) << "no record within 30 s";
  const std::string target = GetParam().target;
  const pid_t pid = target == "mpirun" ? mpirun_of(background) : background.pid();
  ASSERT_GT(pid, 0);
  ::kill(target == "group" ? -pid : pid, GetParam().signal);
  const int status = background.wait(std::chrono::seconds(30));
  ASSERT_NE(status, -1) << "tutti did not end";
  EXPECT_EQ(status, 2);
  EXPECT_EQ(left_after(background), std::vector<std::string>{});
  EXPECT_EQ(left_in_shm(shm_before), std::vector<std::string>{});
  std::ifstream file(out + "/report.json");
  ASSERT_TRUE(file) << "no report.json";
  const auto report = nlohmann::json::parse(file);
  EXPECT_FALSE(report["complete"].get<bool>());
  EXPECT_EQ(report["records"].size(), lines_of(out + "/records.jsonl").size());
}

INSTANTIATE_TEST_SUITE_P(Signals, EndedBy,
                         ::testing::Values(Ending{"IntToTutti", SIGINT, "tutti"},
                                           Ending{"TermToMpirun", SIGTERM, "mpirun"},
                                           Ending{"TermToGroup", SIGTERM, "group"}),
                         [](const auto& info) { return info.param.name; });

TEST(Director, KilledKeepsTheJournalAndLeavesNoProcess) {
  const TemporaryFolder folder;
  const std::string out = folder / "out";
  Background background("one_shot", out, fmt::format("director-{}", ::getpid()));
  ASSERT_TRUE(wait_for_records(out)) << "no record within 30 s";
  ASSERT_NO_FATAL_FAILURE(kill_director(background));
  const auto lines = lines_of(out + "/records.jsonl");
  ASSERT_FALSE(lines.empty());
  EXPECT_NO_THROW(nlohmann::json::parse(lines.front()));
}

}  // namespace
}  // namespace tutti::testing
