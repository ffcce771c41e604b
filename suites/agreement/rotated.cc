// Ranks that exchange their inputs: where every order gives the exact result, the bits stay. With
// two ranks that holds for inputs that round, too, since addition commutes.
#include "fixtures/data/data.h"
#include "suites/agreement/draw.h"
#include "suites/agreement/forms.h"

namespace tutti {

namespace {

SkipCause where_order_does_not_matter(const Cell& cell) {
  if (cell.world == 1) return SkipCause::world_too_small;
  const bool is_exact = is_exact_in_any_order(cell.dtype, cell.op, cell.world);
  return is_exact || cell.world == 2 ? SkipCause::none : SkipCause::no_room;
}

Case draw_case(const Cell& cell, const Profile& profile) {
  const bool rounds = cell.world == 2 && draw::one_in(2);
  return with_calls(draw::case_with(cell, profile, rounds ? DataClass::rounding : DataClass::exact),
                    [&](Allreduce& call) { call.rotate = draw::rotation_of(cell); });
}

Outcome check(Runner& runner, const Case& one_case, const Cell& cell, bool fresh) {
  return same_bits(runner, unvaried(one_case), one_case, cell, fresh,
                   "the same inputs at other ranks give the same result");
}

const PropertyRegistration registration{{
    .suite = "agreement",
    .name = "rotated",
    .law = "inputs whose every partial sum is representable, and any inputs of two ranks, give the "
           "same bits whichever rank has them",
    .not_applicable = where_order_does_not_matter,
    .draw = draw_case,
    .check = check,
}};

}  // namespace

}  // namespace tutti
