#include "suites/expectations.h"

#include <algorithm>

namespace tutti {

namespace {

bool names_match(const Expected& expected, const Cell& cell) {
  return (expected.property.empty() || expected.property == cell.property->full_name()) &&
         (expected.node.empty() || expected.node == cell.node->name) &&
         (expected.path.empty() || expected.path == cell.path);
}

// Of the whole call, or of one of the two that it is carried out as.
bool holds(const Predicate& when, const Case& one_case, const Allreduce& call, const Node& node) {
  std::vector<Allreduce> parts{call};
  if (call.split > 0) {
    for (const Allreduce& part : parts_of(call)) parts.push_back(part);
  }
  return std::any_of(parts.begin(), parts.end(), [&](const Allreduce& part) {
    return when.holds(situation_of(one_case, part, node));
  });
}

}  // namespace

const Expected* expected_failure(const Cell& cell, const Case& one_case, const Outcome& outcome) {
  if (outcome.in_earlier >= 0) {
    Outcome of_earlier = outcome;
    of_earlier.in_earlier = -1;
    const EarlierCase& earlier = one_case.earlier.at(static_cast<std::size_t>(outcome.in_earlier));
    return expected_failure(cell, alone(one_case, earlier), of_earlier);
  }
  const std::vector<Allreduce> calls = calls_of(one_case);
  for (const Expected& expected : cell.backend->expected) {
    const auto& forms = expected.verdicts;
    const bool is_that = std::find(forms.begin(), forms.end(), outcome.verdict) != forms.end();
    if (!is_that || !names_match(expected, cell)) continue;
    for (std::size_t i = 0; i < calls.size(); ++i) {
      if (outcome.call >= 0 && outcome.call != static_cast<int>(i)) continue;
      if (holds(expected.when, one_case, calls[i], *cell.node)) return &expected;
    }
  }
  return nullptr;
}

void GreenAgainstExpected::add(const Cell& cell, const Case& green) {
  const std::vector<Allreduce> calls = calls_of(green);
  for (const Expected& expected : cell.backend->expected) {
    if (expected.flaky || !names_match(expected, cell)) continue;
    // A call of no elements shows no failure of numbers.
    const bool should_fail = std::any_of(calls.begin(), calls.end(), [&](const Allreduce& call) {
      return call.count > 0 && holds(expected.when, green, call, *cell.node);
    });
    if (should_fail) ++cases_[&expected];
  }
}

const Expected* GreenAgainstExpected::contradicted(int least) const {
  for (const auto& [expected, cases] : cases_) {
    if (cases >= least) return expected;
  }
  return nullptr;
}

}  // namespace tutti
