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
  const std::string of_others =
      before.filled == 0 ? ""
                         : fmt::format(
                               "{} cells of A, which --time kept it from, are as earlier "
                               "runs had them\n",
                               before.filled);
  std::string text = about("A", before) + about("B", after) + of_others +
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
  const auto paths = [](const Record& record) {
    return record.paths_taken.empty() ? std::string("no path")
                                      : fmt::format("by {}", fmt::join(record.paths_taken, " "));
  };
  return arrow(verdict_of(&before), verdict_of(&after)) + arrow(paths(before), paths(after)) +
         (after.reason.empty() ? "" : ": " + after.reason);
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
  if (cell.change == Change::changed_bits) return line + "\n";
  if (cell.change == Change::changed_path)
    return line + path_text(*cell.before, *cell.after) + "\n";
  if (cell.change == Change::changed_error)
    return line + error_text(*cell.before, *cell.after) + "\n";
  line += fmt::format(": {} -> {}\n", verdict_of(cell.before), verdict_of(cell.after));
  const bool tells_before = cell.change == Change::changed_verdict || cell.change == Change::fixed;
  if (tells_before && !cell.before->reason.empty()) line += indented("was: " + cell.before->reason);
  if (!record.reason.empty()) line += indented(record.reason);
  if (!record.replay.empty()) line += indented("tutti replay " + shell_quoted(record.replay));
  return line;
}

// Red in B, or red in A and lost from sight.
bool shows_red(const CellChange& cell) {
  const auto is_red = [](const Record& record) { return colour_of(record.verdict) == Colour::red; };
  return is_red(cell.record()) || (cell.change == Change::vanished && is_red(*cell.before));
}

struct Line {
  bool is_red;
  std::string text;
};

// By backend, property and verdict: a backend that is gone would fill the screen.
std::vector<Line> grouped(const std::vector<CellChange>& cells) {
  std::map<std::string, std::vector<const CellChange*>> groups;
  for (const CellChange& cell : cells) {
    const Record& record = cell.record();
    groups[fmt::format("{} {} {}: {} -> {}", record.backend, record.node, record.property,
                       verdict_of(cell.before), verdict_of(cell.after))]
        .push_back(&cell);
  }
  std::vector<Line> lines;
  for (const auto& [name, group] : groups) {
    const CellChange& first = *group.front();
    const std::string reason = first.after ? first.after->reason : "";
    lines.push_back({shows_red(first), fmt::format("  {} cells of {}{}\n", group.size(), name,
                                                   reason.empty() ? "" : ": " + reason)});
  }
  return lines;
}

std::vector<Line> lines_of(const Heading& heading, const std::vector<CellChange>& cells) {
  if (heading.change == Change::appeared || heading.change == Change::vanished)
    return grouped(cells);
  std::vector<Line> lines;
  for (const CellChange& cell : cells) lines.push_back({shows_red(cell), cell_text(cell)});
  return lines;
}

std::string section(const Heading& heading, const std::vector<CellChange>& cells) {
  if (cells.empty()) return "";
  std::string text = fmt::format("\n{}: {}\n", heading.text, cells.size());
  std::size_t shown = 0, cut = 0;
  for (const Line& line : lines_of(heading, cells)) {
    if (line.is_red || shown++ < kLinesMax) {
      text += line.text;
    } else {
      ++cut;
    }
  }
  return cut == 0 ? text : text + fmt::format("  and {} more; --json has all\n", cut);
}

}  // namespace

std::string to_text(const Difference& difference) {
  const Comparison& comparison = difference.comparison;
  std::string text = header(difference), counts;
  for (const Heading& heading : kHeadings) {
    const std::vector<CellChange> cells = comparison.of(heading.change);
    text += section(heading, cells);
    if (!cells.empty())
      counts += fmt::format("{}{} {}", counts.empty() ? "" : ", ", heading.text, cells.size());
  }
  text += fmt::format("\n{} cells tested in both: {}\n", comparison.in_both,
                      counts.empty() ? "no difference" : counts);
  return printable(text);
}

}  // namespace tutti
