#include "reports/record.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <cmath>
#include <limits>

#include "reports/sample_record.h"

namespace tutti {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

Record parsed(const Record& record) {
  return record_from_json(nlohmann::json::parse(to_json(record).dump()));
}

TEST(RecordJson, KeysComeInTheDocumentedOrder) {
  const nlohmann::ordered_json json = to_json(sample_record());
  std::string keys;
  for (const auto& [key, value] : json.items()) keys += key + " ";
  EXPECT_EQ(keys,
            "backend version build_id node world suite property path dtype op verdict skip_cause "
            "cases reason replay "
            "max_error max_ulp_vs_reference reference bits paths_taken seconds evidence ");
}

TEST(RecordJson, ParsesBackToTheSameRecord) {
  EXPECT_TRUE(rc::check("records survive JSON", [] {
    Record record = sample_record();
    record.world = *rc::gen::inRange(1, 64);
    record.verdict = *parse<Verdict>(*rc::gen::elementOf(names<Verdict>()));
    record.skip_cause = *parse<SkipCause>(*rc::gen::elementOf(names<SkipCause>()));
    record.dtype = *parse<Dtype>(*rc::gen::elementOf(names<Dtype>()));
    record.op = *parse<Op>(*rc::gen::elementOf(names<Op>()));
    record.cases = *rc::gen::arbitrary<std::uint64_t>();
    record.max_error = *rc::gen::arbitrary<double>();
    record.max_ulp_vs_reference = *rc::gen::arbitrary<std::int64_t>();
    record.bits = *rc::gen::string<std::string>();
    record.paths_taken =
        *rc::gen::container<std::vector<std::string>>(rc::gen::string<std::string>());
    record.evidence = *rc::gen::container<std::vector<std::string>>(rc::gen::string<std::string>());
    // Text is compared as it was stored: a second round trip must change nothing.
    const Record once = parsed(record);
    RC_ASSERT(to_json(once) == to_json(record));
    RC_ASSERT(once.world == record.world);
    RC_ASSERT(once.verdict == record.verdict);
    RC_ASSERT(once.skip_cause == record.skip_cause);
    RC_ASSERT(once.dtype == record.dtype);
    RC_ASSERT(once.op == record.op);
    RC_ASSERT(once.cases == record.cases);
    RC_ASSERT(once.max_error == record.max_error);
    RC_ASSERT(once.max_ulp_vs_reference == record.max_ulp_vs_reference);
    RC_ASSERT(once.evidence.size() == record.evidence.size());
  }));
}

TEST(RecordJson, ReadsReportsFromBeforeTheKeysForComparison) {
  nlohmann::json old = to_json(sample_record());
  old.erase("bits");
  old.erase("paths_taken");
  EXPECT_TRUE(record_from_json(old).bits.empty());
  EXPECT_TRUE(record_from_json(old).paths_taken.empty());
  old["paths_taken"] = 7;
  EXPECT_THROW(record_from_json(old), std::runtime_error);
}

TEST(RecordJson, KeepsErrorsThatAreNoNumbers) {
  Record record = sample_record();
  for (const double value : {kInfinity, -kInfinity}) {
    record.max_error = value;
    EXPECT_EQ(parsed(record).max_error, value);
  }
  record.max_error = std::nan("");
  EXPECT_TRUE(std::isnan(parsed(record).max_error));
  record.max_error = kInfinity;
  EXPECT_EQ(to_json(record)["max_error"], "infinity");
}

TEST(RecordJson, ReplacesBytesThatAreNotUtf8) {
  Record record = sample_record();
  record.evidence = {"caf\xc3\xa9 \xff end"};
  EXPECT_EQ(parsed(record).evidence.at(0), "caf\xc3\xa9 \xef\xbf\xbd end");
}

std::string message_of(const nlohmann::json& json) {
  try {
    record_from_json(json);
  } catch (const std::runtime_error& error) {
    return error.what();
  }
  return "no error";
}

TEST(RecordJson, NamesTheKeyThatIsBad) {
  const nlohmann::json good = to_json(sample_record());
  for (const auto& [key, value] : good.items()) {
    if (key == "bits" || key == "paths_taken") continue;
    nlohmann::json bad = good;
    bad.erase(key);
    EXPECT_NE(message_of(bad).find("\"" + key + "\""), std::string::npos) << message_of(bad);
  }
  nlohmann::json bad = good;
  bad["verdict"] = "wrnog";
  EXPECT_NE(message_of(bad).find("wrnog"), std::string::npos);
  EXPECT_NE(message_of(nlohmann::json::array()), "no error");
}

std::vector<Record> with_verdicts(const std::vector<Verdict>& verdicts) {
  std::vector<Record> records;
  for (const Verdict verdict : verdicts) {
    records.push_back(sample_record());
    records.back().verdict = verdict;
  }
  return records;
}

TEST(Totals, CountByVerdictAndColour) {
  const auto totals =
      totals_of(with_verdicts({Verdict::pass, Verdict::pass, Verdict::hang, Verdict::skip}));
  const std::map<std::string, std::uint64_t> expected{{"green", 2}, {"red", 1},  {"grey", 1},
                                                      {"pass", 2},  {"hang", 1}, {"skip", 1}};
  EXPECT_EQ(totals, expected);
}

TEST(ExitStatus, IsZeroOnlyWhenSomethingWasTestedAndNothingIsRed) {
  EXPECT_EQ(exit_status_of(std::vector<Record>{}), 2);
  EXPECT_EQ(exit_status_of(with_verdicts({Verdict::skip, Verdict::skip})), 2);
  EXPECT_EQ(exit_status_of(with_verdicts({Verdict::expected_fail})), 2);
  EXPECT_EQ(exit_status_of(with_verdicts({Verdict::skip, Verdict::refused})), 0);
  EXPECT_EQ(exit_status_of(with_verdicts({Verdict::pass, Verdict::missing})), 1);
  EXPECT_EQ(exit_status_of(with_verdicts({Verdict::unexpected_pass})), 1);
}

}  // namespace
}  // namespace tutti
