// What the claims refuse is refused by all ranks, touches nothing, and leaves the communicator
// usable.
#include <algorithm>

#include "suites/agreement/draw.h"

namespace tutti {

namespace {

struct Stratum {
  Dtype dtype;
  Op op;
};

ClaimState state(const Cell& cell, const Allreduce& call) {
  return cell.backend->claims.state_of(situation_of(case_of(cell), call, *cell.node)).first;
}

Allreduce plain_call(const Stratum& stratum, DataClass data) {
  Allreduce call;
  call.dtype = stratum.dtype;
  call.op = stratum.op;
  call.count = 1000;
  call.data = data;
  return call;
}

bool is(const Cell& cell, const Stratum& stratum, ClaimState wanted) {
  return state(cell, plain_call(stratum, DataClass::exact)) == wanted;
}

// What the claims refuse of the cell's dtype with any op, and of any dtype with the cell's op, also
// where this version has no numbers for it.
std::vector<Stratum> refused(const Cell& cell) {
  std::vector<Stratum> all;
  for (const std::string& dtype : names<Dtype>()) all.push_back({*parse<Dtype>(dtype), cell.op});
  for (const std::string& op : names<Op>()) {
    if (const Op other = *parse<Op>(op); other != cell.op) all.push_back({cell.dtype, other});
  }
  std::erase_if(all, [&](const Stratum& one) { return !is(cell, one, ClaimState::refuses); });
  return all;
}

// To show that the communicator still works; the cell's own first, none where nothing is claimed.
std::vector<Stratum> claimed(const Cell& cell) {
  std::vector<Stratum> all{{cell.dtype, cell.op}};
  for (const Dtype dtype : kDtypes) {
    for (const Op op : kOps) all.push_back({dtype, op});
  }
  std::erase_if(all, [&](const Stratum& one) { return !is(cell, one, ClaimState::claimed); });
  return all;
}

SkipCause where_something_is_refused(const Cell& cell) {
  return refused(cell).empty() ? SkipCause::not_claimed : SkipCause::none;
}

Allreduce draw_call(Cell cell, const Profile& profile, const Stratum& stratum, DataClass data) {
  cell.dtype = stratum.dtype;
  cell.op = stratum.op;
  return draw::call(cell, profile, data, data == DataClass::bytes);
}

Case draw_case(const Cell& cell, const Profile& profile) {
  Case one_case = draw::surroundings(case_of(cell));
  const std::vector<Stratum> choices = refused(cell);
  const Stratum& stratum = choices[draw::between(0, choices.size() - 1)];
  Allreduce call = draw_call(cell, profile, stratum, DataClass::bytes);
  // Claims may also look at the count or the place.
  if (state(cell, call) != ClaimState::refuses) call = plain_call(stratum, DataClass::bytes);
  one_case.steps = {call};
  if (const std::vector<Stratum> usable = claimed(cell); !usable.empty()) {
    Allreduce after = draw_call(cell, profile, usable.front(), DataClass::exact);
    after.count = std::min<std::uint64_t>(after.count, 1000);
    one_case.steps.emplace_back(after);
  }
  return one_case;
}

const PropertyRegistration registration{{
    .suite = "agreement",
    .name = "refusal",
    .law = "what is refused is refused by all ranks, touches nothing, and the next call is right",
    .not_applicable = where_something_is_refused,
    .draw = draw_case,
    .check = nullptr,
}};

}  // namespace

}  // namespace tutti
