// A difference for programs. README.md has the keys.
#include "reports/difference.h"
#include "reports/text.h"

namespace tutti {
namespace {

using nlohmann::ordered_json;

ordered_json run_json(const StoredRun& run) {
  return {{"path", valid_utf8(run.path)},  {"has_report", run.has_report},
          {"complete", run.info.complete}, {"started", run.info.started},
          {"machine", run.info.machine},   {"options", run.info.options},
          {"records", run.records.size()}, {"filled", run.filled}};
}

ordered_json cell_json(const CellChange& cell) {
  const Record& record = cell.record();
  return {{"cell", valid_utf8(name_of(record))},
          {"a", cell.before ? to_json(*cell.before) : ordered_json()},
          {"b", cell.after ? to_json(*cell.after) : ordered_json()}};
}

ordered_json versions_json(const Comparison& comparison) {
  ordered_json list = ordered_json::array();
  for (const auto& [backend, versions] : comparison.versions) {
    list.push_back(
        {{"backend", valid_utf8(backend)}, {"a", versions.before}, {"b", versions.after}});
  }
  return list;
}

}  // namespace

Difference difference_of(const StoredRun& before, const StoredRun& after) {
  std::string other = other_draws(before, after);
  Comparison comparison = compare(before.records, after.records, other.empty());
  return {before, after, std::move(other), std::move(comparison)};
}

ordered_json to_json(const Difference& difference) {
  const Comparison& comparison = difference.comparison;
  ordered_json json{{"a", run_json(difference.before)},
                    {"b", run_json(difference.after)},
                    {"exit_status", exit_status_of(comparison)},
                    {"tested_in_both", comparison.in_both},
                    {"other_draws", valid_utf8(difference.other_draws)},
                    {"versions", versions_json(comparison)}};
  for (int i = 0; i < kChanges; ++i) {
    const Change change = static_cast<Change>(i);
    const std::vector<CellChange> cells = comparison.of(change);
    ordered_json& entry = json[std::string(name_of(change))];
    // The bulk, of which nothing but its number is of interest.
    if (change == Change::same || change == Change::untested) {
      entry = cells.size();
      continue;
    }
    entry = ordered_json::array();
    for (const CellChange& cell : cells) entry.push_back(cell_json(cell));
  }
  return json;
}

}  // namespace tutti
