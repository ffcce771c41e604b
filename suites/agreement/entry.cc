// Whichever way in: out of place, in place, and with the path left to the backend, a case meets the
// same gate. A gate that only one of the entries has is how a case that works becomes one that
// crashes, or loses its path, when its caller changes.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "suites/agreement/draw.h"
#include "suites/agreement/forms.h"
#include "suites/catalog.h"

namespace tutti {

namespace {

// One call, so that it is all carried out or all refused.
Case draw_case(const Cell& cell, const Profile& profile) {
  Case one_case = draw::surroundings(case_of(cell));
  one_case.steps = {draw::call(cell, profile, DataClass::rounding, false)};
  return one_case;
}

ClaimState claim_of(const FormRun& run, const Cell& cell) {
  const Allreduce call = calls_of(run.form).front();
  return cell.backend->claims.state_of(situation_of(run.form, call, *cell.node)).first;
}

// `lost` is the form that was refused, or went elsewhere, and `last` the one that was run last.
Outcome unlike(Runner& runner, const FormRun& last, const FormRun& kept, const FormRun& lost,
               const std::string& ways) {
  Outcome outcome = lost.outcome;
  outcome.verdict = Verdict::lost_path;
  outcome.reason = ways + ", and the claims do not tell these apart";
  if (!lost.is_carried_out()) outcome.reason += ": " + lost.outcome.reason;
  outcome.paths = kept.outcome.paths;
  runner.blame(last.form, outcome);
  return outcome;
}

// Out of place and in place.
Outcome placed_alike(Runner& runner, const FormRun& out, const FormRun& in, const Cell& cell) {
  if (claim_of(out, cell) != claim_of(in, cell)) return in.outcome;
  if (out.is_carried_out() && in.is_carried_out()) {
    if (out.outcome.paths == in.outcome.paths) return in.outcome;
    return unlike(runner, in, out, in,
                  fmt::format("path {} out of place, but {} in place",
                              fmt::join(out.outcome.paths, " "), fmt::join(in.outcome.paths, " ")));
  }
  if (out.is_carried_out())
    return unlike(runner, in, out, in, "carried out out of place, but refused in place");
  if (in.is_carried_out())
    return unlike(runner, in, in, out, "carried out in place, but refused out of place");
  return in.outcome;
}

// By the path that the backend chose, and by its name.
Outcome chosen_alike(Runner& runner, const FormRun& named, const FormRun& chosen,
                     const Cell& cell) {
  if (claim_of(named, cell) != claim_of(chosen, cell)) return named.outcome;
  const std::set<std::string> this_path{cell.path};
  if (named.is_carried_out() && !chosen.is_carried_out()) {
    return unlike(
        runner, chosen, named, chosen,
        fmt::format("path {} is carried out when it is named, but nothing is chosen", cell.path));
  }
  if (!chosen.is_carried_out() || chosen.outcome.paths != this_path) return named.outcome;
  if (!named.is_carried_out()) {
    return unlike(
        runner, chosen, chosen, named,
        fmt::format("path {} is chosen and carried out, but refused when it is named", cell.path));
  }
  const bool is_same = cell.backend->claims.same_bits_each_time.include(cell.path);
  if (!is_same || named.outcome.paths != this_path) return named.outcome;
  return with_same_bits(runner, named, chosen,
                        fmt::format("path {} gives the same bits, chosen or named", cell.path));
}

Outcome check(Runner& runner, const Case& one_case, const Cell& cell, bool fresh) {
  const FormRun out = run_form(runner, placed(one_case, Place::out), cell, fresh);
  if (out.outcome.is_red()) return out.outcome;
  const FormRun in = run_form(runner, placed(one_case, Place::in), cell, false);
  if (in.outcome.is_red()) return in.outcome;
  const Outcome as_placed = placed_alike(runner, out, in, cell);
  if (as_placed.is_red()) return as_placed;
  Case by_choice = out.form;
  by_choice.path = "auto";
  const FormRun chosen = run_form(runner, by_choice, cell, false);
  if (chosen.outcome.is_red()) return chosen.outcome;
  return chosen_alike(runner, out, chosen, cell);
}

const PropertyRegistration registration{{
    .suite = "agreement",
    .name = "entry",
    .law = "out of place, in place and by the backend's own choice of path, a case is carried out "
           "alike or refused alike, where the claims do not tell them apart",
    .not_applicable = draw::always,
    .draw = draw_case,
    .check = check,
}};

}  // namespace

}  // namespace tutti
