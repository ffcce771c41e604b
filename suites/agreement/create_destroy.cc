// A communicator is made, used and destroyed in fresh workers, and nothing of it is left on the
// device.
#include <algorithm>

#include "suites/agreement/draw.h"

namespace tutti {

namespace {

SkipCause once_a_path(const Cell& cell) {
  // Creation does not depend on dtype and op: one stratum of each path stands for all.
  return cell.dtype == kDtypes.front() && cell.op == kOps.front() ? SkipCause::none
                                                                  : SkipCause::other_stratum;
}

Case draw_case(const Cell& cell, const Profile& profile) {
  Case one_case = draw::surroundings(case_of(cell));
  Allreduce call = draw::call(cell, profile, DataClass::exact, false);
  call.count = std::min<std::uint64_t>(call.count, 4096);
  one_case.steps = {call};
  return one_case;
}

Outcome check(Runner& runner, const Case& one_case, const Cell& cell, bool) {
  return runner.run(one_case, *cell.backend, *cell.node, {RunMode::plain, true, true});
}

const PropertyRegistration registration{{
    .suite = "agreement",
    .name = "create_destroy",
    .law = "create, one call and destroy succeed in fresh workers and leave nothing open on the "
           "device",
    .not_applicable = once_a_path,
    .draw = draw_case,
    .check = check,
    .cases_most = 2,
}};

}  // namespace

}  // namespace tutti
