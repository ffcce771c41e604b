// Properties of the comparison over lists of arbitrary records of few cells.
#include "reports/compare.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <cmath>

#include "reports/sample_record.h"

namespace tutti {
namespace {

using Names = std::set<std::string>;

// Few cells, so that most are in both lists; some twice.
rc::Gen<Record> any_record() {
  return rc::gen::exec([] {
    Record record = sample_record();
    record.backend = *rc::gen::elementOf(std::vector<std::string>{"gloo", "one_shot"});
    record.world = *rc::gen::inRange(1, 5);
    record.path = *rc::gen::elementOf(std::vector<std::string>{"ring", "auto"});
    record.op = *rc::gen::elementOf(std::vector<Op>{TUTTI_SUM, TUTTI_MAX});
    record.verdict = *parse<Verdict>(*rc::gen::elementOf(names<Verdict>()));
    record.cases = *rc::gen::inRange(1, 3);
    record.reason = *rc::gen::elementOf(std::vector<std::string>{"", "rank 1", "rank 2", "late"});
    record.max_error = *rc::gen::elementOf(std::vector<double>{0, 0.05, 0.3, 1, INFINITY, NAN});
    record.max_ulp_vs_reference = *rc::gen::inRange(-1, 6);
    record.bits = *rc::gen::elementOf(std::vector<std::string>{"", "0a", "0b"});
    record.version = *rc::gen::elementOf(std::vector<std::string>{"", "1", "2"});
    return record;
  });
}

std::vector<Record> any_records() { return *rc::gen::container<std::vector<Record>>(any_record()); }

Names names_of(const Comparison& comparison, Change change) {
  Names names;
  for (const CellChange& cell : comparison.of(change)) names.insert(name_of(cell.record()));
  return names;
}

// The record of each cell that holds.
std::map<std::string, Record> by_name(const std::vector<Record>& records) {
  std::map<std::string, Record> held;
  for (const Record& record : records) held[name_of(record)] = record;
  return held;
}

bool is_red(const std::map<std::string, Record>& records, const std::string& name) {
  const auto found = records.find(name);
  return found != records.end() && colour_of(found->second.verdict) == Colour::red;
}

TEST(Compare, ARunWithItselfDiffersNowhere) {
  EXPECT_TRUE(rc::check("A against A", [] {
    const auto records = any_records();
    const Comparison comparison = compare(records, records, true);
    RC_ASSERT(comparison.of(Change::same).size() + comparison.of(Change::untested).size() ==
              comparison.cells.size());
    RC_ASSERT(comparison.of(Change::same).size() == comparison.in_both);
    RC_ASSERT(comparison.versions.empty());
    RC_ASSERT(exit_status_of(comparison) == (comparison.in_both > 0 ? 0 : 2));
  }));
}

TEST(Compare, EveryCellIsInExactlyOneClass) {
  EXPECT_TRUE(rc::check("one class a cell", [] {
    const auto before = any_records(), after = any_records();
    const Comparison comparison = compare(before, after, *rc::gen::arbitrary<bool>());
    Names all, classed;
    for (const Record& record : before) all.insert(name_of(record));
    for (const Record& record : after) all.insert(name_of(record));
    std::size_t cells = 0;
    for (int i = 0; i < kChanges; ++i) {
      const Names some = names_of(comparison, static_cast<Change>(i));
      cells += some.size();
      classed.insert(some.begin(), some.end());
    }
    RC_ASSERT(classed == all);
    RC_ASSERT(cells == all.size());
    RC_ASSERT(comparison.cells.size() == all.size());
  }));
}

TEST(Compare, ANewRedIsNeverLost) {
  EXPECT_TRUE(rc::check("new reds", [] {
    const auto before = any_records(), after = any_records();
    const Comparison comparison = compare(before, after, *rc::gen::arbitrary<bool>());
    const auto was = by_name(before), is = by_name(after);
    Names expected;
    for (const auto& [name, record] : is) {
      if (is_red(is, name) && !is_red(was, name)) expected.insert(name);
    }
    RC_ASSERT(names_of(comparison, Change::new_red) == expected);
    if (comparison.in_both > 0) RC_ASSERT(exit_status_of(comparison) == (expected.empty() ? 0 : 1));
  }));
}

TEST(Compare, TheOtherWayRoundIsItsMirror) {
  EXPECT_TRUE(rc::check("mirrored", [] {
    const auto before = any_records(), after = any_records();
    const bool same_draws = *rc::gen::arbitrary<bool>();
    const Comparison there = compare(before, after, same_draws);
    const Comparison back = compare(after, before, same_draws);
    RC_ASSERT(there.in_both == back.in_both);
    RC_ASSERT(there.versions.size() == back.versions.size());
    for (const Change change : {Change::changed_path, Change::changed_error, Change::changed_bits,
                                Change::same, Change::untested})
      RC_ASSERT(names_of(there, change) == names_of(back, change));
    // A red one that went is new on the way back.
    const auto was = by_name(before);
    Names went = names_of(there, Change::fixed);
    for (const Change change : {Change::vanished, Change::changed_verdict}) {
      for (const CellChange& cell : there.of(change)) {
        const bool stays = cell.after && colour_of(cell.after->verdict) == Colour::red;
        if (is_red(was, name_of(cell.record())) && !stays) went.insert(name_of(cell.record()));
      }
    }
    RC_ASSERT(names_of(back, Change::new_red) == went);
  }));
}

Change change(const Record& before, const Record& after, bool same_draws = true) {
  return compare({before}, {after}, same_draws).cells.at(0).change;
}

Record with(Verdict verdict, const std::string& reason = "") {
  Record record = sample_record();
  record.verdict = verdict;
  record.reason = reason;
  return record;
}

TEST(Compare, ColoursDecideFirst) {
  const Record green = with(Verdict::pass), red = with(Verdict::wrong),
               skipped = with(Verdict::skip), known = with(Verdict::expected_fail);
  EXPECT_EQ(change(green, red), Change::new_red);
  EXPECT_EQ(change(skipped, red), Change::new_red);
  EXPECT_EQ(change(known, red), Change::new_red);
  EXPECT_EQ(change(red, green), Change::fixed);
  EXPECT_EQ(change(red, known), Change::changed_verdict);
  EXPECT_EQ(change(green, known), Change::changed_verdict);
  EXPECT_EQ(change(known, green), Change::changed_verdict);
  EXPECT_EQ(change(skipped, green), Change::appeared);
  EXPECT_EQ(change(green, skipped), Change::vanished);
  EXPECT_EQ(change(red, skipped), Change::vanished);
  EXPECT_EQ(change(skipped, skipped), Change::untested);
}

TEST(Compare, WhatARunLeftOutItselfHasNotVanished) {
  Record left_out = with(Verdict::skip), late = with(Verdict::skip);
  left_out.skip_cause = SkipCause::not_in_sample;
  late.skip_cause = SkipCause::time_is_up;
  for (const Verdict verdict : {Verdict::pass, Verdict::wrong}) {
    EXPECT_EQ(change(with(verdict), left_out), Change::untested);
    EXPECT_EQ(change(with(verdict), late), Change::vanished);
  }
  EXPECT_EQ(change(left_out, with(Verdict::pass)), Change::untested);
  EXPECT_EQ(change(left_out, with(Verdict::wrong)), Change::new_red);
}

TEST(Compare, CellsOfOneRunOnly) {
  EXPECT_EQ(compare({}, {red_record()}, true).cells.at(0).change, Change::new_red);
  EXPECT_EQ(compare({}, {sample_record()}, true).cells.at(0).change, Change::appeared);
  EXPECT_EQ(compare({sample_record()}, {}, true).cells.at(0).change, Change::vanished);
  EXPECT_EQ(exit_status_of(compare({}, {red_record()}, true)), 2);
  EXPECT_EQ(exit_status_of(compare({}, {}, true)), 2);
}

TEST(Compare, RedInBothDiffersByVerdictOrReasonButNotByNumbers) {
  const Record wrong =
      with(Verdict::wrong, "rank 1: 3 of 4 wrong in 0..3, got -1.5e+10 (0xc0ffee)");
  EXPECT_EQ(change(wrong, with(Verdict::wrong, "rank 0: 1 of 9 wrong in 2..2, got 7 (0x1)")),
            Change::same);
  EXPECT_EQ(change(wrong, with(Verdict::wrong, "rank 1: stale")), Change::changed_verdict);
  EXPECT_EQ(change(wrong, with(Verdict::hang, wrong.reason)), Change::changed_verdict);
}

TEST(WithoutNumbers, NumbersOfEveryKindAreAlike) {
  EXPECT_EQ(without_numbers("rank 0 1 12: -1.5e+10 (0xc0ffee) in 0..3, 7"),
            "rank #: # (#) in #, #");
  EXPECT_EQ(without_numbers("no number - at all +"), "no number - at all +");
  EXPECT_NE(without_numbers("signal 6 (Aborted)"),
            without_numbers("signal 11 (Segmentation fault)"));
}

TEST(Compare, AnotherPathIsAnotherGreenVerdictOrOtherPathsOfTheSameCases) {
  Record other = sample_record();
  other.paths_taken = {"bcube"};
  EXPECT_EQ(change(sample_record(), with(Verdict::fell_back)), Change::changed_path);
  EXPECT_EQ(change(sample_record(), with(Verdict::refused), false), Change::changed_path);
  EXPECT_EQ(change(sample_record(), other), Change::changed_path);
  EXPECT_EQ(change(sample_record(), other, false), Change::same);
}

TEST(Compare, BitsOfOtherCasesAreNotCompared) {
  Record other = sample_record();
  other.bits = "ffffffffffffffff";
  EXPECT_EQ(change(sample_record(), other), Change::changed_bits);
  EXPECT_EQ(change(sample_record(), other, false), Change::same);
  other.cases += 1;
  EXPECT_EQ(change(sample_record(), other), Change::same);
  other = sample_record();
  other.bits.clear();
  EXPECT_EQ(change(sample_record(), other), Change::same);
}

TEST(Compare, ErrorsDifferBeyondNoise) {
  const auto differ = [](double before, double after) {
    Record left = sample_record(), right = sample_record();
    left.max_error = before;
    right.max_error = after;
    return errors_differ(left, right);
  };
  EXPECT_FALSE(differ(0.3, 0.6));
  EXPECT_TRUE(differ(0.3, 0.61));
  EXPECT_FALSE(differ(0, 0.1));
  EXPECT_TRUE(differ(0, 0.11));
  EXPECT_TRUE(differ(1, INFINITY));
  EXPECT_TRUE(differ(NAN, 1));
  EXPECT_FALSE(differ(NAN, NAN));
  EXPECT_FALSE(differ(INFINITY, INFINITY));
}

TEST(Compare, DistancesDifferFromTheSameReferenceOnly) {
  Record left = sample_record(), right = sample_record();
  right.max_ulp_vs_reference = 9;
  EXPECT_FALSE(errors_differ(left, right)) << "A was not compared";
  left.max_ulp_vs_reference = 4;
  EXPECT_TRUE(errors_differ(left, right));
  left.max_ulp_vs_reference = 5;
  EXPECT_FALSE(errors_differ(left, right));
  right.reference = "nccl";
  EXPECT_TRUE(errors_differ(left, right));
}

TEST(Compare, TheLaterRecordOfACellHolds) {
  const Comparison comparison = compare({sample_record()}, {sample_record(), red_record()}, true);
  ASSERT_EQ(comparison.cells.size(), 1u);
  EXPECT_EQ(comparison.cells[0].change, Change::new_red);
}

TEST(Compare, TellsVersionsThatChanged) {
  Record next = sample_record();
  next.version = "2.0";
  const Comparison comparison = compare({sample_record()}, {next}, true);
  EXPECT_EQ(comparison.versions.at("two_shot").before, (std::set<std::string>{"1.0"}));
  EXPECT_EQ(comparison.versions.at("two_shot").after, (std::set<std::string>{"2.0"}));
}

}  // namespace
}  // namespace tutti
