#include "reports/filled_run.h"

#include <gtest/gtest.h>

#include "reports/difference.h"
#include "reports/sample_record.h"

namespace tutti {
namespace {

Record told(Verdict verdict, std::uint64_t cases = 16) {
  Record record = sample_record();
  record.verdict = verdict;
  record.cases = cases;
  return record;
}

Record untold(SkipCause cause) {
  Record record = told(Verdict::skip, 0);
  record.skip_cause = cause;
  record.bits.clear();
  return record;
}

Record filled_by(const Record& record, const std::vector<Record>& earlier) {
  FilledRun run({record});
  for (const Record& one : earlier) run.add({one});
  return run.records().at(0);
}

TEST(FilledRun, WhatTimeLeftOutIsAsTheNewestEarlierRunHadIt) {
  const Record late = untold(SkipCause::time_is_up);
  EXPECT_EQ(filled_by(late, {told(Verdict::wrong)}).verdict, Verdict::wrong);
  EXPECT_EQ(filled_by(late, {told(Verdict::pass), told(Verdict::wrong)}).verdict, Verdict::pass);
  EXPECT_EQ(filled_by(late, {late, told(Verdict::wrong)}).verdict, Verdict::wrong);
  EXPECT_EQ(filled_by(late, {late}).verdict, Verdict::skip);
  EXPECT_EQ(filled_by(late, {told(Verdict::pass)}).bits, "");
  const Record other = untold(SkipCause::not_in_sample);
  EXPECT_EQ(filled_by(other, {told(Verdict::wrong)}).verdict, Verdict::skip);
}

TEST(FilledRun, ARedThatMoreCasesShowedIsKept) {
  EXPECT_EQ(filled_by(told(Verdict::pass, 16), {told(Verdict::wrong, 17)}).verdict, Verdict::wrong);
  EXPECT_EQ(filled_by(told(Verdict::pass, 17), {told(Verdict::wrong, 17)}).verdict, Verdict::pass);
  EXPECT_EQ(filled_by(told(Verdict::pass, 16), {told(Verdict::pass, 60)}).cases, 16u);
  // The newest run with more cases was green: what was red before it has been mended.
  EXPECT_EQ(filled_by(told(Verdict::pass, 16), {told(Verdict::pass, 60), told(Verdict::wrong, 17)})
                .verdict,
            Verdict::pass);
}

TEST(FilledRun, CountsWhatItFilled) {
  Record other = untold(SkipCause::time_is_up);
  other.world = 7;
  FilledRun run({untold(SkipCause::time_is_up), other});
  run.add({told(Verdict::pass)});
  other.verdict = Verdict::pass;
  run.add({other});
  EXPECT_EQ(run.filled(), 2u);
}

// An earlier run of another build or version says nothing about those of the run it fills.
TEST(FilledRun, LeavesBuildAndVersionSoThatOthersAreStillCompared) {
  Record earlier = told(Verdict::pass), late = untold(SkipCause::time_is_up);
  earlier.build_id = "older";
  earlier.version = "1";
  late.version = "2";
  const Record record = filled_by(late, {earlier});
  EXPECT_EQ(record.build_id, late.build_id);
  EXPECT_EQ(record.version, "2");
}

}  // namespace
}  // namespace tutti
