// Several forms of one case: in another place, by another entry, varied. Each is judged by itself;
// the properties say what must be alike.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "suites/property.h"

namespace tutti {

struct FormRun {
  Case form;
  Outcome outcome;
  std::vector<nlohmann::json> hashes;  // of the results of its calls, an entry a rank

  // Right, by whatever path; otherwise it is refused, or red.
  bool is_carried_out() const {
    return outcome.verdict == Verdict::pass || outcome.verdict == Verdict::fell_back;
  }
};
FormRun run_form(Runner& runner, const Case& form, const Cell& cell, bool fresh);

// The outcome of the second form, `wrong` with `law` as the reason where hashes of a call that both
// carried out differ on a rank. `second` is the form that was run last.
Outcome with_same_bits(Runner& runner, const FormRun& first, const FormRun& second,
                       const std::string& law);

// Runs one form, then the other in the same workers; the first that is not carried out, and right,
// is the outcome. With an empty `law` their bits may differ.
Outcome same_bits(Runner& runner, const Case& one, const Case& other, const Cell& cell, bool fresh,
                  const std::string& law);

// A case with each of its calls changed.
Case with_calls(Case one_case, const std::function<void(Allreduce&)>& change);

// A case with all its calls in place, or out of place with equal offsets.
Case placed(const Case& one_case, Place place);

// A case of which `rotate`, `scale` and `split` are 0.
Case unvaried(const Case& one_case);

}  // namespace tutti
