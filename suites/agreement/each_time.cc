// The same inputs, twice: in good order, then with delays and ranks that are late.
#include "suites/agreement/draw.h"
#include "suites/agreement/same_bits.h"

namespace tutti {

namespace {

SkipCause where_claimed(const Cell& cell) {
  return cell.backend->claims.same_bits_each_time.include(cell.path) ? SkipCause::none
                                                                     : SkipCause::not_claimed;
}

Case draw_case(const Cell& cell, const Profile& profile) {
  Case one_case = draw::case_with(cell, profile, DataClass::rounding);
  if (one_case.device == "host" && one_case.delays == 0)
    one_case.delays = draw::between(1, UINT32_MAX);
  return one_case;
}

Outcome check(Runner& runner, const Case& one_case, const Cell& cell, bool fresh) {
  Case calm = one_case;
  calm.delays = 0;
  calm.skews_us.clear();
  return same_bits(runner, calm, one_case, cell, fresh,
                   "the same bits each time are claimed, whatever the timing");
}

const PropertyRegistration registration{{
    .suite = "agreement",
    .name = "each_time",
    .law = "the same inputs give the same bits each time, whatever the timing, where claimed",
    .not_applicable = where_claimed,
    .draw = draw_case,
    .check = check,
}};

}  // namespace

}  // namespace tutti
