// Order-independent inputs: the result is exact, bitwise, whatever the backend's order of
// summation.
#include "suites/agreement/draw.h"

namespace tutti {

static const PropertyRegistration registration{{
    .suite = "agreement",
    .name = "exact",
    .law = "inputs whose every partial sum is representable give the exact result, bit for bit",
    .not_applicable = draw::always,
    .draw = [](const Cell& cell,
               const Profile& profile) { return draw::case_with(cell, profile, DataClass::exact); },
    .check = nullptr,
}};

}  // namespace tutti
