// A call of no elements succeeds, touches nothing, and leaves the communicator in step.
#include <algorithm>

#include "suites/agreement/draw.h"

namespace tutti {

namespace {

Case draw_case(const Cell& cell, const Profile& profile) {
  Case one_case = draw::surroundings(case_of(cell));
  Allreduce empty = draw::call(cell, profile, DataClass::exact, true);
  empty.count = 0;
  Allreduce next = draw::call(cell, profile, DataClass::exact, false);
  next.count = std::min<std::uint64_t>(next.count, 1000);
  one_case.steps = {empty, next};
  return one_case;
}

const PropertyRegistration registration{{
    .suite = "agreement",
    .name = "zero_count",
    .law = "a call of zero elements touches nothing, and the next call is right",
    .not_applicable = draw::always,
    .draw = draw_case,
    .check = nullptr,
}};

}  // namespace

}  // namespace tutti
