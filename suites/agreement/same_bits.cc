#include "suites/agreement/same_bits.h"

#include <fmt/format.h>

namespace tutti {

namespace {

bool is_carried_out(const Outcome& outcome) {
  return outcome.verdict == Verdict::pass || outcome.verdict == Verdict::fell_back;
}

}  // namespace

Outcome same_bits(Runner& runner, const Case& one, const Case& other, const Cell& cell, bool fresh,
                  const std::string& law) {
  Runner::Want want;
  want.fresh = fresh;
  const Outcome first = runner.run(one, *cell.backend, *cell.node, want);
  const auto hashes = runner.last_hashes();
  if (!is_carried_out(first)) return first;
  Outcome second = runner.run(other, *cell.backend, *cell.node);
  if (second.verdict == Verdict::refused) {
    second.verdict = Verdict::lost_path;
    second.reason = "refused in this form, and not in the other: " + second.reason;
  }
  if (!is_carried_out(second) || law.empty()) return second;
  const auto& other_hashes = runner.last_hashes();
  for (std::size_t rank = 0; rank < hashes.size() && rank < other_hashes.size(); ++rank) {
    if (hashes[rank] == other_hashes[rank]) continue;
    second.verdict = Verdict::wrong;
    second.reason = fmt::format("rank {}: {}, but hashes of its results are {} and {}", rank, law,
                                hashes[rank].dump(), other_hashes[rank].dump());
    return second;
  }
  return second;
}

Case with_calls(Case one_case, const std::function<void(Allreduce&)>& change) {
  for (Step& step : one_case.steps) {
    if (auto* call = std::get_if<Allreduce>(&step)) change(*call);
  }
  return one_case;
}

Case unvaried(const Case& one_case) {
  return with_calls(one_case,
                    [](Allreduce& call) { call.rotate = 0, call.scale = 0, call.split = 0; });
}

}  // namespace tutti
