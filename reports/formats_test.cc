#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <limits>
#include <regex>

#include "reports/report.h"
#include "reports/sample_record.h"
#include "reports/text.h"

namespace tutti {
namespace {

const Format& format_named(const std::string& name) {
  const auto& all = formats();
  const auto found = std::find_if(all.begin(), all.end(),
                                  [&](const Format& format) { return format.name == name; });
  if (found == all.end()) throw std::runtime_error("no format " + name);
  return *found;
}

std::string junit(const std::vector<Record>& records) {
  return format_named("junit").render({}, records);
}

TEST(Formats, AreSortedByName) {
  const auto earlier = [](const Format& left, const Format& right) {
    return left.name < right.name;
  };
  EXPECT_TRUE(std::is_sorted(formats().begin(), formats().end(), earlier));
}

TEST(FormatsDeathTest, ADuplicateNameAborts) {
  EXPECT_DEATH(FormatRegistration({"json", "other.json", format_named("json").render}),
               "two report formats");
}

TEST(JsonReport, HasTheDocumentedKeysInOrder) {
  RunInfo run;
  run.command = "tutti run \xff";
  Record record = red_record();
  record.max_error = std::numeric_limits<double>::infinity();
  record.evidence.push_back("\xff\x01\xed\xa0\x80");
  const auto report =
      nlohmann::ordered_json::parse(format_named("json").render(run, {sample_record(), record}));
  std::string keys;
  for (const auto& [key, value] : report.items()) keys += key + " ";
  EXPECT_EQ(keys, "machine options command started seconds totals complete records ");
  EXPECT_EQ(report["totals"]["red"], 1);
  EXPECT_EQ(report["complete"], false);
  EXPECT_EQ(report["records"][1]["max_error"], "infinity");
  EXPECT_EQ(report["records"][0]["verdict"], "pass");
}

TEST(JunitReport, NamesSuitesAndCases) {
  Record other = sample_record();
  other.backend = "ring";
  const std::string text = junit({sample_record(), other, red_record()});
  EXPECT_TRUE(contains(text, "<testsuite name=\"agreement/two_shot\" tests=\"2\" failures=\"1\""));
  EXPECT_TRUE(contains(text, "<testsuite name=\"agreement/ring\" tests=\"1\" failures=\"0\""));
  EXPECT_TRUE(
      contains(text, "classname=\"two_shot.h200-nvl8.agreement.exact\" name=\"w3 ring bf16 sum\""));
  EXPECT_TRUE(contains(text, "<testsuites name=\"tutti\" tests=\"3\" failures=\"1\""));
}

TEST(JunitReport, AFailureHasReasonReplayAndEvidence) {
  const std::string text = junit({red_record()});
  EXPECT_TRUE(contains(text, "message=\"wrong: rank 3&apos;s contribution"));
  EXPECT_TRUE(contains(text, "tutti replay &apos;tutti1 backend=two_shot"));
  EXPECT_TRUE(contains(text, "rank 0: last words"));
}

TEST(JunitReport, GreyIsSkippedWithItsCause) {
  Record record = sample_record();
  record.verdict = Verdict::skip;
  record.skip_cause = SkipCause::no_gpu;
  EXPECT_TRUE(contains(junit({record}), "skipped=\"1\""));
  EXPECT_TRUE(contains(junit({record}), "<skipped message=\"no_gpu\"/>"));
  record.verdict = Verdict::expected_fail;
  record.reason = "known";
  EXPECT_TRUE(contains(junit({record}), "<skipped message=\"expected_fail: known\"/>"));
}

TEST(JunitReport, HasOneTestcaseForEachRecordAndNoFailureWhenGreen) {
  const std::string text = junit({sample_record()});
  EXPECT_FALSE(contains(text, "<failure"));
  EXPECT_FALSE(contains(text, "<skipped"));
}

// With the known entities taken out, text from outside may leave no markup behind.
TEST(EscapedXml, IsValidWhateverTheBytes) {
  EXPECT_TRUE(rc::check("escaped", [] {
    const auto bytes = *rc::gen::container<std::string>(
        rc::gen::map(rc::gen::inRange(0, 256), [](int byte) { return static_cast<char>(byte); }));
    const std::string escaped = escape_xml(bytes);
    const std::string rest =
        std::regex_replace(escaped, std::regex("&(amp|lt|gt|quot|apos|#9|#10|#13);"), "");
    RC_ASSERT(rest.find_first_of("<>&\"'") == std::string::npos);
    RC_ASSERT(std::all_of(rest.begin(), rest.end(),
                          [](char c) { return static_cast<unsigned char>(c) >= ' '; }));
    RC_ASSERT(valid_utf8(escaped) == escaped);
  }));
}

TEST(EscapedXml, SpellsOutWhatXmlCannotHold) {
  EXPECT_EQ(escape_xml("a\x1b[0m<&>\n"), "a\\x1b[0m&lt;&amp;&gt;&#10;");
  EXPECT_EQ(escape_xml("\xef\xbf\xbf \xef\xbf\xbe"), "\\uffff \\ufffe");
  EXPECT_EQ(escape_xml(std::string("\0", 1)), "\\x00");
}

TEST(ShellQuoted, SurvivesTheShell) { EXPECT_EQ(shell_quoted("plugin=it's"), "'plugin=it'\\''s'"); }

}  // namespace
}  // namespace tutti
