// All ranks hold the same bits, where the backend claims it.
#include "suites/agreement/draw.h"

namespace tutti {

namespace {

SkipCause where_claimed(const Cell& cell) {
  if (cell.world < 2) return SkipCause::world_too_small;
  return cell.backend->claims.same_bits_on_all_ranks.include(cell.path) ? SkipCause::none
                                                                        : SkipCause::not_claimed;
}

const PropertyRegistration registration{{
    .suite = "agreement",
    .name = "ranks",
    .law = "all ranks get the same bits, order-sensitive inputs included",
    .not_applicable = where_claimed,
    .draw =
        [](const Cell& cell, const Profile& profile) {
          return draw::case_with(cell, profile, DataClass::rounding);
        },
    .check = nullptr,  // judging a case compares the hashes of all ranks where the claim is made
}};

}  // namespace

}  // namespace tutti
