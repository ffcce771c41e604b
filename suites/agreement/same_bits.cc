#include "suites/agreement/same_bits.h"

#include <fmt/format.h>

namespace tutti {

namespace {

bool is_carried_out(const Outcome& outcome) {
  return outcome.verdict == Verdict::pass || outcome.verdict == Verdict::fell_back;
}

// Of the calls that both carried out, the first that differs on a rank; empty when none does.
std::string difference(const std::vector<nlohmann::json>& one,
                       const std::vector<nlohmann::json>& other) {
  for (std::size_t rank = 0; rank < one.size() && rank < other.size(); ++rank) {
    for (std::size_t call = 0; call < one[rank].size() && call < other[rank].size(); ++call) {
      const auto &left = one[rank][call], &right = other[rank][call];
      if (left.is_null() || right.is_null() || left == right) continue;
      return fmt::format("call {}: rank {}: hashes of its results are {} and {}", call, rank,
                         left.dump(), right.dump());
    }
  }
  return "";
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
  if (!is_carried_out(second) || law.empty()) return second;
  const std::string differs = difference(hashes, runner.last_hashes());
  if (differs.empty()) return second;
  second.verdict = Verdict::wrong;
  second.reason = fmt::format("{}, but {}", law, differs);
  runner.blame(other, second);
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
