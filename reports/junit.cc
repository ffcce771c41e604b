// junit.xml: what continuous integration shows. One testsuite for each suite and backend, one
// testcase a record.
#include <fmt/format.h>

#include "reports/report.h"
#include "reports/text.h"

namespace tutti {
namespace {

using Group = std::vector<const Record*>;

std::string failure_text(const Record& record) {
  std::string text = record.reason;
  if (!record.replay.empty())
    text += fmt::format("\n\ntutti replay {}", shell_quoted(record.replay));
  for (const std::string& evidence : record.evidence) {
    if (!evidence.empty()) text += "\n\n" + evidence;
  }
  return text;
}

// The element inside a testcase; empty for a green record.
std::string outcome(const Record& record) {
  const std::string verdict(name_of(record.verdict));
  switch (colour_of(record.verdict)) {
    case Colour::green:
      return "";
    case Colour::red:
      return fmt::format("<failure type=\"{}\" message=\"{}\">{}</failure>", verdict,
                         escape_xml(fmt::format("{}: {}", verdict, record.reason)),
                         escape_xml(failure_text(record)));
    case Colour::grey:
      break;
  }
  const std::string cause =
      record.verdict == Verdict::skip ? std::string(name_of(record.skip_cause)) : verdict;
  const std::string message =
      record.reason.empty() ? cause : fmt::format("{}: {}", cause, record.reason);
  return fmt::format("<skipped message=\"{}\"/>", escape_xml(message));
}

std::string testcase(const Record& record) {
  const std::string class_name =
      fmt::format("{}.{}.{}", record.backend, record.node, record.property);
  const std::string name = fmt::format("w{} {} {} {}", record.world, record.path,
                                       name_of(record.dtype), name_of(record.op));
  return fmt::format("    <testcase classname=\"{}\" name=\"{}\" time=\"{:.6f}\">{}</testcase>\n",
                     escape_xml(class_name), escape_xml(name), record.seconds, outcome(record));
}

std::string testsuite(const std::string& name, const Group& group, const RunInfo& run) {
  std::string cases;
  int failures = 0, skipped = 0;
  double seconds = 0;
  for (const Record* record : group) {
    cases += testcase(*record);
    failures += colour_of(record->verdict) == Colour::red;
    skipped += colour_of(record->verdict) == Colour::grey;
    seconds += record->seconds;
  }
  return fmt::format(
      "  <testsuite name=\"{}\" tests=\"{}\" failures=\"{}\" errors=\"0\" skipped=\"{}\" "
      "time=\"{:.6f}\" "
      "timestamp=\"{}\">\n{}  </testsuite>\n",
      escape_xml(name), group.size(), failures, skipped, seconds, escape_xml(run.started), cases);
}

std::string render(const RunInfo& run, const std::vector<Record>& records) {
  std::map<std::string, Group> groups;
  for (const Record& record : records)
    groups[record.suite + "/" + record.backend].push_back(&record);
  const auto totals = totals_of(records);
  std::string text = fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
      "<testsuites name=\"tutti\" tests=\"{}\" failures=\"{}\" errors=\"0\" skipped=\"{}\" "
      "time=\"{:.6f}\">\n",
      records.size(), totals.at("red"), totals.at("grey"), run.seconds);
  for (const auto& [name, group] : groups) text += testsuite(name, group, run);
  return text + "</testsuites>\n";
}

const FormatRegistration registration({"junit", "junit.xml", render});

}  // namespace
}  // namespace tutti
