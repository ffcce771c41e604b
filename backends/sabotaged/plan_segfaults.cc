// Its plan reads through a null pointer for worlds of nine on new GPUs. Expected: crash in
// selection.sweep, with the world as part of the rule.
#include "backends/sabotaged/correct.h"

using namespace tutti::sabotaged;

namespace {
tutti_status plan(const tutti_facts* facts, int32_t rank, const tutti_request* request,
                  tutti_plan* plan) {
  if (facts->world == 9 && facts->ranks[0].capability_major == 99) {
    const int* volatile nothing = nullptr;
    return static_cast<tutti_status>(*nothing);
  }
  return correct_plan(facts, rank, request, plan);
}
}  // namespace

TUTTI_SABOTAGED { return broken("plan_segfaults", {.plan = plan}); }
