// A message in two: each element is reduced by itself, so two calls over its parts give what one
// call gives. Exact inputs always; inputs that round where an element's bits are claimed not to
// depend on its place and the count, which is what batch-invariant inference needs.
#include <algorithm>

#include "fixtures/data/data.h"
#include "suites/agreement/draw.h"
#include "suites/agreement/same_bits.h"

namespace tutti {

namespace {

constexpr std::uint64_t kAlignment = 256;  // bytes: the second part is aligned as the first

Case draw_case(const Cell& cell, const Profile& profile) {
  const bool rounds =
      cell.backend->claims.same_bits_at_any_place.include(cell.path) && draw::one_in(2);
  const std::uint64_t step = kAlignment / bytes_of(cell.dtype);
  return with_calls(draw::case_with(cell, profile, rounds ? DataClass::rounding : DataClass::exact),
                    [&](Allreduce& call) {
                      call.count += step;
                      call.split = step * draw::between(1, call.count / step);
                    });
}

Outcome check(Runner& runner, const Case& one_case, const Cell& cell, bool fresh) {
  return same_bits(runner, unvaried(one_case), one_case, cell, fresh,
                   "a message in two calls gives what one call gives");
}

const PropertyRegistration registration{{
    .suite = "agreement",
    .name = "split",
    .law = "a message in two calls gives what one call gives: exact inputs, and others where an "
           "element's bits are claimed not to depend on its place",
    .not_applicable = draw::always,
    .draw = draw_case,
    .check = check,
}};

}  // namespace

}  // namespace tutti
