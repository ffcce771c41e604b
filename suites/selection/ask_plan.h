// Asks the questions of a sweep, in a worker of its own that may die of them.
#pragma once

#include <map>

#include "suites/runner.h"
#include "suites/selection/holes.h"

namespace tutti {

struct AskedPlan {
  PlanAnswers answers;                    // of places that are not in `broken`
  std::map<std::size_t, Problem> broken;  // places at which the worker died, or did not come back
};

// Throws CatalogError when the backend cannot be hosted, or the worker makes no sense.
AskedPlan ask_plan(Runner& runner, const BackendEntry& backend, const PlanSweep& sweep);

}  // namespace tutti
