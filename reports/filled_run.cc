#include "reports/filled_run.h"

#include <map>
#include <string>

namespace tutti {
namespace {

bool is_late(const Record& record) {
  return record.verdict == Verdict::skip && record.skip_cause == SkipCause::time_is_up;
}

// Build and version stay those of the run that is filled: what is said of it is said of these.
void take(const Record& earlier, Record& record) {
  const Record own = record;
  record = earlier;
  record.build_id = own.build_id;
  record.version = own.version;
  record.bits.clear();
  record.cases = 0;  // so that neither bits nor paths are compared
}

}  // namespace

FilledRun::FilledRun(std::vector<Record> records) : records_(std::move(records)) {
  for (const Record& record : records_) cases_.push_back(record.cases);
}

void FilledRun::add(const std::vector<Record>& earlier) {
  std::map<std::string, const Record*> known;
  for (const Record& record : earlier) {
    if (record.verdict != Verdict::skip) known[name_of(record)] = &record;
  }
  for (std::size_t at = 0; at < records_.size(); ++at) {
    Record& record = records_[at];
    const bool late = is_late(record);
    if (!late && colour_of(record.verdict) != Colour::green) continue;
    const auto found = known.find(name_of(record));
    if (found == known.end()) continue;
    const Record& before = *found->second;
    const bool hidden = colour_of(before.verdict) == Colour::red && before.cases > cases_[at];
    cases_[at] = std::max(cases_[at], before.cases);
    if (!late && !hidden) continue;
    take(before, record);
    ++filled_;
  }
}

}  // namespace tutti
