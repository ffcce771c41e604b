// Every combination that a table could forget: `plan` is asked over capabilities, links, worlds,
// sizes, alignments and places, of machines that nobody has. Each hole is reported, and not the
// first one only.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <optional>

#include "fixtures/nodes/compose.h"
#include "suites/agreement/draw.h"
#include "suites/cell_run.h"
#include "suites/expectations.h"
#include "suites/selection/ask_plan.h"

namespace tutti {

namespace {

constexpr std::size_t kRulesMost = 5;  // of one hole that are printed
constexpr double kSecondsOfQuick = 5,
                 kSecondsOfNight = 120;  // of one sweep; a coarse one may be longer

Case case_of_hole(const SweepPlan& plan, const Hole& hole, const Cell& cell) {
  Case one_case = case_at(plan, hole.place, hole.request);
  const Case head = case_of(cell);
  one_case.backend = head.backend;
  one_case.plugin = head.plugin;
  return one_case;
}

std::string text_of(const Hole& hole, const std::string& line) {
  std::string text = fmt::format("{} ({} combinations)", hole.problem.what, hole.points);
  for (std::size_t rule = 0; rule < std::min(hole.rules.size(), kRulesMost); ++rule)
    text += "\n  " + hole.rules[rule];
  if (hole.rules.size() > kRulesMost)
    text += fmt::format("\n  and {} rules more", hole.rules.size() - kRulesMost);
  return text + "\n  tutti replay '" + line + "'";
}

Outcome outcome_of(const Problem& problem) {
  Outcome outcome;
  outcome.verdict = problem.verdict;
  outcome.reason = problem.what;
  return outcome;
}

// The record of a cell from its holes: the worst that is not a known failure decides.
void report_holes(const SweepPlan& plan, const std::vector<Hole>& holes, const Cell& cell,
                  Record& record) {
  std::string known;
  for (const Hole& hole : holes) {
    const Case one_case = case_of_hole(plan, hole, cell);
    const std::string line = to_line(one_case);
    Node node = plan.sweep.base;  // conditions of a known failure are of the machine of the hole
    change(node, parts_of_node(plan.sweep.places[hole.place].changes));
    Cell at_hole = cell;
    at_hole.node = &node;
    if (const Expected* expected = expected_failure(at_hole, one_case, outcome_of(hole.problem))) {
      known += fmt::format("{}\n  known: {} ({})\n", text_of(hole, line), expected->reason,
                           expected->link);
      if (colour_of(record.verdict) == Colour::green) record.verdict = Verdict::expected_fail;
    } else {
      const bool is_first = colour_of(record.verdict) != Colour::red;
      if (is_first || is_worse(hole.problem.verdict, record.verdict)) {
        record.verdict = hole.problem.verdict;
        record.replay = line;
      }
      record.reason += text_of(hole, line) + "\n";
    }
  }
  record.reason += known;
  while (record.reason.ends_with('\n')) record.reason.pop_back();
  if (record.verdict == Verdict::expected_fail)
    record.replay = to_line(case_of_hole(plan, holes.front(), cell));
}

// Answers a second, as a few places of all kinds tell; none when there were no answers.
std::optional<double> rate_of(Runner& runner, const BackendEntry& backend,
                              const SweepPlan& coarse) {
  constexpr std::size_t kPlaces = 16, kStride = 97;  // a prime: every world is met
  PlanSweep probe{coarse.sweep.base, {}, coarse.sweep.requests, false};
  for (std::size_t place = 0; place < kPlaces; ++place)
    probe.places.push_back(coarse.sweep.places[place * kStride % coarse.sweep.places.size()]);
  const AskedPlan asked = ask_plan(runner, backend, probe);
  if (!asked.broken.empty() || asked.answers.calls == 0) return std::nullopt;
  return static_cast<double>(asked.answers.calls) / std::max(asked.answers.seconds, 1e-6);
}

double calls_of(const SweepPlan& plan) {
  return 2.0 * static_cast<double>(plan.sweep.places.size() * plan.sweep.requests.size());
}

// The finest grid that there is time for; none when there is too little even for a coarse one.
std::optional<SweepPlan> plan_for(RunContext& context, const Cell& cell, Record& record) {
  const Claims& claims = cell.backend->claims;
  const Node base = load_node(places().share + "/nodes", kSweepBase);
  const bool is_quick = context.profile.name == "quick";
  SweepPlan coarse = sweep_plan(base, claims, Detail::coarse);
  SweepPlan usual = sweep_plan(base, claims, Detail::usual);
  const std::optional<double> told = rate_of(context.runner, *cell.backend, coarse);
  if (!told) return coarse;  // it dies, and a coarse grid says where
  const double rate = *told;
  const double left = context.pace.seconds_left(std::chrono::steady_clock::now());
  if (!is_quick) {
    SweepPlan full = sweep_plan(base, claims, Detail::full);
    if (calls_of(full) / rate <= std::min(kSecondsOfNight, left)) return full;
  }
  if (calls_of(usual) / rate <= std::min(kSecondsOfQuick, left)) return usual;
  if (calls_of(coarse) / rate > left) return std::nullopt;
  record.reason = fmt::format(
      "few sizes were asked, as plan gives {:.0f} answers a second and there are {} s\n", rate,
      std::min(is_quick ? kSecondsOfQuick : kSecondsOfNight, left));
  return coarse;
}

void sweep(RunContext& context, const Cell& cell, Record& record) {
  const std::optional<SweepPlan> grid = plan_for(context, cell, record);
  if (!grid) {
    record.verdict = Verdict::skip;
    record.skip_cause = SkipCause::time_is_up;
    return;
  }
  const SweepPlan& plan = *grid;
  const AskedPlan asked = ask_plan(context.runner, *cell.backend, plan.sweep);
  if (asked.broken.empty() && asked.answers.texts == std::vector<std::string>{kPlanUnknown}) {
    record.verdict = Verdict::skip;
    record.skip_cause = SkipCause::not_claimed;
    record.reason = "its plan answers nothing: the library cannot be asked";
    return;
  }
  record.cases = plan.sweep.places.size() * plan.sweep.requests.size();
  record.verdict = Verdict::pass;
  report_holes(plan, holes_of(plan, asked.answers, asked.broken, cell.backend->claims), cell,
               record);
}

// One of its questions again.
Outcome check(Runner& runner, const Case& one_case, const Cell& cell, bool) {
  const PlanSweep question{*cell.node, {{"", one_case.world}}, calls_of(one_case), true};
  const AskedPlan asked = ask_plan(runner, *cell.backend, question);
  Outcome outcome;
  outcome.verdict = Verdict::pass;
  if (!asked.broken.empty()) return outcome_of(asked.broken.begin()->second);
  const std::vector<std::uint16_t>& row = asked.answers.rows.at(asked.answers.row_of.at(0));
  for (std::size_t request = 0; request < row.size(); ++request) {
    const std::string& answer = asked.answers.texts[row[request]];
    const Allreduce& call = question.requests[request];
    const auto [state, path] =
        cell.backend->claims.state_of(situation_of(one_case, call, *cell.node));
    for (const Problem& problem : problems_of(answer, state, path)) {
      const std::string before = outcome.is_red() ? outcome.reason + "\n" : "";
      if (!outcome.is_red() || is_worse(problem.verdict, outcome.verdict))
        outcome.verdict = problem.verdict;
      outcome.reason = before + problem.what;
    }
    if (!outcome.is_red()) outcome.reason = "plan says: " + answer;
  }
  return outcome;
}

const PropertyRegistration registration{{
    .suite = "selection",
    .name = "sweep",
    .law = "plan has an answer, with a reason, that the claims allow, for every combination of "
           "capability, links, hosts, world, size, alignment and place, and the same on all ranks",
    .not_applicable = draw::always,
    .draw = nullptr,
    .check = check,
    .whole = sweep,
    .scope = Scope::each_backend,
}};

}  // namespace

}  // namespace tutti
