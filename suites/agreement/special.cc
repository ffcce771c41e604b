// Signed zeros, subnormals, infinities, NaN, extremes and wrap-around: IEEE 754 where it decides,
// the claims where not.
#include "suites/agreement/draw.h"

namespace tutti {

static const PropertyRegistration registration{{
    .suite = "agreement",
    .name = "special",
    .law = "special values come out as IEEE 754 and the backend's claims say",
    .not_applicable = draw::always,
    .draw =
        [](const Cell& cell, const Profile& profile) {
          return draw::case_with(cell, profile, DataClass::special);
        },
    .check = nullptr,
}};

}  // namespace tutti
