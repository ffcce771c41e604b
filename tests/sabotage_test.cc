// Backends that are broken on purpose: each is caught, with the verdict that is true and the
// evidence that explains it.
#include <algorithm>

#include "tests/program.h"

namespace tutti::testing {
namespace {

struct Sabotage {
  std::string backend, property, verdict;
  int world;
  std::string in_reason;    // text that the reason has
  std::string in_evidence;  // text that the evidence has, when there is any to expect
  std::string cases = "6";  // of a cell: enough to meet what it does wrong
};

std::string text_of(const nlohmann::json& evidence) {
  std::string text;
  for (const auto& part : evidence) text += part.get<std::string>() + "\n";
  return text;
}

class Sabotaged : public ::testing::TestWithParam<Sabotage> {};

TEST_P(Sabotaged, IsCaughtExplainedAndReplays) {
  const Sabotage& sabotage = GetParam();
  const Finished finished =
      run({"-np", std::to_string(sabotage.world), "--backend", sabotaged(sabotage.backend),
           "--world", std::to_string(sabotage.world), "--filter", "*." + sabotage.property + "/*",
           "--deadline-ms", "1000", "--shrink", "1", "--cases", sabotage.cases});
  EXPECT_EQ(finished.result.status, 1) << finished.result.output;
  ASSERT_TRUE(finished.report.contains("records")) << finished.result.output;
  const auto red = finished.with(sabotage.verdict);
  ASSERT_FALSE(red.empty()) << finished.result.output;
  EXPECT_NE(red[0]["reason"].get<std::string>().find(sabotage.in_reason), std::string::npos)
      << red[0].dump(1);
  EXPECT_NE(text_of(red[0]["evidence"]).find(sabotage.in_evidence), std::string::npos)
      << red[0].dump(1);
  const CommandResult replayed =
      tutti({"replay", red[0]["replay"].get<std::string>(), "--deadline-ms", "1000"});
  EXPECT_EQ(replayed.status, 1) << replayed.output;
  EXPECT_NE(replayed.output.find(sabotage.verdict + ": "), std::string::npos) << replayed.output;
}

bool can_take_backtraces() {
  return !find_program("eu-stack").empty() || !find_program("gdb").empty();
}

const Sabotage kSabotages[] = {
    {"hangs_on_one_rank", "agreement.exact", "hang", 3, "rank 2", ""},
    {"stuck_on_stream", "agreement.exact", "hang", 3, "rank 2",
     can_take_backtraces() ? "backtrace" : ""},
    {"throws", "agreement.exact", "crash", 2, "an exception left the backend", ""},
    {"exits", "agreement.exact", "crash", 2, "called exit()", ""},
    {"aborts", "agreement.exact", "crash", 2, "signal 6", ""},
    {"segfaults", "agreement.exact", "crash", 2, "signal 11", ""},
    {"writes_past_output", "agreement.exact", "corrupt", 2, "behind the end", ""},
    {"changes_input", "agreement.exact", "corrupt", 2, "the input was changed", ""},
    {"wrong_on_last_rank", "agreement.exact", "wrong", 4, "rank 3", ""},
    {"drops_rank", "agreement.exact", "wrong", 3, "rank 1's contribution missing", ""},
    {"stale", "agreement.exact", "wrong", 2, "stale result of call", ""},
    {"splits", "agreement.exact", "split", 3, "unsupported", ""},
    {"lies_about_path", "agreement.exact", "lost_path", 2, "instead of", ""},
    {"refuses_but_touches", "agreement.refusal", "corrupt", 2, "", ""},
    {"accepts_everything", "agreement.refusal", "wrong", 2, "its claims say it refuses", ""},
    {"fails_quietly", "agreement.exact", "lost_path", 2, "", ""},
    {"order_by_call", "agreement.each_time", "wrong", 3, "the same bits each time", ""},
    {"order_by_place", "agreement.split", "wrong", 3, "a message in two calls", ""},
    {"fixed_point", "agreement.scaled", "wrong", 3, "times a power of two", ""},
    {"gate_in_place", "agreement.entry", "lost_path", 2, "refused in place", ""},
    {"gate_by_name", "agreement.entry", "lost_path", 2, "refused when it is named", ""},
    {"gate_by_choice", "agreement.entry", "lost_path", 2, "nothing is chosen", ""},
    {"order_by_name", "agreement.entry", "wrong", 3, "chosen or named", ""},
    {"zero_by_count", "agreement.special", "wrong", 2, "do not follow one rule", "", "60"},
    {"table_with_hole", "selection.sweep", "crash", 1, "11.0..99.0; multicast yes", ""},
    {"plan_segfaults", "selection.sweep", "crash", 1, "capability 99.0; world 9", ""},
    {"plan_dies_alone", "selection.sweep", "crash", 1, "world 1", ""},
    {"plan_by_rank", "selection.sweep", "split", 1, "72", ""},
    {"gate_too_tight", "selection.sweep", "lost_path", 1, "multicast no", ""},
    {"gate_too_tight", "selection.follows", "lost_path", 2, "claimed, but", ""},
    {"leaks", "agreement.create_destroy", "leak", 2, "left behind after destroy", ""},
};

INSTANTIATE_TEST_SUITE_P(All, Sabotaged, ::testing::ValuesIn(kSabotages), [](const auto& info) {
  const std::string& property = info.param.property;
  return info.param.backend + property.substr(property.find('.') + 1);
});

// Design 5.4: wrong only for int32 sum at world 5 and bf16 max at world 8 gives exactly those two
// red cells, in one run.
TEST(Sabotage, TwoCellsAreExactlyTwoCells) {
  const Finished finished = run({"-np", "8", "--backend", sabotaged("two_cells"), "--filter",
                                 "*agreement.exact/*", "--cases", "6"});
  EXPECT_EQ(finished.result.status, 1);
  ASSERT_TRUE(finished.report.contains("records")) << finished.result.output;
  std::vector<std::string> red;
  for (const auto& record : finished.report["records"]) {
    if (record["verdict"] == "pass" || record["verdict"] == "skip") continue;
    red.push_back(fmt::format("w{} {} {} {}", record["world"].get<int>(),
                              record["dtype"].get<std::string>(), record["op"].get<std::string>(),
                              record["verdict"].get<std::string>()));
  }
  std::sort(red.begin(), red.end());
  EXPECT_EQ(red, (std::vector<std::string>{"w5 int32 sum wrong", "w8 bf16 max wrong"}));
}

// A failure that depends on what the same workers did before is replayed with what came before it.
class NeedsEarlier : public ::testing::TestWithParam<std::string> {};

TEST_P(NeedsEarlier, CasesBecomePartOfTheReplayLine) {
  const Finished finished =
      run({"-np", "2", "--backend", sabotaged(GetParam()), "--world", "2", "--filter",
           "*agreement.exact/*", "--cases", "30", "--shrink", "1"});
  ASSERT_EQ(finished.result.status, 1) << finished.result.output;
  const auto red = finished.with("wrong");
  ASSERT_FALSE(red.empty()) << finished.result.output;
  for (const auto& record : red) {
    const std::string line = record["replay"];
    const std::string reason = record["reason"];
    EXPECT_EQ(reason.find("racy"), std::string::npos) << reason << line;
    EXPECT_EQ(tutti({"replay", line}).status, 1) << line;
    if (reason.find("it needs earlier cases") == std::string::npos) continue;
    EXPECT_NE(line.find(" after "), std::string::npos) << line;
    return;
  }
  ADD_FAILURE() << "no record says that it needs earlier cases\n" << finished.result.output;
}

INSTANTIATE_TEST_SUITE_P(Sabotage, NeedsEarlier,
                         ::testing::Values("needs_earlier_call", "needs_earlier_data"),
                         [](const auto& info) { return info.param; });

// Nobody waits for a worker that dies between two answers, so this is racy in fresh workers; but it
// is never lost.
TEST(Sabotage, DeathAfterTheAnswerIsACrash) {
  const Finished finished =
      run({"-np", "2", "--backend", sabotaged("dies_later"), "--world", "2", "--filter",
           "*agreement.exact/*", "--cases", "30", "--shrink", "1"});
  EXPECT_EQ(finished.result.status, 1) << finished.result.output;
  ASSERT_TRUE(finished.report.contains("records")) << finished.result.output;
  const auto red = finished.with("crash");
  ASSERT_FALSE(red.empty()) << finished.result.output;
  EXPECT_NE(red[0]["reason"].get<std::string>().find("signal 6"), std::string::npos)
      << red[0].dump(1);
}

// After the last answer of all: found when its workers are ended, while another backend runs, which
// must take longer than the 300 ms after which the first one dies.
TEST(Sabotage, DeathOfAnIdleWorkerTurnsItsLastCellRed) {
  const Finished finished = run(
      {"-np", "2", "--backend", sabotaged("dies_when_idle") + "," + sabotaged("healthy"), "--world",
       "2", "--filter", "*agreement.exact/*:*healthy*special*:*healthy*bound*", "--cases", "300"});
  EXPECT_EQ(finished.result.status, 1) << finished.result.output;
  ASSERT_TRUE(finished.report.contains("records")) << finished.result.output;
  const auto red = finished.with("crash");
  ASSERT_FALSE(red.empty()) << finished.result.output;
  EXPECT_EQ(red[0]["backend"], "dies_when_idle");
  EXPECT_NE(red[0]["reason"].get<std::string>().find("signal 6"), std::string::npos)
      << red[0].dump(1);
  const std::string line = red[0]["replay"];
  EXPECT_EQ(tutti({"replay", line}).status, 1) << line;
}

// Each cell by its own claims, also where the refusal of another one is judged again.
TEST(Sabotage, RefusedCreateIsRedWhereItIsClaimed) {
  const Finished finished = run({"-np", "2", "--backend", sabotaged("refuses_create"), "--world",
                                 "2", "--filter", "*agreement.exact/*", "--shrink", "1"});
  EXPECT_EQ(finished.result.status, 1) << finished.result.output;
  ASSERT_TRUE(finished.report.contains("records")) << finished.result.output;
  EXPECT_EQ(finished.with("refused").size(), 4u) << finished.result.output;
  const auto lost = finished.with("lost_path");
  ASSERT_EQ(lost.size(), 2u) << finished.result.output;
  EXPECT_EQ(lost[0]["dtype"], "bf16");
  EXPECT_EQ(lost[1]["dtype"], "bf16");
}

TEST(Sabotage, CorrectPluginsOfTheSameKindAreGreen) {
  const Finished finished =
      run({"-np", "4", "--backend", sabotaged("healthy") + "," + sabotaged("short_calls"),
           "--world", "1..4"});
  EXPECT_EQ(finished.result.status, 0) << finished.result.output;
}

TEST(Sabotage, BacktraceOfEveryThreadWhereAToolIsThere) {
  if (!can_take_backtraces()) GTEST_SKIP() << "neither eu-stack nor gdb is there";
  const Finished finished = run({"-np", "2", "--backend", sabotaged("segfaults"), "--world", "2",
                                 "--filter", "*agreement.exact/*"});
  const auto red = finished.with("crash");
  ASSERT_FALSE(red.empty()) << finished.result.output;
  EXPECT_NE(text_of(red[0]["evidence"]).find("segfaults.so"), std::string::npos)
      << text_of(red[0]["evidence"]);
}

}  // namespace
}  // namespace tutti::testing
