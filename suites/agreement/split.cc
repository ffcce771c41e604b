// A message in two: each element is reduced by itself, so two calls over its parts give what one
// call gives. Exact inputs always; inputs that round where an element's bits are claimed not to
// depend on its place and the count, which is what batch-invariant inference needs.
#include <algorithm>

#include "fixtures/data/data.h"
#include "suites/agreement/draw.h"
#include "suites/agreement/forms.h"

namespace tutti {

namespace {

bool rounds_alike(const Cell& cell) {
  return cell.backend->claims.same_bits_at_any_place.include(cell.path);
}

SkipCause where_parts_are_alike(const Cell& cell) {
  const bool is_exact = is_exact_in_any_order(cell.dtype, cell.op, cell.world);
  return is_exact || rounds_alike(cell) ? SkipCause::none : SkipCause::no_room;
}

Case draw_case(const Cell& cell, const Profile& profile) {
  const bool is_exact = is_exact_in_any_order(cell.dtype, cell.op, cell.world);
  const bool rounds = rounds_alike(cell) && (!is_exact || draw::one_in(2));
  return with_calls(draw::case_with(cell, profile, rounds ? DataClass::rounding : DataClass::exact),
                    [&](Allreduce& call) {
                      call.count = std::max<std::uint64_t>(call.count, 2);
                      call.split = draw::split_of(cell, call);
                    });
}

Outcome check(Runner& runner, const Case& one_case, const Cell& cell, bool fresh) {
  if (one_case == unvaried(one_case)) {
    Outcome outcome;
    outcome.verdict = Verdict::skip;
    outcome.skip_cause = SkipCause::not_claimed;
    outcome.reason = "the claims say something else of parts of these calls than of the whole";
    return outcome;
  }
  return same_bits(runner, unvaried(one_case), one_case, cell, fresh,
                   "a message in two calls gives what one call gives");
}

const PropertyRegistration registration{{
    .suite = "agreement",
    .name = "split",
    .law = "a message in two calls gives what one call gives: exact inputs, and others where an "
           "element's bits are claimed not to depend on its place",
    .not_applicable = where_parts_are_alike,
    .draw = draw_case,
    .check = check,
}};

}  // namespace

}  // namespace tutti
