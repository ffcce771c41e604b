// Order-sensitive reals: the error stays within the bound that holds for any order at the claimed
// accumulation.
#include "suites/agreement/draw.h"

namespace tutti {

static const PropertyRegistration registration{{
    .suite = "agreement",
    .name = "bound",
    .law = "order-sensitive inputs give a result within (n-1) u sum|x| of the exact one",
    .not_applicable = draw::always,
    .draw =
        [](const Cell& cell, const Profile& profile) {
          return draw::case_with(cell, profile, DataClass::rounding);
        },
    .check = nullptr,
}};

}  // namespace tutti
