// Known failures: one that is there is grey, one that is gone turns the run red, also when its
// entry holds for some cases only.
#include "tests/program.h"

namespace tutti::testing {
namespace {

// A run of a sabotaged plugin with an entry of known failures beside it.
Finished run_with(const std::string& plugin, const std::string& entry,
                  const std::string& cases = "6") {
  const TemporaryFolder folder;
  fs::create_directory(folder / plugin);
  const fs::path source(sabotaged(plugin)), copy = fs::path(folder / plugin) / (plugin + ".so");
  fs::copy(source, copy);
  fs::copy(fs::path(source).replace_extension(".toml"), fs::path(copy).replace_extension(".toml"));
  std::ofstream(copy.parent_path() / "expected.toml")
      << "[[expected]]\nreason = \"known\"\nlink = \"here\"\n"
      << entry;
  return run({"-np", "3", "--backend", copy.string(), "--world", "3", "--filter",
              "*agreement.exact/*", "--shrink", "1", "--cases", cases});
}

std::size_t count(const Finished& finished, const std::string& verdict) {
  return finished.with(verdict).size();
}

TEST(Expected, FailureThatIsThereIsGrey) {
  const Finished finished = run_with("drops_rank", "verdict = \"wrong\"\nop = \"sum\"\n");
  ASSERT_TRUE(finished.report.contains("records")) << finished.result.output;
  EXPECT_EQ(count(finished, "expected_fail"), 3u) << finished.result.output;
  EXPECT_NE(finished.with("expected_fail")[0]["reason"].get<std::string>().find("known (here)"),
            std::string::npos);
}

TEST(Expected, AnotherVerdictIsNotTheKnownOne) {
  const Finished finished = run_with("drops_rank", "verdict = \"hang\"\n");
  EXPECT_EQ(finished.result.status, 1) << finished.result.output;
  EXPECT_EQ(count(finished, "expected_fail"), 0u);
  EXPECT_GE(count(finished, "wrong"), 3u);
}

// In fresh workers only the known failure shows, which must not be taken for the new one.
TEST(Expected, NewFailureIsNotTakenForAKnownOne) {
  const Finished finished =
      run_with("crash_behind_known", "verdict = \"wrong\"\ncount = \"1001..\"\n", "30");
  EXPECT_EQ(finished.result.status, 1) << finished.result.output;
  const auto crashes = finished.with("crash");
  ASSERT_FALSE(crashes.empty()) << finished.result.output;
  EXPECT_NE(crashes[0]["reason"].get<std::string>().find("signal 6"), std::string::npos);
}

TEST(Expected, FailureThatIsGoneIsRed) {
  const Finished finished =
      run_with("healthy", "verdict = \"wrong\"\nop = \"sum\"\ndtype = \"fp32\"\n");
  EXPECT_EQ(finished.result.status, 1) << finished.result.output;
  EXPECT_EQ(count(finished, "unexpected_pass"), 1u) << finished.result.output;
}

TEST(Expected, FailureOfSomeCasesThatIsGoneIsRed) {
  const Finished finished =
      run_with("healthy", "verdict = \"wrong\"\ndtype = \"bf16\"\nalignment = \"..2\"\n");
  EXPECT_EQ(finished.result.status, 1) << finished.result.output;
  EXPECT_EQ(count(finished, "unexpected_pass"), 2u) << finished.result.output;
}

TEST(Expected, FailureThatNoCaseCanShowIsLeftAlone) {
  const Finished finished = run_with("healthy", "verdict = \"wrong\"\ncount = \"1000000000..\"\n");
  EXPECT_EQ(finished.result.status, 0) << finished.result.output;
  EXPECT_EQ(count(finished, "pass"), 6u) << finished.result.output;
}

}  // namespace
}  // namespace tutti::testing
