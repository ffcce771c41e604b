// The last rank of a large world refuses what the others take. Expected: split in selection.sweep.
#include <cstring>

#include "backends/sabotaged/correct.h"

using namespace tutti::sabotaged;

namespace {
tutti_status plan(const tutti_facts* facts, int32_t rank, const tutti_request* request,
                  tutti_plan* plan) {
  if (rank > 31) {
    plan->answer = TUTTI_PLAN_REFUSED;
    std::strcpy(plan->text, "no room for this rank");
    return TUTTI_OK;
  }
  return correct_plan(facts, rank, request, plan);
}
}  // namespace

TUTTI_SABOTAGED { return broken("plan_by_rank", {.plan = plan}); }
