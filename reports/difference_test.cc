// Runs read from the disk, and their difference as text and JSON.
#include "reports/difference.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>

#include "fixtures/world/temporary_folder.h"
#include "reports/report.h"
#include "reports/sample_record.h"

namespace tutti {
namespace {

RunInfo sample_info() {
  RunInfo info;
  info.machine = {{"host", "vm"}, {"driver", "570.1"}, {"node", "host"}};
  info.options = {{"profile", "quick"}, {"ranks", 4}, {"seed", 1}, {"cases", 0}};
  info.complete = true;
  return info;
}

StoredRun stored(const std::vector<Record>& records, RunInfo info = sample_info()) {
  return {"there", true, std::move(info), records, 0};
}

Record numbered(int number, const std::string& dtype = "fp32") {
  Record record = sample_record();
  record.world = number;
  record.dtype = *parse<Dtype>(dtype);
  return record;
}

std::string text_of(const StoredRun& before, const StoredRun& after) {
  return to_text(difference_of(before, after));
}

std::string message_of(const std::string& path) {
  try {
    read_run(path);
  } catch (const std::runtime_error& error) {
    return error.what();
  }
  return "no error";
}

TEST(Difference, TellsHowMuchOfAIsOfEarlierRuns) {
  StoredRun before = stored({sample_record()});
  EXPECT_EQ(text_of(before, stored({sample_record()})).find("earlier runs"), std::string::npos);
  before.filled = 3;
  EXPECT_NE(text_of(before, stored({sample_record()})).find("3 cells of A"), std::string::npos);
  EXPECT_EQ(to_json(difference_of(before, before))["a"]["filled"], 3);
}

TEST(StoredRun, IsReadFromItsFolderOrItsReport) {
  const TemporaryFolder folder;
  write_reports(folder.path(), sample_info(), {sample_record(), red_record()});
  for (const std::string& path : {folder.path(), folder.path() + "/report.json"}) {
    const StoredRun run = read_run(path);
    EXPECT_EQ(run.records.size(), 2u);
    EXPECT_TRUE(run.has_report && run.info.complete);
    EXPECT_EQ(run.info.machine["driver"], "570.1");
  }
}

TEST(StoredRun, OfAKilledRunIsItsJournal) {
  const TemporaryFolder folder;
  Journal(folder.path()).append(sample_record());
  Journal(folder.path()).append(red_record());
  for (const std::string& path : {folder.path(), folder.path() + "/records.jsonl"}) {
    const StoredRun run = read_run(path);
    EXPECT_EQ(run.records.size(), 2u);
    EXPECT_FALSE(run.has_report || run.info.complete);
    const std::string text = text_of(stored({sample_record()}), run);
    EXPECT_TRUE(contains(text, "killed: 2 records")) << text;
    EXPECT_TRUE(contains(text, "newly red: 1")) << text;
    EXPECT_TRUE(contains(text, "not compared")) << text;
  }
}

TEST(StoredRun, ThatCannotBeReadNamesTheFileAndARemedy) {
  const TemporaryFolder folder;
  EXPECT_TRUE(contains(message_of(folder.path()), "neither report.json nor records.jsonl"));
  std::filesystem::create_directory(folder.path() + "/monday");
  EXPECT_TRUE(contains(message_of(folder.path() + "/mnoday"), "nearest: monday"));
  std::ofstream(folder.path() + "/report.json") << "{\"machine\": {}";
  EXPECT_TRUE(contains(message_of(folder.path()), "report.json: "));
  std::ofstream(folder.path() + "/report.json") << "{}";
  EXPECT_TRUE(contains(message_of(folder.path()), "'machine'"));
}

TEST(OtherDraws, TellsWhyBitsCannotBeCompared) {
  const StoredRun run = stored({sample_record()});
  EXPECT_EQ(other_draws(run, run), "");
  RunInfo seeded = sample_info();
  seeded.options["seed"] = 2;
  EXPECT_EQ(other_draws(run, stored({sample_record()}, seeded)), "seed is 1 in A and 2 in B");
  RunInfo claims_more = sample_info(), claims_less = sample_info();
  claims_more.options["claims"] = {{"ring", "1234abcd"}, {"tree", "1"}};
  claims_less.options["claims"] = {{"ring", "5678abcd"}, {"star", "2"}};
  EXPECT_EQ(other_draws(stored({sample_record()}, claims_more), stored({}, claims_more)),
            "the suites are of different builds");
  EXPECT_EQ(
      other_draws(stored({sample_record()}, claims_more), stored({sample_record()}, claims_less)),
      "the claims of ring are other ones");
  EXPECT_EQ(other_draws(run, stored({sample_record()}, claims_less)), "");
  Record rebuilt = sample_record();
  rebuilt.build_id = "def456";
  EXPECT_TRUE(contains(other_draws(run, stored({rebuilt})), "different builds"));
}

TEST(DifferenceText, IsShortForEqualRuns) {
  const StoredRun run = stored({sample_record(), numbered(7)});
  const std::string text = text_of(run, run);
  EXPECT_TRUE(contains(text, "2 cells tested in both: no difference")) << text;
  EXPECT_FALSE(contains(text, " -> ")) << text;
}

TEST(DifferenceText, HeaderNamesWhatTheRunsHaveNotInCommon) {
  RunInfo next = sample_info();
  next.machine["driver"] = "580.2";
  next.options["seed"] = 3;
  const std::string text = text_of(stored({sample_record()}), stored({sample_record()}, next));
  EXPECT_TRUE(contains(text, "driver: 570.1 -> 580.2\n")) << text;
  EXPECT_TRUE(contains(text, "seed: 1 -> 3\n")) << text;
}

TEST(DifferenceText, RedCellsHaveReasonAndReplayAndAreNeverCut) {
  std::vector<Record> green, red;
  for (int world = 1; world <= 40; ++world) {
    green.push_back(numbered(world));
    red.push_back(numbered(world));
    red.back().verdict = Verdict::wrong;
    red.back().reason = "because";
    red.back().replay = "tutti1 it's";
  }
  const std::string text = text_of(stored(green), stored(red));
  EXPECT_TRUE(contains(text,
                       "w40 ring fp32 sum: pass -> wrong\n    because\n    tutti replay "
                       "'tutti1 it'\\''s'\n"))
      << text;
  const std::string fixed = text_of(stored(red), stored(green));
  EXPECT_TRUE(contains(fixed, "  and 30 more; --json has all\n")) << fixed;
}

TEST(DifferenceText, TellsWhatChangedInGreenCells) {
  Record path = numbered(1), bits = numbered(2), error = numbered(3);
  path.paths_taken = {"bcube"};
  bits.bits = "ffffffffffffffff";
  error.max_error = 0.5;
  const std::string text =
      text_of(stored({numbered(1), numbered(2), numbered(3)}), stored({path, bits, error}));
  EXPECT_TRUE(contains(text, "w1 ring fp32 sum, by ring -> by bcube\n")) << text;
  EXPECT_TRUE(contains(text, "other bits: 1\n")) << text;
  EXPECT_TRUE(contains(text, "0 of its bound -> 0.5 of its bound")) << text;
}

TEST(DifferenceText, CellsThatVanishedAreGroupedWithTheReason) {
  std::vector<Record> before, after;
  for (int world = 1; world <= 8; ++world) {
    before.push_back(numbered(world));
    after.push_back(numbered(world));
    after.back().verdict = Verdict::skip;
    after.back().skip_cause = SkipCause::not_installed;
    after.back().reason = "no library";
  }
  const std::string text = text_of(stored(before), stored(after));
  EXPECT_TRUE(contains(text,
                       "8 cells of two_shot h200-nvl8 agreement.exact: pass -> skip "
                       "(not_installed): no library\n"))
      << text;
}

TEST(DifferenceJson, HasTheDocumentedKeysInOrder) {
  const StoredRun before = stored({sample_record()}), after = stored({red_record()});
  const auto json = to_json(difference_of(before, after));
  std::string keys;
  for (const auto& [key, value] : json.items()) keys += key + " ";
  EXPECT_EQ(keys,
            "a b exit_status tested_in_both other_draws versions new_red fixed changed_path "
            "changed_error changed_bits changed_verdict appeared vanished same untested ");
  EXPECT_EQ(json["exit_status"], 1);
  EXPECT_EQ(json["new_red"][0]["a"]["verdict"], "pass");
  EXPECT_EQ(json["new_red"][0]["b"]["verdict"], "wrong");
  EXPECT_EQ(json["new_red"][0]["cell"], "two_shot h200-nvl8 agreement.exact w3 ring bf16 sum");
  EXPECT_EQ(json["same"], 0);
}

}  // namespace
}  // namespace tutti
