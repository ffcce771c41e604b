// The same inputs through the reference backend, in its own workers, compared element by element.
#include <fmt/format.h>

#include "fixtures/data/data.h"
#include "suites/agreement/draw.h"

namespace tutti {

namespace {

SkipCause where_there_is_one(const Cell& cell) {
  if (!cell.references.empty()) return SkipCause::none;
  return cell.backend->claims.reference_priority > 0 ? SkipCause::is_the_reference
                                                     : SkipCause::no_reference;
}

Case draw_case(const Cell& cell, const Profile& profile) {
  const DataClass data = draw::one_in(2) ? DataClass::exact : DataClass::rounding;
  Case one_case = draw::surroundings(case_of(cell));
  one_case.steps = draw::program([&] { return draw::call(cell, profile, data, true); });
  return one_case;
}

Outcome skipped(SkipCause cause, std::string reason) {
  Outcome outcome;
  outcome.verdict = Verdict::skip;
  outcome.skip_cause = cause;
  outcome.reason = std::move(reason);
  return outcome;
}

bool is_exact(const Case& one_case) {
  for (const Allreduce& call : calls_of(one_case)) {
    if (call.data != DataClass::exact) return false;
    if (!is_exact_in_any_order(call.dtype, call.op, one_case.world)) return false;
  }
  return true;
}

// Each is judged against the exact result by itself; between them, bits must be equal where that
// result is exact, and the largest distance is recorded elsewhere.
Outcome check(Runner& runner, const Case& one_case, const Cell& cell, bool fresh) {
  Outcome mine = runner.run(one_case, *cell.backend, *cell.node, {RunMode::publish, fresh, false});
  if (mine.verdict != Verdict::pass && mine.verdict != Verdict::fell_back) return mine;
  std::string passed_over;
  for (const BackendEntry* reference : cell.references) {
    const Case theirs = on_backend(one_case, *reference);
    const Outcome other =
        runner.run(theirs, *reference, *cell.node, {RunMode::compare, fresh, false});
    if (other.verdict != Verdict::pass) {
      passed_over += fmt::format("{}{}: {}: {}", passed_over.empty() ? "" : "; ", reference->name,
                                 name_of(other.verdict), other.reason);
      continue;
    }
    mine.reference = reference->name;
    mine.max_ulp = other.max_ulp;
    if (!passed_over.empty()) mine.reason = "passed over as references: " + passed_over;
    if (is_exact(one_case) && other.max_ulp > 0) {
      mine.verdict = Verdict::wrong;
      mine.reason =
          fmt::format("differs from {} by {} ulp on exact inputs", reference->name, other.max_ulp);
      runner.blame(one_case, mine);
    }
    return mine;
  }
  return skipped(SkipCause::no_reference,
                 "no reference backend is green on this case: " + passed_over);
}

const PropertyRegistration registration{{
    .suite = "agreement",
    .name = "reference",
    .law = "the reference backend gives the same: equal bits on exact inputs, a recorded distance "
           "elsewhere",
    .not_applicable = where_there_is_one,
    .draw = draw_case,
    .check = check,
}};

}  // namespace

}  // namespace tutti
