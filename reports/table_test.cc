#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <sstream>

#include "reports/report.h"
#include "reports/sample_record.h"

namespace tutti {
namespace {

std::vector<Record> records_of(int world, const std::vector<Verdict>& verdicts) {
  std::vector<Record> records;
  for (const Verdict verdict : verdicts) {
    records.push_back(sample_record());
    records.back().world = world;
    records.back().verdict = verdict;
  }
  return records;
}

// The words of the table's first row.
std::string row_of(const std::vector<Record>& records) {
  std::istringstream table(summary_table(records));
  std::string line;
  std::getline(table, line);
  std::getline(table, line);
  return line;
}

TEST(SummaryTable, ShowsTheWorstOfACell) {
  using enum Verdict;
  const std::string label = "two_shot  agreement.exact  ";
  EXPECT_EQ(row_of(records_of(3, {pass, pass})), label + "2");
  EXPECT_EQ(row_of(records_of(3, {pass, wrong, pass, skip})), label + "1 wrong/3");
  EXPECT_EQ(row_of(records_of(3, {pass, wrong, hang, hang})), label + "2 hang+1/4");
  EXPECT_EQ(row_of(records_of(3, {pass, refused})), label + "1 refused/2");
  EXPECT_EQ(row_of(records_of(3, {skip, pass})), label + "1");
}

TEST(SummaryTable, EveryRedVerdictShowsInItsCell) {
  for (const std::string& name : names<Verdict>()) {
    const Verdict verdict = *parse<Verdict>(name);
    if (verdict == Verdict::pass || verdict == Verdict::skip) continue;
    EXPECT_TRUE(contains(row_of(records_of(3, {verdict})), name)) << name;
  }
}

TEST(SummaryTable, HasAColumnForEachWorldAndCountsAll) {
  auto records = records_of(2, {Verdict::pass});
  records.push_back(red_record());
  records.back().world = 8;
  records.push_back(sample_record());
  records.back().backend = "ring";
  records.back().world = 2;
  records.back().verdict = Verdict::skip;
  records.back().skip_cause = SkipCause::no_gpu;
  records.back().reason = "no GPU here";
  EXPECT_EQ(summary_table(records),
            "backend   property         w2  w8\n"
            "two_shot  agreement.exact  1   1 wrong/1\n"
            "ring: all cells skipped, no_gpu: no GPU here\n"
            "\n"
            "3 cells, 300 cases\n"
            "1 green (1 pass)\n"
            "1 red (1 wrong)\n"
            "1 grey (1 skip)\n"
            "skipped: 1 no_gpu\n");
}

TEST(SummaryTable, StaysWithinAHundredColumns) {
  EXPECT_TRUE(rc::check("width", [] {
    std::vector<Record> records;
    const auto worlds =
        *rc::gen::nonEmpty(rc::gen::container<std::vector<int>>(rc::gen::inRange(1, 64)));
    for (const int world : worlds) {
      auto more = records_of(world, {*parse<Verdict>(*rc::gen::elementOf(names<Verdict>()))});
      records.insert(records.end(), more.begin(), more.end());
    }
    std::istringstream table(summary_table(records));
    for (std::string line; std::getline(table, line) && !contains(line, " cells, ");) {
      RC_ASSERT(line.size() <= 100u);
    }
    const bool tested = std::any_of(records.begin(), records.end(), [](const Record& record) {
      return record.verdict != Verdict::skip;
    });
    RC_ASSERT(contains(table.str(), "all cells skipped") != tested);
    for (const int world : worlds)
      RC_ASSERT(!tested || contains(table.str(), " w" + std::to_string(world)));
  }));
}

TEST(SummaryTable, SaysWhenNothingWasTested) {
  EXPECT_TRUE(contains(summary_table({}), "nothing was tested"));
}

TEST(RedCells, HaveCellReasonAndReplayLine) {
  EXPECT_EQ(red_cells({sample_record(), red_record()}),
            "wrong: two_shot / h200-nvl8 / agreement.exact / world 3 / ring / bf16 / sum\n"
            "    rank 3's contribution is missing in elements 1024..2047\n"
            "    tutti replay 'tutti1 backend=two_shot world=3 seed=7 : allreduce dtype=bf16 "
            "op=sum count=1025'\n");
  EXPECT_EQ(red_cells({sample_record()}), "");
}

TEST(RedCells, ArePlainAscii) {
  Record record = red_record();
  record.reason = "\x1b[31mred\xff\nsecond line";
  const std::string text = red_cells({record});
  EXPECT_TRUE(contains(text, "    \\x1b[31mred\\xff\n    second line\n")) << text;
  EXPECT_TRUE(std::all_of(text.begin(), text.end(),
                          [](char c) { return c == '\n' || (c >= ' ' && c <= '~'); }));
}

}  // namespace
}  // namespace tutti
