// What the claims refuse is refused by all ranks, touches nothing, and leaves the communicator
// usable.
#include <algorithm>

#include "suites/agreement/draw.h"

namespace tutti {

namespace {

Situation situation(const Cell& cell, Dtype dtype, Op op) {
  Case one_case = case_of(cell);
  Allreduce call;
  call.dtype = dtype;
  call.op = op;
  call.count = 1000;
  return situation_of(one_case, call, *cell.node);
}

ClaimState state(const Cell& cell, Dtype dtype, Op op) {
  return cell.backend->claims.state_of(situation(cell, dtype, op)).first;
}

SkipCause where_refused(const Cell& cell) {
  return state(cell, cell.dtype, cell.op) == ClaimState::refuses ? SkipCause::none
                                                                 : SkipCause::not_claimed;
}

// A dtype and op that the backend claims, to show that the communicator still works; false when
// there is none.
bool claimed_call(const Cell& cell, Allreduce& call) {
  for (const Dtype dtype : kDtypes) {
    for (const Op op : kOps) {
      if (state(cell, dtype, op) != ClaimState::claimed) continue;
      call.dtype = dtype;
      call.op = op;
      return true;
    }
  }
  return false;
}

Case draw_case(const Cell& cell, const Profile& profile) {
  Case one_case = draw::surroundings(case_of(cell));
  Allreduce after = draw::call(cell, profile, DataClass::exact, false);
  after.count = std::min<std::uint64_t>(after.count, 1000);
  one_case.steps = {draw::call(cell, profile, DataClass::exact, true)};
  if (claimed_call(cell, after)) one_case.steps.emplace_back(after);
  return one_case;
}

const PropertyRegistration registration{{
    .suite = "agreement",
    .name = "refusal",
    .law = "what is refused is refused by all ranks, touches nothing, and the next call is right",
    .not_applicable = where_refused,
    .draw = draw_case,
    .check = nullptr,
}};

}  // namespace

}  // namespace tutti
