// Its plan dies in worlds of one, as one that divides by the number of peers does. Expected: crash
// in selection.sweep, with the world as the rule.
#include <csignal>

#include "backends/sabotaged/correct.h"

using namespace tutti::sabotaged;

namespace {
tutti_status plan(const tutti_facts* facts, int32_t rank, const tutti_request* request,
                  tutti_plan* plan) {
  if (facts->world == 1) std::raise(SIGFPE);
  return correct_plan(facts, rank, request, plan);
}
}  // namespace

TUTTI_SABOTAGED { return broken("plan_dies_alone", {.plan = plan}); }
