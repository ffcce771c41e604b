#include "reports/compare.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <iterator>
#include <tuple>

namespace tutti {
namespace {

constexpr double kErrorFactor = 2;  // two runs with other cases are easily this far apart
constexpr double kErrorMin = 0.1;   // of the bound; what is smaller matters to nobody
constexpr std::int64_t kUlpMin = 1;

using Key =
    std::tuple<std::string, std::string, std::string, std::string, int, std::string, Dtype, Op>;

Key key_of(const Record& record) {
  return {record.backend, record.node, record.suite, record.property,
          record.world,   record.path, record.dtype, record.op};
}

using ByCell = std::map<Key, CellChange>;

enum class State { untested, red, known, green };

State state_of(const Record* record) {
  if (!record || record->verdict == Verdict::skip) return State::untested;
  switch (colour_of(record->verdict)) {
    case Colour::red:
      return State::red;
    case Colour::green:
      return State::green;
    case Colour::grey:
      break;
  }
  return State::known;
}

// What a run left out by its own choice says nothing about the library; that time was up may.
bool is_left_out(const Record* record) {
  return record && record->verdict == Verdict::skip &&
         record->skip_cause == SkipCause::not_in_sample;
}

template <typename Number>
bool is_beyond(Number left, Number right, Number least) {
  const Number larger = std::max(left, right), smaller = std::min(left, right);
  return larger > least && larger / kErrorFactor > smaller;
}

Change change_of_green(const Record& before, const Record& after, bool same_draws) {
  const bool same_cases = same_draws && before.cases == after.cases;
  if (before.verdict != after.verdict || (same_cases && before.paths_taken != after.paths_taken))
    return Change::changed_path;
  if (errors_differ(before, after)) return Change::changed_error;
  const bool have_bits = !before.bits.empty() && !after.bits.empty();
  return same_cases && have_bits && before.bits != after.bits ? Change::changed_bits : Change::same;
}

Change change_of(const CellChange& cell, bool same_draws) {
  const State before = state_of(cell.before), after = state_of(cell.after);
  if (after == State::red && before != State::red) return Change::new_red;
  if (before == State::red && after == State::green) return Change::fixed;
  if (is_left_out(cell.before) || is_left_out(cell.after)) return Change::untested;
  if (before == State::untested)
    return after == State::untested ? Change::untested : Change::appeared;
  if (after == State::untested) return Change::vanished;
  if (before == State::green && after == State::green)
    return change_of_green(*cell.before, *cell.after, same_draws);
  const bool is_same = cell.before->verdict == cell.after->verdict &&
                       without_numbers(cell.before->reason) == without_numbers(cell.after->reason);
  return is_same ? Change::same : Change::changed_verdict;
}

// Of backends that both runs asked; the others are told as cells that appeared or vanished.
std::map<std::string, Versions> changed_versions(const ByCell& cells) {
  std::map<std::string, Versions> versions;
  for (const auto& [key, cell] : cells) {
    Versions& of_backend = versions[cell.record().backend];
    if (cell.before && !cell.before->version.empty())
      of_backend.before.insert(cell.before->version);
    if (cell.after && !cell.after->version.empty()) of_backend.after.insert(cell.after->version);
  }
  std::erase_if(versions, [](const auto& entry) {
    const auto& [before, after] = entry.second;
    return before.empty() || after.empty() || before == after;
  });
  return versions;
}

}  // namespace

std::string_view name_of(Change change) {
  constexpr std::string_view kNames[kChanges] = {
      "new_red",         "fixed",    "changed_path", "changed_error", "changed_bits",
      "changed_verdict", "appeared", "vanished",     "same",          "untested"};
  return kNames[static_cast<std::size_t>(change)];
}

std::vector<CellChange> Comparison::of(Change change) const {
  std::vector<CellChange> found;
  std::copy_if(cells.begin(), cells.end(), std::back_inserter(found),
               [change](const CellChange& cell) { return cell.change == change; });
  return found;
}

Comparison compare(const std::vector<Record>& before, const std::vector<Record>& after,
                   bool same_draws) {
  ByCell cells;
  for (const Record& record : before) cells[key_of(record)].before = &record;
  for (const Record& record : after) cells[key_of(record)].after = &record;
  Comparison comparison;
  comparison.versions = changed_versions(cells);
  for (auto& [key, cell] : cells) {
    cell.change = change_of(cell, same_draws);
    comparison.cells.push_back(cell);
    if (state_of(cell.before) != State::untested && state_of(cell.after) != State::untested)
      ++comparison.in_both;
  }
  return comparison;
}

bool errors_differ(const Record& before, const Record& after) {
  if (before.reference != after.reference) return true;
  if (std::isnan(before.max_error) != std::isnan(after.max_error)) return true;
  if (is_beyond(before.max_error, after.max_error, kErrorMin)) return true;
  const bool compared = before.max_ulp_vs_reference >= 0 && after.max_ulp_vs_reference >= 0;
  return compared && is_beyond(before.max_ulp_vs_reference, after.max_ulp_vs_reference, kUlpMin);
}

std::string without_numbers(const std::string& reason) {
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  const auto is_part = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) || c == '.';
  };
  std::string text;
  for (auto at = reason.begin(); at != reason.end();) {
    const auto first = *at == '-' || *at == '+' ? at + 1 : at;
    if (first == reason.end() || !is_digit(*first)) {
      text += *at++;
      continue;
    }
    at = std::find_if_not(first, reason.end(), is_part);
    if (text.ends_with("# ")) text.pop_back();  // a list, such as of ranks
    if (!text.ends_with('#')) text += '#';
  }
  return text;
}

int exit_status_of(const Comparison& comparison) {
  if (comparison.in_both == 0) return 2;
  return comparison.of(Change::new_red).empty() ? 0 : 1;
}

}  // namespace tutti
