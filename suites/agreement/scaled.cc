// Inputs times a power of two: floats scale exactly, and rounding with them, so where the order of
// the sum is the same each time the result is that power times what it was, bit for bit. That holds
// a result to its last bit where the bound of class `rounding` is wide.
#include "fixtures/data/data.h"
#include "fixtures/data/element.h"
#include "suites/agreement/draw.h"
#include "suites/agreement/forms.h"

namespace tutti {

namespace {

SkipCause where_order_is_claimed(const Cell& cell) {
  // Averages of narrow floats may be below the normal numbers.
  const bool scales = is_float(cell.dtype) && cell.op != TUTTI_PROD && cell.op != TUTTI_AVG;
  if (!scales) return SkipCause::no_room;
  if (!cell.backend->claims.same_bits_each_time.include(cell.path)) return SkipCause::not_claimed;
  return largest_scale(cell.dtype, cell.world) == 0 ? SkipCause::no_room : SkipCause::none;
}

Case draw_case(const Cell& cell, const Profile& profile) {
  const std::uint32_t most = largest_scale(cell.dtype, cell.world);
  return with_calls(draw::case_with(cell, profile, DataClass::rounding), [&](Allreduce& call) {
    call.scale = static_cast<std::uint32_t>(draw::between(1, most));
  });
}

Outcome check(Runner& runner, const Case& one_case, const Cell& cell, bool fresh) {
  return same_bits(runner, unvaried(one_case), one_case, cell, fresh,
                   "inputs times a power of two give the result times that power");
}

const PropertyRegistration registration{{
    .suite = "agreement",
    .name = "scaled",
    .law = "floats times a power of two give the result times that power, bit for bit, where the "
           "same bits each time are claimed",
    .not_applicable = where_order_is_claimed,
    .draw = draw_case,
    .check = check,
}};

}  // namespace

}  // namespace tutti
