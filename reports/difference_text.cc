// A difference for the terminal.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <utility>

#include "reports/difference.h"
#include "reports/text.h"

namespace tutti {
namespace {

constexpr std::size_t kLinesMax = 10;  // of a list in which nothing is red

struct Heading {
  Change change;
  const char* text;
};
// In the order in which they are told.
constexpr std::array kHeadings{Heading{Change::new_red, "newly red"},
                               Heading{Change::fixed, "fixed"},
                               Heading{Change::changed_path, "another path"},
                               Heading{Change::changed_bits, "other bits"},
                               Heading{Change::changed_error, "another error"},
                               Heading{Change::changed_verdict, "another verdict or reason"},
                               Heading{Change::appeared, "tested in B only"},
                               Heading{Change::vanished, "tested in A only"}};

std::string value(const nlohmann::ordered_json& json, const char* key) {
  if (!json.is_object() || !json.contains(key)) return "unknown";
  const auto& found = json[key];
  const std::string text = found.is_string() ? found.get<std::string>() : found.dump();
  return text.empty() ? "none" : text;
}

std::string about(const char* letter, const StoredRun& run) {
  const std::string name = fmt::format("{}  {}\n     ", letter, run.path);
  if (!run.has_report) {
    return name + fmt::format(
                      "killed: {} records and no report.json, so machine, driver and "
                      "options are not known\n",
                      run.records.size());
  }
  return name + fmt::format("{}, driver {}, node {}, {}, {} ranks, seed {}, {}{}\n",
                            value(run.info.machine, "host"), value(run.info.machine, "driver"),
                            value(run.info.machine, "node"), value(run.info.options, "profile"),
                            value(run.info.options, "ranks"), value(run.info.options, "seed"),
                            run.info.started, run.info.complete ? "" : ", interrupted");
}

// What the two runs have not in common, a line each.
std::string facts(const nlohmann::ordered_json& before, const nlohmann::ordered_json& after) {
  std::string text;
  if (!before.is_object() || !after.is_object()) return text;
  for (const auto& [key, is] : after.items()) {
    const std::string was = value(before, key.c_str()), now = value(after, key.c_str());
    if (was != now) text += fmt::format("{}: {} -> {}\n", key, was, now);
  }
  return text;
}

std::string header(const Difference& difference) {
  const StoredRun &before = difference.before, &after = difference.after;
  std::string text = about("A", before) + about("B", after) +
                     facts(before.info.machine, after.info.machine) +
                     facts(before.info.options, after.info.options);
  for (const auto& [backend, versions] : difference.comparison.versions) {
    text += fmt::format("{}: version {} -> {}\n", backend, fmt::join(versions.before, ", "),
                        fmt::join(versions.after, ", "));
  }
  if (!difference.other_draws.empty())
    text += fmt::format("bits and paths taken are not compared: {}\n", difference.other_draws);
  return text;
}

std::string verdict_of(const Record* record) {
  if (!record) return "not there";
  if (record->verdict != Verdict::skip) return std::string(name_of(record->verdict));
  return fmt::format("skip ({})", name_of(record->skip_cause));
}

std::string indented(const std::string& text) {
  std::string result = "    ";
  for (const char c : text) result += c == '\n' ? "\n    " : std::string(1, c);
  return result + "\n";
}

std::string arrow(const std::string& was, const std::string& is) {
  return was == is ? "" : fmt::format(", {} -> {}", was, is);
}

std::string path_text(const Record& before, const Record& after) {
  return arrow(verdict_of(&before), verdict_of(&after)) +
         arrow(fmt::format("by {}", fmt::join(before.paths_taken, " ")),
               fmt::format("by {}", fmt::join(after.paths_taken, " ")));
}

std::string error_text(const Record& before, const Record& after) {
  const auto error = [](const Record& record) {
    return fmt::format("{:.3g} of its bound", record.max_error);
  };
  const auto distance = [](const Record& record) {
    if (record.max_ulp_vs_reference < 0) return std::string("not compared");
    return fmt::format("{} ulp from {}", record.max_ulp_vs_reference, record.reference);
  };
  return arrow(error(before), error(after)) + arrow(distance(before), distance(after));
}

// A cell in a line; one that is red with what explains it.
std::string cell_text(const CellChange& cell) {
  const Record& record = cell.record();
  std::string line = "  " + name_of(record);
  if (cell.change == Change::changed_path) line += path_text(*cell.before, *cell.after);
  if (cell.change == Change::changed_error) line += error_text(*cell.before, *cell.after);
  if (cell.change == Change::changed_bits || cell.change == Change::changed_path ||
      cell.change == Change::changed_error)
    return line + "\n";
  line += fmt::format(": {} -> {}\n", verdict_of(cell.before), verdict_of(cell.after));
  if (cell.change == Change::changed_verdict && !cell.before->reason.empty())
    line += indented("was: " + cell.before->reason);
  if (!record.reason.empty()) line += indented(record.reason);
  if (!record.replay.empty()) line += indented("tutti replay " + shell_quoted(record.replay));
  return line;
}

// By backend and property: a backend that is gone would fill the screen.
std::vector<std::string> grouped(const std::vector<CellChange>& cells) {
  std::map<std::string, std::pair<std::size_t, const CellChange*>> groups;
  for (const CellChange& cell : cells) {
    const Record& record = cell.record();
    auto& [count, first] = groups[fmt::format(
        "{} {} {}: {} -> {}", record.backend, record.node, record.property,
        cell.before ? verdict_of(cell.before) : "not there", verdict_of(cell.after))];
    if (count++ == 0) first = &cell;
  }
  std::vector<std::string> lines;
  for (const auto& [name, group] : groups) {
    const auto& [count, first] = group;
    const std::string& reason = first->record().reason;
    lines.push_back(fmt::format("  {} cells of {}{}\n", count, name,
                                first->after && !reason.empty() ? ": " + reason : ""));
  }
  return lines;
}

std::string section(const Heading& heading, const std::vector<CellChange>& cells) {
  if (cells.empty()) return "";
  const bool is_long = heading.change == Change::appeared || heading.change == Change::vanished;
  std::vector<std::string> lines;
  if (is_long) {
    lines = grouped(cells);
  } else {
    for (const CellChange& cell : cells) lines.push_back(cell_text(cell));
  }
  const bool is_red =
      heading.change == Change::new_red || heading.change == Change::changed_verdict;
  const std::size_t shown = is_red ? lines.size() : std::min(lines.size(), kLinesMax);
  std::string text = fmt::format("\n{}: {}\n", heading.text, cells.size());
  for (std::size_t i = 0; i < shown; ++i) text += lines[i];
  if (shown < lines.size())
    text += fmt::format("  and {} more; --json has all\n", lines.size() - shown);
  return text;
}

}  // namespace

std::string to_text(const Difference& difference) {
  const Comparison& comparison = difference.comparison;
  std::string text = header(difference), counts;
  for (const Heading& heading : kHeadings) {
    const std::vector<CellChange> cells = comparison.of(heading.change);
    text += section(heading, cells);
    if (!cells.empty()) counts += fmt::format(", {} {}", cells.size(), heading.text);
  }
  text += fmt::format("\n{} cells tested in both{}\n", comparison.in_both,
                      counts.empty() ? ": no difference" : counts);
  return printable(text);
}

}  // namespace tutti
