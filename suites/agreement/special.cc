// Signed zeros, subnormals, infinities, NaN, extremes and wrap-around: IEEE 754 where it decides,
// the claims where not. What is left open is answered in one way by all calls of a case: of any
// counts, with the inputs at these ranks or at others, in one piece or in two.
#include "suites/agreement/draw.h"
#include "suites/agreement/forms.h"

namespace tutti {

namespace {

Case draw_case(const Cell& cell, const Profile& profile) {
  // Two calls at least, most of them of different counts.
  return with_calls(draw::case_with(cell, profile, DataClass::special, 2), [&](Allreduce& call) {
    if (cell.world > 1 && draw::one_in(2)) call.rotate = draw::rotation_of(cell);
    if (draw::one_in(4)) call.split = draw::split_of(cell, call);
  });
}

const PropertyRegistration registration{{
    .suite = "agreement",
    .name = "special",
    .law = "special values come out as IEEE 754 and the backend's claims say, by one rule whatever "
           "the rank, position or count",
    .not_applicable = draw::always,
    .draw = draw_case,
    .check = nullptr,
}};

}  // namespace

}  // namespace tutti
