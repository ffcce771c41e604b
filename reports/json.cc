// report.json: everything, for programs. README.md has the keys.
#include "reports/report.h"

namespace tutti {
namespace {

std::string render(const RunInfo& run, const std::vector<Record>& records) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const Record& record : records) list.push_back(to_json(record));
  const nlohmann::ordered_json report{{"machine", run.machine},   {"options", run.options},
                                      {"command", run.command},   {"started", run.started},
                                      {"seconds", run.seconds},   {"totals", totals_of(records)},
                                      {"complete", run.complete}, {"records", list}};
  return report.dump(1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

const FormatRegistration registration({"json", "report.json", render});

}  // namespace
}  // namespace tutti
