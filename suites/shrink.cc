// From the first red case to the smallest one that is still red, within a wall-clock budget.
#include <fmt/format.h>
#include <rapidcheck.h>

#include "suites/cell_run.h"
#include "suites/expectations.h"

namespace tutti {

using Clock = std::chrono::steady_clock;

namespace {

constexpr int kRepeats = 3;

rc::Seq<Case> shrinks_of(const Case& one_case);

// One field of one call made smaller.
template <typename Field>
rc::Seq<Case> shrink_field(const Case& one_case, Field Allreduce::*field, Field target) {
  rc::Seq<Case> all;
  for (std::size_t i = 0; i < one_case.steps.size(); ++i) {
    const auto* call = std::get_if<Allreduce>(&one_case.steps[i]);
    if (!call || call->*field == target) continue;
    // In place the result's offset is the input's.
    if constexpr (std::is_same_v<Field, std::uint32_t>) {
      if (field == &Allreduce::recv_offset && call->place == Place::in) continue;
    }
    all = rc::seq::concat(std::move(all),
                          rc::seq::map(rc::shrink::towards(call->*field, target), [=](Field value) {
                            Case smaller = one_case;
                            Allreduce& changed = std::get<Allreduce>(smaller.steps[i]);
                            changed.*field = value;
                            if (changed.split >= changed.count) changed.split = 0;
                            if (changed.place == Place::in)
                              changed.recv_offset = changed.send_offset;
                            return smaller;
                          }));
  }
  return all;
}

rc::Seq<Case> shrink_steps(const Case& one_case) {
  return rc::seq::map(rc::shrink::removeChunks(one_case.steps),
                      [one_case](std::vector<Step> steps) {
                        Case smaller = one_case;
                        smaller.steps = std::move(steps);
                        return smaller;
                      });
}

// Fewer cases before it, then less of each.
rc::Seq<Case> shrink_earlier(const Case& one_case) {
  auto all = rc::seq::map(rc::shrink::removeChunks(one_case.earlier),
                          [one_case](std::vector<EarlierCase> earlier) {
                            Case smaller = one_case;
                            smaller.earlier = std::move(earlier);
                            return smaller;
                          });
  for (std::size_t i = 0; i < one_case.earlier.size(); ++i) {
    all = rc::seq::concat(
        std::move(all),
        rc::seq::map(shrinks_of(alone(one_case, one_case.earlier[i])), [=](const Case& less) {
          Case smaller = one_case;
          smaller.earlier[i] = as_earlier(less);
          return smaller;
        }));
  }
  return all;
}

rc::Seq<Case> without(const Case& one_case) {
  std::vector<Case> simpler;
  if (!one_case.skews_us.empty()) simpler.push_back(one_case), simpler.back().skews_us.clear();
  if (one_case.delays != 0) simpler.push_back(one_case), simpler.back().delays = 0;
  return rc::seq::fromContainer(std::move(simpler));
}

bool has_call(const Case& one_case) { return !calls_of(one_case).empty(); }

// Smaller cases that may fail in the same way: less before them, fewer steps, smaller counts and
// offsets, no skews, no delays.
rc::Seq<Case> shrinks_of(const Case& one_case) {
  return rc::seq::filter(
      rc::seq::concat(shrink_earlier(one_case), shrink_steps(one_case), without(one_case),
                      shrink_field(one_case, &Allreduce::count, std::uint64_t{0}),
                      shrink_field(one_case, &Allreduce::send_offset, 0u),
                      shrink_field(one_case, &Allreduce::recv_offset, 0u)),
      has_call);
}

// Greedy: the first smaller case that fails in the same way becomes the current one. A new failure
// must not shrink into a known one, which would hide it.
Failure shrink(RunContext& context, const Cell& cell, Failure failure) {
  const auto end =
      Clock::now() + std::chrono::duration_cast<Clock::duration>(
                         std::chrono::duration<double>(context.profile.shrink_seconds));
  bool smaller = true;
  while (smaller && Clock::now() < end) {
    smaller = false;
    rc::Seq<Case> candidates = shrinks_of(failure.smallest);
    while (auto candidate = candidates.next()) {
      if (Clock::now() >= end) break;
      if (*candidate == failure.smallest) continue;
      Outcome outcome = check_case(context.runner, *candidate, cell, true);
      if (outcome.verdict != failure.outcome.verdict) continue;
      if (expected_failure(cell, *candidate, outcome)) continue;
      failure.smallest = *candidate;
      failure.outcome = std::move(outcome);
      smaller = true;
      break;
    }
  }
  return failure;
}

// Red, and no known failure: meeting one of those confirms nothing.
bool is_new(const Cell& cell, const Case& one_case, const Outcome& outcome) {
  return outcome.is_red() && !expected_failure(cell, one_case, outcome);
}

// How often a case is red in fresh workers; the last red outcome is kept.
int red_of(RunContext& context, const Cell& cell, const Case& one_case, int runs, Outcome& kept) {
  int red = 0;
  for (int i = 0; i < runs; ++i) {
    Outcome outcome = check_case(context.runner, one_case, cell, true);
    if (!is_new(cell, one_case, outcome)) continue;
    ++red;
    kept = std::move(outcome);
  }
  return red;
}

// The shrunk case once more, a few times: a racy one says how often it is red.
Failure with_rate(RunContext& context, const Cell& cell, Failure failure) {
  if (failure.outcome.verdict == Verdict::hang) return failure;  // each run would take a deadline
  Outcome kept = failure.outcome;
  const int red = red_of(context, cell, failure.smallest, kRepeats, kept);
  if (red == kRepeats) return failure;
  failure.note += fmt::format("{}racy: red {} of {} times when repeated in fresh workers",
                              failure.note.empty() ? "" : "; ", red, kRepeats);
  return failure;
}

}  // namespace

Failure confirm_and_shrink(RunContext& context, const Cell& cell, const Case& first,
                           const Outcome& seen) {
  Outcome outcome = check_case(context.runner, first, cell, true);
  if (is_new(cell, first, outcome)) {
    return with_rate(context, cell, shrink(context, cell, {first, outcome, ""}));
  }
  if (!seen.before.empty()) {
    Case longer = first;
    longer.earlier = seen.before;
    outcome = check_case(context.runner, longer, cell, true);
    if (is_new(cell, longer, outcome)) {
      return with_rate(
          context, cell,
          shrink(context, cell, {longer, outcome, "it needs earlier cases in the same workers"}));
    }
  }
  Outcome kept = seen;
  const int red = red_of(context, cell, first, kRepeats, kept);
  return {
      first, kept,
      fmt::format(
          "racy or dependent on its surroundings: red once, then {} of {} times in fresh workers",
          red, kRepeats + 1)};
}

}  // namespace tutti
