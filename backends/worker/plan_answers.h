// Asks a backend's `plan` many questions: see fixtures/world/plan_sweep.h.
#pragma once

#include "backends/backend.h"
#include "fixtures/world/plan_sweep.h"
#include "fixtures/world/worker_page.h"

namespace tutti {

// At each place the first and the last rank of the world are asked; what they are told must be the
// same. `page` tells the place while it is asked about. Throws NodeError for a place that is none.
PlanAnswers answers_of_plan(const tutti_backend& backend, const PlanSweep& sweep, WorkerPage* page);

}  // namespace tutti
