// The same inputs, twice: in good order, then with delays and ranks that are late.
#include "suites/agreement/draw.h"
#include "suites/agreement/forms.h"

namespace tutti {

namespace {

constexpr std::uint32_t kLateUs = 200;

SkipCause where_claimed(const Cell& cell) {
  return cell.backend->claims.same_bits_each_time.include(cell.path) ? SkipCause::none
                                                                     : SkipCause::not_claimed;
}

Case draw_case(const Cell& cell, const Profile& profile) {
  Case one_case = draw::case_with(cell, profile, DataClass::rounding);
  if (one_case.device == "host" && one_case.delays == 0)
    one_case.delays = draw::between(1, UINT32_MAX);
  if (one_case.skews_us.empty() && one_case.world > 1) {
    one_case.skews_us.resize(static_cast<std::size_t>(one_case.world));
    one_case.skews_us[draw::between(0, one_case.skews_us.size() - 1)] = kLateUs;
  }
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
