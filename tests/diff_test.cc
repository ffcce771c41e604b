// Two runs whose libraries differ: what `tutti diff` says of them.
#include "tests/program.h"

namespace tutti::testing {
namespace {

class Diff : public ::testing::Test {
 protected:
  // A run of a sabotaged plugin under the name that all have here.
  std::string run_of(const std::string& name, const std::string& out,
                     const std::vector<std::string>& more = {}) {
    const fs::path source(sabotaged(name));
    fs::create_directories(folder_ / out);
    const fs::path copy = fs::path(folder_ / out) / "vendor.so";
    fs::copy(source, copy);
    fs::copy(fs::path(source).replace_extension(".toml"),
             fs::path(copy).replace_extension(".toml"));
    const std::string report = (copy.parent_path() / "report").string();
    std::vector<std::string> words{"run",       "-np",         "3",
                                   "--backend", copy.string(), "--world",
                                   "3",         "--filter",    "*agreement.exact/*:*bound*",
                                   "--shrink",  "1",           "--out",
                                   report};
    words.insert(words.end(), more.begin(), more.end());
    const CommandResult result = tutti(words);
    EXPECT_LT(result.status, 2) << result.output;
    return report;
  }

  TemporaryFolder folder_;
};

bool has(const CommandResult& result, const std::string& text) {
  return result.output.find(text) != std::string::npos;
}

nlohmann::json report_of(const std::string& folder) {
  std::ifstream file(folder + "/report.json");
  return nlohmann::json::parse(file);
}

TEST_F(Diff, TheSameLibraryGivesTheSameBitsByTheSamePaths) {
  const std::string first = run_of("healthy", "first"), second = run_of("healthy", "second");
  const auto report = report_of(first);
  int carried_out = 0;
  for (const auto& record : report["records"]) {
    EXPECT_EQ(record["bits"].get<std::string>().size(), 16u) << record.dump(1);
    if (record["verdict"] == "refused") continue;
    EXPECT_EQ(record["paths_taken"].size(), 1u) << record.dump(1);
    ++carried_out;
  }
  EXPECT_GT(carried_out, 0);
  const CommandResult result = tutti({"diff", first, second});
  EXPECT_EQ(result.status, 0) << result.output;
  EXPECT_TRUE(has(result, ": no difference")) << result.output;
  EXPECT_FALSE(has(result, "not compared")) << result.output;
  const CommandResult seeded = tutti({"diff", first, run_of("healthy", "third", {"--seed", "9"})});
  EXPECT_EQ(seeded.status, 0) << seeded.output;
  EXPECT_TRUE(has(seeded, "not compared: seed is 1 in A and 9 in B")) << seeded.output;
}

TEST_F(Diff, ABrokenLibraryIsNewlyRedAndTheOtherWayRoundFixed) {
  const std::string good = run_of("healthy", "good"), bad = run_of("drops_rank", "bad");
  const CommandResult broken = tutti({"diff", good, bad + "/report.json"});
  EXPECT_EQ(broken.status, 1) << broken.output;
  EXPECT_TRUE(has(broken, "newly red: ")) << broken.output;
  EXPECT_TRUE(has(broken, "pass -> wrong")) << broken.output;
  EXPECT_TRUE(has(broken, "tutti replay 'tutti1 backend=vendor")) << broken.output;
  const CommandResult mended = tutti({"diff", bad, good});
  EXPECT_EQ(mended.status, 0) << mended.output;
  EXPECT_TRUE(has(mended, "fixed: ")) << mended.output;
  EXPECT_EQ(tutti({"diff", bad, bad}).status, 0);
}

TEST_F(Diff, AJournalAloneWillDo) {
  const std::string good = run_of("healthy", "good"), bad = run_of("drops_rank", "bad");
  fs::remove(bad + "/report.json");
  const CommandResult result = tutti({"diff", good, bad});
  EXPECT_EQ(result.status, 1) << result.output;
  EXPECT_TRUE(has(result, "killed: ")) << result.output;
}

TEST_F(Diff, JsonIsForPrograms) {
  const std::string good = run_of("healthy", "good"), bad = run_of("drops_rank", "bad");
  const CommandResult result = tutti({"diff", good, bad, "--json"});
  const auto json = nlohmann::json::parse(result.output);
  EXPECT_EQ(json["exit_status"], 1);
  EXPECT_FALSE(json["new_red"].empty());
}

TEST_F(Diff, WhatCannotBeComparedIsStatusTwo) {
  const CommandResult absent = tutti({"diff", folder_ / "a", folder_ / "b"});
  EXPECT_EQ(absent.status, 2) << absent.output;
  EXPECT_TRUE(has(absent, folder_ / "a")) << absent.output;
  const std::string exact = run_of("healthy", "good", {"--node", "host"});
  const std::string other = run_of("healthy", "other", {"--node", "h200-nvl8"});
  const CommandResult nothing = tutti({"diff", exact, other});
  EXPECT_EQ(nothing.status, 2) << nothing.output;
  EXPECT_TRUE(has(nothing, "no cell was tested in both")) << nothing.output;
  EXPECT_EQ(tutti({"diff", exact}).status, 2);
}

TEST_F(Diff, UnknownNamesOnTheCommandLineNameTheNearest) {
  const CommandResult option = tutti({"diff", "--jsn", "a", "b"});
  EXPECT_EQ(option.status, 2) << option.output;
  EXPECT_TRUE(has(option, "nearest: --json")) << option.output;
  const CommandResult command = tutti({"dif", "a", "b"});
  EXPECT_EQ(command.status, 2) << command.output;
  EXPECT_TRUE(has(command, "nearest: diff")) << command.output;
}

}  // namespace
}  // namespace tutti::testing
