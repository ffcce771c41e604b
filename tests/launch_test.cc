// Launches that cannot work end with status 2 and a plain sentence; those that can give the same
// cases for the same seed.
#include <algorithm>

#include "tests/program.h"

namespace tutti::testing {
namespace {

CommandResult command(std::vector<std::string> arguments) {
  CommandOptions options;
  options.timeout = std::chrono::seconds(120);
  options.with_errors = true;
  options.bytes_max = 1u << 20;
  return run_command(arguments, options);
}

std::vector<std::string> mpirun(std::vector<std::string> rest) {
  std::vector<std::string> words{"env",
                                 "OMPI_ALLOW_RUN_AS_ROOT=1",
                                 "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1",
                                 "OMPI_MCA_plm_rsh_agent=",
                                 "mpirun",
                                 "--oversubscribe",
                                 "--bind-to",
                                 "none"};
  words.insert(words.end(), rest.begin(), rest.end());
  return words;
}

TEST(Launch, SingletonsThatShouldBeAWorld) {
  const CommandResult result = command({"env", "PMI_RANK=0", "PMI_SIZE=4", program(), "run"});
  EXPECT_EQ(result.status, 2) << result.output;
  EXPECT_NE(result.output.find("MPI sees a world of 1"), std::string::npos) << result.output;
}

TEST(Launch, DifferentOptionsOnDifferentRanks) {
  const CommandResult result = command(mpirun({"-np", "1", program(), "run", "--seed", "1", ":",
                                               "-np", "1", program(), "run", "--seed", "2"}));
  EXPECT_EQ(result.status, 2) << result.output;
  EXPECT_NE(result.output.find("other options"), std::string::npos) << result.output;
}

TEST(Launch, NothingToRun) {
  const Finished finished = run({"-np", "1", "--backend", "one_shot", "--filter", "no such test"});
  EXPECT_EQ(finished.result.status, 2) << finished.result.output;
  EXPECT_NE(finished.result.output.find("nothing was tested"), std::string::npos)
      << finished.result.output;
}

TEST(Launch, WorldLargerThanTheJob) {
  const CommandResult result = tutti({"run", "-np", "2", "--world", "3"});
  EXPECT_EQ(result.status, 2) << result.output;
  EXPECT_NE(result.output.find("-np 3"), std::string::npos) << result.output;
}

TEST(Launch, UnknownBackendAndNodeNameTheNearest) {
  const CommandResult backend = tutti({"run", "-np", "1", "--backend", "one_shoot"});
  EXPECT_EQ(backend.status, 2);
  EXPECT_NE(backend.output.find("one_shot"), std::string::npos) << backend.output;
  const CommandResult node = tutti({"run", "-np", "1", "--backend", "one_shot", "--node", "hosst"});
  EXPECT_EQ(node.status, 2);
  EXPECT_NE(node.output.find("host"), std::string::npos) << node.output;
}

TEST(Launch, RangesOfWorldsAreCheckedBeforeTheyAreMade) {
  const CommandResult large = tutti({"run", "-np", "2", "--world", "1..2147483647"});
  EXPECT_EQ(large.status, 2);
  EXPECT_NE(large.output.find("needs 2147483647 ranks"), std::string::npos) << large.output;
  const auto lines = [](const std::string& worlds) {
    const TemporaryFolder folder;
    const Finished finished = run({"-np", "2", "--backend", "one_shot", "--filter", "*exact*",
                                   "--world", worlds, "--trace", folder / "trace"});
    EXPECT_EQ(finished.result.status, 0) << finished.result.output;
    return lines_of(folder / "trace");
  };
  const auto twice = lines("2,1..2");
  EXPECT_FALSE(twice.empty());
  EXPECT_EQ(twice, lines("2,1"));
  const CommandResult backwards = tutti({"run", "-np", "2", "--world", "2..1"});
  EXPECT_EQ(backwards.status, 2);
  EXPECT_NE(backwards.output.find("goes backwards; write 1..2"), std::string::npos)
      << backwards.output;
}

TEST(Launch, TimesAreNumbersOfSeconds) {
  for (const std::string time : {"nan", "1e300", "0", "-1", "soon"}) {
    const CommandResult result = tutti({"run", "-np", "1", "--time", time});
    EXPECT_EQ(result.status, 2) << time;
    EXPECT_NE(result.output.find("write seconds"), std::string::npos) << result.output;
  }
}

// 24 lines of 80 columns.
TEST(Help, FitsAScreen) {
  for (const std::string command : {"run", "list", "replay", "bench", "doctor", "diff"}) {
    const CommandResult help = tutti({command, "--help"});
    EXPECT_EQ(help.status, 0);
    std::istringstream text(help.output);
    int lines = 0;
    for (std::string line; std::getline(text, line); ++lines)
      EXPECT_LE(line.size(), 80u) << command << ": " << line;
    EXPECT_LE(lines, 24) << help.output;
    EXPECT_GT(lines, 3) << help.output;
  }
}

TEST(Launch, UsersOwnMpirunLine) {
  const TemporaryFolder folder;
  const CommandResult result =
      command(mpirun({"-np", "3", program(), "run", "--backend", "one_shot", "--world", "3",
                      "--filter", "*exact*", "--out", folder / "out"}));
  EXPECT_EQ(result.status, 0) << result.output;
}

TEST(Launch, WithoutIsolation) {
  const Finished finished = run({"-np", "2", "--backend", "one_shot,gloo", "--isolation", "none"});
  EXPECT_EQ(finished.result.status, 0) << finished.result.output;
}

TEST(Launch, WithoutIsolationBackendsWithTheirOwnWorkerAreLeftOutOrRefused) {
  const std::string with_worker = (lib_folder() / "examples" / "example_python").string();
  const CommandResult named =
      tutti({"run", "-np", "1", "--isolation", "none", "--backend", with_worker});
  EXPECT_EQ(named.status, 2) << named.output;
  EXPECT_NE(named.output.find("a worker of its own"), std::string::npos) << named.output;
}

TEST(Launch, TwoBackendsOfOneName) {
  const CommandResult result = tutti({"run", "-np", "1", "--backend", "one_shot,one_shot"});
  EXPECT_EQ(result.status, 2) << result.output;
  EXPECT_NE(result.output.find("two backends are called one_shot"), std::string::npos)
      << result.output;
}

TEST(Launch, AFolderWithRecordsIsRefusedAndKept) {
  const TemporaryFolder folder;
  const std::vector<std::string> words{"run",      "-np",     "1",           "--backend",
                                       "one_shot", "--cases", "1",           "--filter",
                                       "*exact*",  "--out",   folder / "out"};
  ASSERT_EQ(tutti(words).status, 0);
  const auto before = lines_of(folder / "out/records.jsonl");
  const CommandResult again = tutti(words);
  EXPECT_EQ(again.status, 2) << again.output;
  EXPECT_NE(again.output.find("records.jsonl"), std::string::npos) << again.output;
  EXPECT_EQ(lines_of(folder / "out/records.jsonl"), before);
}

TEST(Launch, VariablesOfGoogleTestDoNotActOnARun) {
  const TemporaryFolder folder;
  const auto records = [&](const std::string& name, std::vector<std::string> words) {
    const std::vector<std::string> run{program(),   "run",      "-np",     "2",
                                       "--backend", "one_shot", "--cases", "1",
                                       "--filter",  "*exact*",  "--out",   folder / name};
    words.insert(words.end(), run.begin(), run.end());
    const CommandResult result = command(words);
    EXPECT_EQ(result.status, 0) << result.output;
    return lines_of(folder / (name + "/records.jsonl")).size();
  };
  const std::size_t plain = records("plain", {"env"});
  EXPECT_GT(plain, 0u);
  EXPECT_EQ(records("set", {"env", "GTEST_TOTAL_SHARDS=2", "GTEST_SHARD_INDEX=0", "GTEST_REPEAT=2",
                            "GTEST_OUTPUT=xml:" + folder / "out.xml"}),
            plain);
  EXPECT_FALSE(fs::exists(folder / "out.xml"));
}

TEST(Launch, ReportsGoBelowTheFolderThatTheScriptNames) {
  const TemporaryFolder folder;
  const CommandResult result =
      command({"env", "TUTTI_REPORTS_BASE=" + folder / "base", program(), "run", "-np", "1",
               "--backend", "one_shot", "--cases", "1", "--filter", "*exact*"});
  EXPECT_EQ(result.status, 0) << result.output;
  EXPECT_TRUE(fs::exists(folder / "base/reports/out/latest/report.json")) << result.output;
}

TEST(Bench, MeasuresTheBackendThatIsNamed) {
  const CommandResult result = tutti({"bench", "overhead", "-np", "2", "--backend", "one_shot"});
  EXPECT_EQ(result.status, 0) << result.output;
  EXPECT_NE(result.output.find("ranks that wait"), std::string::npos) << result.output;
}

TEST(Bench, AnUnknownSubjectIsRefusedWithTheNearest) {
  const CommandResult result = tutti({"bench", "latnecy"});
  EXPECT_EQ(result.status, 2) << result.output;
  EXPECT_NE(result.output.find("nearest: latency"), std::string::npos) << result.output;
}

TEST(Bench, SizesAreOfWholeElementsAndNotTooLarge) {
  for (const std::string size : {"0", "00", "-4", "6", "012", "0x8", "99999999999999999999", "2GiB",
                                 "8EiB", "1.5KiB", "4XB", "much"}) {
    const CommandResult result = tutti({"bench", "latency", "--size", size});
    EXPECT_EQ(result.status, 2) << size;
    EXPECT_NE(result.output.find("--size: "), std::string::npos) << result.output;
  }
}

TEST(Bench, TheFirstOfLatencyIsTheOneWithAReference) {
  const CommandResult result =
      tutti({"bench", "latency", "-np", "2", "--node", "host", "--backend", "one_shot,gloo"});
  EXPECT_EQ(result.status, 0) << result.output;
  const auto base = result.output.find("gloo  "), other = result.output.find("one_shot  ");
  ASSERT_NE(base, std::string::npos) << result.output;
  ASSERT_NE(other, std::string::npos) << result.output;
  EXPECT_LT(base, other) << result.output;
  EXPECT_NE(result.output.find("(1.00)", base), std::string::npos) << result.output;
}

TEST(Doctor, ShowsTheNodeAndThePathsThatBackendsWouldTake) {
  const CommandResult result = tutti({"doctor", "--node", "rtx-pro-6000-pcie8", "--rank",
                                      "2:no_peer", "--backend", "one_shot,gloo", "--world", "2,4"});
  EXPECT_EQ(result.status, 0) << result.output;
  for (const std::string text :
       {"12.0", "multicast no", "PIX", "SYS", "world 2: ", "world 4: ",
        "refused: rank 2 has no peer access to rank 0, and one_shot needs it"})
    EXPECT_NE(result.output.find(text), std::string::npos) << text << "\n" << result.output;
  const CommandResult unknown = tutti({"doctor", "--node", "rtx-pro-6000"});
  EXPECT_EQ(unknown.status, 2);
  EXPECT_NE(unknown.output.find("nearest: rtx-pro-6000-pcie8"), std::string::npos)
      << unknown.output;
}

TEST(Replay, ALineThatOnlyAsksPlanNeedsNoRanks) {
  const CommandResult result = tutti({"replay",
                                      "tutti1 backend=one_shot property=selection.sweep world=72 "
                                      "node=h200-nvl8,devices:72 : allreduce count=1"});
  EXPECT_EQ(result.status, 0) << result.output;
  EXPECT_NE(result.output.find("mpirun -q -np 1 "), std::string::npos) << result.output;
  EXPECT_NE(result.output.find("plan says: refused: 72 ranks"), std::string::npos) << result.output;
}

TEST(Seed, SameSeedSameCasesAndFewerUnderTime) {
  const TemporaryFolder folder;
  const auto trace = [&](const std::string& name, std::vector<std::string> more) {
    more.insert(more.begin(), {"-np", "2", "--backend", "one_shot", "--filter", "*exact*",
                               "--trace", folder / name});
    run(more);
    return lines_of(folder / name);
  };
  const auto first = trace("first", {"--seed", "11"});
  ASSERT_FALSE(first.empty());
  EXPECT_EQ(first, trace("second", {"--seed", "11"}));
  EXPECT_NE(first, trace("third", {"--seed", "12"}));
  const auto many = trace("many", {"--seed", "11", "--cases", "400"});
  const auto timed = trace("timed", {"--seed", "11", "--cases", "400", "--time", "1"});
  ASSERT_FALSE(timed.empty());
  ASSERT_LT(timed.size(), many.size()) << "400 cases a cell should need more than a second";
  // The same ones, in the same order; how the time is shared is for pace_test.
  auto at = many.begin();
  for (const std::string& line : timed) {
    at = std::find(at, many.end(), line);
    ASSERT_NE(at, many.end()) << line;
    ++at;
  }
}

}  // namespace
}  // namespace tutti::testing
