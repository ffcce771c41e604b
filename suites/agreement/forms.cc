#include "suites/agreement/forms.h"

#include <fmt/format.h>

namespace tutti {

namespace {

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

FormRun run_form(Runner& runner, const Case& form, const Cell& cell, bool fresh) {
  Runner::Want want;
  want.fresh = fresh;
  FormRun run{form, runner.run(form, *cell.backend, *cell.node, want), {}};
  if (!run.outcome.is_red()) run.hashes = runner.last_hashes();
  return run;
}

Outcome with_same_bits(Runner& runner, const FormRun& first, const FormRun& second,
                       const std::string& law) {
  Outcome outcome = second.outcome;
  const std::string differs = difference(first.hashes, second.hashes);
  if (differs.empty()) return outcome;
  outcome.verdict = Verdict::wrong;
  outcome.reason = fmt::format("{}, but {}", law, differs);
  runner.blame(second.form, outcome);
  return outcome;
}

Outcome same_bits(Runner& runner, const Case& one, const Case& other, const Cell& cell, bool fresh,
                  const std::string& law) {
  const FormRun first = run_form(runner, one, cell, fresh);
  if (!first.is_carried_out()) return first.outcome;
  const FormRun second = run_form(runner, other, cell, false);
  if (!second.is_carried_out() || law.empty()) return second.outcome;
  return with_same_bits(runner, first, second, law);
}

Case with_calls(Case one_case, const std::function<void(Allreduce&)>& change) {
  for (Step& step : one_case.steps) {
    if (auto* call = std::get_if<Allreduce>(&step)) change(*call);
  }
  return one_case;
}

Case placed(const Case& one_case, Place place) {
  return with_calls(one_case, [place](Allreduce& call) {
    call.place = place;
    call.recv_offset = call.send_offset;
  });
}

Case unvaried(const Case& one_case) {
  return with_calls(one_case,
                    [](Allreduce& call) { call.rotate = 0, call.scale = 0, call.split = 0; });
}

}  // namespace tutti
