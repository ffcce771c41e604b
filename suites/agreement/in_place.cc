// In place equals out of place: bit for bit where claimed, within the bound elsewhere.
#include <fmt/format.h>

#include "suites/agreement/draw.h"

namespace tutti {

namespace {

Case placed(const Case& one_case, Place place) {
  Case changed = one_case;
  for (Step& step : changed.steps) {
    if (auto* call = std::get_if<Allreduce>(&step)) {
      call->place = place;
      call->recv_offset = call->send_offset;
    }
  }
  return changed;
}

// Both forms are judged by the oracle; equal bits are asked for only where claimed.
Outcome check(Runner& runner, const Case& one_case, const Cell& cell, bool fresh) {
  Runner::Want want;
  want.fresh = fresh;
  const Outcome out = runner.run(placed(one_case, Place::out), *cell.backend, *cell.node, want);
  const auto hashes_out = runner.last_hashes();
  if (out.verdict != Verdict::pass && out.verdict != Verdict::fell_back) return out;
  want.fresh = false;
  Outcome in = runner.run(placed(one_case, Place::in), *cell.backend, *cell.node, want);
  const auto hashes_in = runner.last_hashes();
  if (in.is_red() || !cell.backend->claims.in_place_same_bits.include(cell.path)) return in;
  if (in.verdict == Verdict::refused) {
    in.verdict = Verdict::lost_path;
    in.reason = "in place is refused where out of place is not: " + in.reason;
    return in;
  }
  for (std::size_t rank = 0; rank < hashes_out.size() && rank < hashes_in.size(); ++rank) {
    if (hashes_out[rank] == hashes_in[rank]) continue;
    in.verdict = Verdict::wrong;
    in.reason = fmt::format(
        "rank {}: equal bits in place and out of place are claimed, but hashes are {} and {}", rank,
        hashes_in[rank].dump(), hashes_out[rank].dump());
    return in;
  }
  return in;
}

const PropertyRegistration registration{{
    .suite = "agreement",
    .name = "in_place",
    .law = "in place gives what out of place gives: the same bits where claimed, within the bound "
           "elsewhere",
    .not_applicable = draw::always,
    .draw =
        [](const Cell& cell, const Profile& profile) {
          return draw::case_with(cell, profile, DataClass::rounding);
        },
    .check = check,
}};

}  // namespace

}  // namespace tutti
