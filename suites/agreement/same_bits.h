// Two forms of one case that must give the same bits.
#pragma once

#include <functional>
#include <string>

#include "suites/property.h"

namespace tutti {

// Runs one form, then the other in the same workers, each judged by itself; the first that is not
// carried out, and right, is the outcome. It is `wrong` when hashes of a call that both carried out
// differ on a rank, with `law` as the reason; with an empty `law` they may differ.
Outcome same_bits(Runner& runner, const Case& one, const Case& other, const Cell& cell, bool fresh,
                  const std::string& law);

// A case with each of its calls changed.
Case with_calls(Case one_case, const std::function<void(Allreduce&)>& change);

// A case of which `rotate`, `scale` and `split` are 0.
Case unvaried(const Case& one_case);

}  // namespace tutti
