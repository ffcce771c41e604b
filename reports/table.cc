// What is printed at the end of a run.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>

#include "reports/report.h"
#include "reports/text.h"

namespace tutti {
namespace {

constexpr std::size_t kColumns = 100;
constexpr std::string_view kGap = "  ";

using Row = std::vector<std::string>;               // backend and property, or node
using Verdicts = std::map<Verdict, std::uint64_t>;  // counts in one cell of the table

// Columns are in the order of their numbers, then of their names.
struct Grid {
  Row headings;  // of the rows' labels
  std::map<Row, std::map<std::pair<int, std::string>, Verdicts>> rows;
  std::set<std::pair<int, std::string>> columns;
  void count(const Row& row, int number, const std::string& column, Verdict verdict) {
    ++rows[row][{number, column}][verdict];
    columns.insert({number, column});
  }
};

// Worst first: what a reader has to see of a cell in which verdicts differ.
constexpr std::array kWorstFirst{Verdict::crash,     Verdict::hang,
                                 Verdict::corrupt,   Verdict::wrong,
                                 Verdict::split,     Verdict::leak,
                                 Verdict::lost_path, Verdict::unfired,
                                 Verdict::missing,   Verdict::unexpected_pass,
                                 Verdict::flaky,     Verdict::expected_fail,
                                 Verdict::fell_back, Verdict::refused,
                                 Verdict::pass,      Verdict::skip};

std::uint64_t number_of(const Verdicts& verdicts, Verdict verdict) {
  const auto found = verdicts.find(verdict);
  return found == verdicts.end() ? 0 : found->second;
}

// "12": all passed. "1 wrong/12": that is the worst, of 12 that were not skipped. "2 hang+1/12":
// and 1 red of another kind. "skip": all were skipped.
std::string cell_text(const Verdicts& verdicts) {
  std::uint64_t tested = 0, red = 0;
  for (const auto& [verdict, count] : verdicts) {
    if (verdict != Verdict::skip) tested += count;
    if (colour_of(verdict) == Colour::red) red += count;
  }
  const auto occurs = [&](Verdict verdict) { return number_of(verdicts, verdict) > 0; };
  const auto worst = std::find_if(kWorstFirst.begin(), kWorstFirst.end(), occurs);
  if (worst == kWorstFirst.end()) return ".";
  if (*worst == Verdict::skip) return "skip";
  if (*worst == Verdict::pass) return fmt::format("{}", tested);
  const std::uint64_t count = number_of(verdicts, *worst);
  const std::string others = red > count ? fmt::format("+{}", red - count) : "";
  return fmt::format("{} {}{}/{}", count, name_of(*worst), others, tested);
}

struct Column {
  std::vector<std::string> texts;  // heading first
  std::size_t width = 0;
  void add(std::string text) {
    width = std::max(width, text.size());
    texts.push_back(std::move(text));
  }
};

Column column_of(const Grid& grid, const std::pair<int, std::string>& key) {
  Column column;
  column.add(printable(key.second));
  for (const auto& [row, cells] : grid.rows) {
    const auto found = cells.find(key);
    column.add(cell_text(found == cells.end() ? Verdicts{} : found->second));
  }
  return column;
}

std::string lines_of(const std::vector<Column>& columns) {
  std::string text;
  for (std::size_t line = 0; line < columns.front().texts.size(); ++line) {
    std::string row;
    for (const Column& column : columns)
      row += fmt::format("{:<{}}{}", column.texts[line], column.width, kGap);
    row.erase(row.find_last_not_of(' ') + 1);
    text += row + "\n";
  }
  return text;
}

// The columns side by side, in as many blocks below one another as the width asks for.
std::string blocks_of(const Grid& grid) {
  if (grid.rows.empty()) return "";
  std::vector<Column> labels(grid.headings.size());
  std::size_t label_width = 0;
  for (std::size_t label = 0; label < labels.size(); ++label) {
    labels[label].add(grid.headings[label]);
    for (const auto& [row, unused] : grid.rows) labels[label].add(printable(row[label]));
    label_width += labels[label].width + (label == 0 ? 0 : kGap.size());
  }
  std::string text;
  std::vector<Column> block = labels;
  std::size_t width = label_width;
  for (const auto& key : grid.columns) {
    Column column = column_of(grid, key);
    if (block.size() > labels.size() && width + kGap.size() + column.width > kColumns) {
      text += lines_of(block) + "\n";
      block = labels;
      width = label_width;
    }
    width += kGap.size() + column.width;
    block.push_back(std::move(column));
  }
  return text + lines_of(block);
}

// "2 red (1 hang, 1 wrong)"
std::string colour_text(Colour colour, const std::string& name,
                        const std::map<std::string, std::uint64_t>& totals) {
  std::string parts;
  for (const Verdict verdict : kWorstFirst) {
    const auto found = totals.find(std::string(name_of(verdict)));
    if (found == totals.end() || colour_of(verdict) != colour) continue;
    parts += fmt::format("{}{} {}", parts.empty() ? "" : ", ", found->second, found->first);
  }
  return fmt::format("{} {}{}\n", totals.at(name), name, parts.empty() ? "" : " (" + parts + ")");
}

std::string skips_of(const std::vector<Record>& records) {
  std::map<std::string, std::uint64_t> causes;
  for (const Record& record : records) {
    if (record.verdict == Verdict::skip) ++causes[std::string(name_of(record.skip_cause))];
  }
  std::string text;
  for (const auto& [cause, count] : causes)
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", count, cause);
  return text.empty() ? "" : "skipped: " + text + "\n";
}

std::string cell_name(const Record& record) {
  return fmt::format("{} / {} / {} / world {} / {} / {} / {}", record.backend, record.node,
                     record.property, record.world, record.path, name_of(record.dtype),
                     name_of(record.op));
}

std::string indented(const std::string& text) {
  std::string result = "    ";
  for (const char character : text)
    result += character == '\n' ? "\n    " : std::string(1, character);
  return result + "\n";
}

// Backends of which no cell was tested, with the first reason; they would fill the table with
// "skip".
std::map<std::string, std::string> untested_of(const std::vector<Record>& records) {
  std::map<std::string, std::string> reasons;
  std::set<std::string> tested;
  for (const Record& record : records) {
    if (record.verdict != Verdict::skip) tested.insert(record.backend);
    const std::string why = record.reason.empty() ? "" : ": " + record.reason;
    reasons.try_emplace(record.backend, fmt::format("{}{}", name_of(record.skip_cause), why));
  }
  for (const std::string& backend : tested) reasons.erase(backend);
  return reasons;
}

std::string lines_of(const std::map<std::string, std::string>& untested) {
  std::string text;
  for (const auto& [backend, reason] : untested)
    text += fmt::format("{}: all cells skipped, {}\n", printable(backend), printable(reason));
  return text;
}

}  // namespace

std::string summary_table(const std::vector<Record>& records) {
  if (records.empty()) return "no records: nothing was tested\n";
  const std::map<std::string, std::string> untested = untested_of(records);
  Grid properties{{"backend", "property"}, {}, {}}, nodes{{"node"}, {}, {}};
  std::uint64_t cases = 0;
  for (const Record& record : records) {
    cases += record.cases;
    if (untested.contains(record.backend)) continue;
    properties.count({record.backend, record.property}, record.world,
                     fmt::format("w{}", record.world), record.verdict);
    nodes.count({record.node}, 0, record.backend, record.verdict);
  }
  const auto totals = totals_of(records);
  std::string table = blocks_of(properties);
  if (nodes.rows.size() > 1) table += "\n" + blocks_of(nodes);
  return table + lines_of(untested) + fmt::format("\n{} cells, {} cases\n", records.size(), cases) +
         colour_text(Colour::green, "green", totals) + colour_text(Colour::red, "red", totals) +
         colour_text(Colour::grey, "grey", totals) + skips_of(records);
}

std::string red_cells(const std::vector<Record>& records) {
  std::string text;
  for (const Record& record : records) {
    if (colour_of(record.verdict) != Colour::red) continue;
    text += fmt::format("{}: {}\n", name_of(record.verdict), printable(cell_name(record)));
    if (!record.reason.empty()) text += indented(printable(record.reason));
    if (!record.replay.empty())
      text += indented("tutti replay " + printable(shell_quoted(record.replay)));
  }
  return text;
}

}  // namespace tutti
