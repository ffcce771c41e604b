// In place equals out of place: bit for bit where claimed, within the bound elsewhere.
#include "suites/agreement/draw.h"
#include "suites/agreement/forms.h"

namespace tutti {

namespace {

Outcome check(Runner& runner, const Case& one_case, const Cell& cell, bool fresh) {
  const bool is_claimed = cell.backend->claims.in_place_same_bits.include(cell.path);
  return same_bits(runner, placed(one_case, Place::out), placed(one_case, Place::in), cell, fresh,
                   is_claimed ? "equal bits in place and out of place are claimed" : "");
}

const PropertyRegistration registration{{
    .suite = "agreement",
    .name = "in_place",
    .law = "in place gives what out of place gives: the same bits where claimed, within the bound "
           "elsewhere",
    .not_applicable = draw::always,
    .draw =
        [](const Cell& cell, const Profile& profile) {
          return draw::case_with(cell, profile, DataClass::rounding);
        },
    .check = check,
}};

}  // namespace

}  // namespace tutti
