#include "suites/cell_run.h"

#include <fmt/format.h>
#include <rapidcheck.h>

#include <algorithm>

#include "fixtures/data/data.h"
#include "suites/expectations.h"
#include "suites/sample.h"

namespace tutti {

using Clock = std::chrono::steady_clock;

namespace {

constexpr int kSizeMin = 10;  // RapidCheck's size of the first case of a cell; it grows to kSizeMax
constexpr int kSizeMax = 100;
// A known failure counts as mended when this many cases that should show it are green; few can be
// green by chance, so more are drawn for that.
constexpr int kGreenEnough = 20;
constexpr int kMoreCases = 60;

// The cases of a cell, drawn one after the other, and which of them speak against a known failure.
struct Draw {
  rc::Random random;
  rc::Gen<Case> cases;
  Case last;
  GreenAgainstExpected green;
};

void skip(Record& record, SkipCause cause, std::string reason) {
  record.verdict = Verdict::skip;
  record.skip_cause = cause;
  record.reason = std::move(reason);
}

// One hash over those of all cases so far; none once a case has none.
void merge_bits(Record& record, const Outcome& outcome) {
  const bool is_first = record.cases == 1;
  if (outcome.bits.empty() || (!is_first && record.bits.empty())) {
    record.bits.clear();
  } else {
    const std::string all = record.bits + outcome.bits;
    record.bits = fmt::format("{:016x}", hash_bytes(all.data(), all.size()));
  }
}

void merge(Record& record, const Outcome& outcome) {
  merge_bits(record, outcome);
  std::set<std::string> paths(record.paths_taken.begin(), record.paths_taken.end());
  paths.insert(outcome.paths.begin(), outcome.paths.end());
  record.paths_taken.assign(paths.begin(), paths.end());
  record.max_error = std::max(record.max_error, outcome.max_error);
  record.max_ulp_vs_reference = std::max(record.max_ulp_vs_reference, outcome.max_ulp);
  if (!outcome.reference.empty()) record.reference = outcome.reference;
  if (outcome.is_red() || record.verdict == Verdict::expected_fail) return;
  if (record.cases == 1 || is_worse(outcome.verdict, record.verdict)) {
    record.verdict = outcome.verdict;
    record.reason = outcome.reason;
  }
  if (outcome.bound_hides && record.reason.empty()) {
    record.reason =
        "the bound is so wide that a missing contribution could pass; exact carries the weight";
  }
}

std::string path_in_world(const Cell& cell) {
  return fmt::format("{}/{}/{}", cell.backend->name, cell.path, cell.world);
}

// Checks the case that was drawn last; false when the cell is decided.
bool check_next(RunContext& context, const Cell& cell, Draw& draw, Record& record) {
  const Case& one_case = draw.last;
  const Outcome outcome = check_case(context.runner, one_case, cell, false);
  ++record.cases;
  merge(record, outcome);
  if (outcome.verdict == Verdict::skip) {
    // One case that could not be checked says nothing about the others.
    if (record.verdict == Verdict::skip) skip(record, outcome.skip_cause, outcome.reason);
    if (outcome.skip_cause != SkipCause::not_installed) return true;
    context.not_installed[cell.backend->name] = outcome.reason;
    return false;
  }
  if (!outcome.is_red()) {
    // A refusal shows nothing about a failure.
    if (outcome.verdict != Verdict::refused) draw.green.add(cell, one_case);
    return true;
  }
  if (const Expected* expected = expected_failure(cell, one_case, outcome)) {
    if (record.verdict != Verdict::expected_fail) report(record, {one_case, outcome, ""}, expected);
    if (outcome.verdict == Verdict::hang) {  // each costs a deadline: one is enough
      context.known_to_hang.insert(path_in_world(cell));
      return false;
    }
    return true;  // there may be another failure behind the known one
  }
  report(record, confirm_and_shrink(context, cell, one_case, outcome), nullptr);
  return false;
}

// Where the time of a cell can end: at few places, so that often as many cases are carried out in
// another run, and their bits can be compared.
bool may_stop_before(int number) { return number > 0 && (number & (number - 1)) == 0; }

// Draws and checks cases number `first` to `end`; false when the cell is decided before.
bool check_range(RunContext& context, const Cell& cell, Draw& draw, int first, int end,
                 Record& record) {
  for (int i = first; i < end; ++i) {
    const Clock::time_point now = Clock::now();
    if (context.pace.is_time_up(now)) {
      if (i == 0) skip(record, SkipCause::time_is_up, "--time was up before its first case");
      return false;
    }
    if (may_stop_before(i) && context.pace.is_share_used(now)) return false;
    const int size = std::min(
        kSizeMax, kSizeMin + (kSizeMax - kSizeMin) * i / std::max(1, context.profile.cases - 1));
    draw.last = draw.cases(draw.random.split(), size).value();
    if (context.trace) *context.trace << to_line(draw.last) << std::endl;
    if (!check_next(context, cell, draw, record)) return false;
  }
  return true;
}

void check_cases(RunContext& context, const Cell& cell, Record& record) {
  const std::string name = name_of(cell);
  context.runner.set_purpose(name_of(record));
  Draw draw{rc::Random(context.seed ^ hash_bytes(name.data(), name.size())),
            rc::gen::exec([&cell, &context] { return cell.property->draw(cell, context.profile); }),
            {},
            {}};
  const int most = cell.property->cases_most;
  const int cases = most > 0 ? std::min(most, context.profile.cases) : context.profile.cases;
  if (!check_range(context, cell, draw, 0, cases, record) ||
      colour_of(record.verdict) != Colour::green)
    return;
  // Where each case takes fresh workers, more of them would take too long.
  if (most > 0 || !draw.green.contradicted(1) ||
      !check_range(context, cell, draw, cases, cases + kMoreCases, record) ||
      colour_of(record.verdict) != Colour::green)
    return;
  const Expected* expected = draw.green.contradicted(kGreenEnough);
  if (!expected) return;
  record.verdict = Verdict::unexpected_pass;
  record.bits.clear();
  record.reason = fmt::format(
      "expected.toml says {} ({}), but at least {} cases for which it should be so are "
      "green; take the entry out, or narrow it",
      name_of(expected->verdicts.front()), expected->reason, kGreenEnough);
  record.replay = to_line(draw.last);
}

}  // namespace

void report(Record& record, const Failure& failure, const Expected* expected) {
  record.verdict = expected ? Verdict::expected_fail : failure.outcome.verdict;
  record.reason = failure.outcome.reason;
  if (!failure.note.empty()) record.reason += "; " + failure.note;
  if (expected) {
    record.reason = fmt::format("{}: {}; known: {} ({})", name_of(failure.outcome.verdict),
                                record.reason, expected->reason, expected->link);
  }
  record.bits.clear();
  record.replay = to_line(failure.smallest);
  record.evidence = failure.outcome.evidence;
}

Outcome check_case(Runner& runner, const Case& one_case, const Cell& cell, bool fresh) {
  if (cell.property->check) return cell.property->check(runner, one_case, cell, fresh);
  Runner::Want want;
  want.fresh = fresh;
  return runner.run(one_case, *cell.backend, *cell.node, want);
}

bool needs_gpu(const RunContext& context, const Cell& cell) {
  return cell.node->device_kind == "host" && !cell.property->whole &&
         context.cuda_only.contains(cell.backend->name);
}

Record check_cell(RunContext& context, const Cell& cell) {
  const auto start = Clock::now();
  Record record = record_of(cell);
  record.build_id = context.build_id;
  const SkipCause cause = cell.property->not_applicable(cell);
  const auto absent = context.not_installed.find(cell.backend->name);
  const auto broken = context.broken.find(cell.backend->name);
  if (broken != context.broken.end()) {
    record.verdict = Verdict::crash;
    record.reason = broken->second;
  } else if (absent != context.not_installed.end()) {
    skip(record, SkipCause::not_installed, absent->second);
  } else if (needs_gpu(context, cell)) {
    skip(record, SkipCause::no_gpu, "it takes CUDA memory only, and this node has none");
  } else if (cause != SkipCause::none) {
    skip(record, cause, "");
  } else if (!context.sample.takes(cell)) {
    skip(record, SkipCause::not_in_sample, "");
  } else if (context.known_to_hang.contains(path_in_world(cell))) {
    context.pace.begin_cell();  // its share is for the others
    skip(record, SkipCause::known_failure, "another cell of this path and world shows it");
  } else {
    context.pace.begin_cell();
    record.version = context.runner.identity(*cell.backend).version;
    if (context.pace.is_late(Clock::now())) {
      skip(record, SkipCause::time_is_up, "left out, so that --time is enough for others");
    } else if (cell.property->whole) {
      cell.property->whole(context, cell, record);
    } else {
      check_cases(context, cell, record);
    }
  }
  record.seconds = std::chrono::duration<double>(Clock::now() - start).count();
  return record;
}

}  // namespace tutti
