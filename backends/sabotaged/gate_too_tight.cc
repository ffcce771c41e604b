// Refuses where there is no multicast, which its one path never needed. Expected: lost_path in
// selection.sweep and in selection.follows.
#include <cstring>

#include "backends/sabotaged/correct.h"

using namespace tutti::sabotaged;

namespace {
bool has_multicast(const tutti_facts& facts) {
  for (int rank = 0; rank < facts.world; ++rank) {
    if (!facts.ranks[rank].multicast) return false;
  }
  return true;
}
tutti_status plan(const tutti_facts* facts, int32_t rank, const tutti_request* request,
                  tutti_plan* plan) {
  if (has_multicast(*facts)) return correct_plan(facts, rank, request, plan);
  plan->answer = TUTTI_PLAN_REFUSED;
  std::strcpy(plan->text, "no multicast");
  return TUTTI_OK;
}
tutti_status run(void* communicator, const tutti_request* request, const char** path) {
  if (has_multicast(*world_of(communicator).facts)) return correct_run(communicator, request, path);
  set_reason(communicator, "no multicast");
  return TUTTI_UNSUPPORTED;
}
}  // namespace

TUTTI_SABOTAGED { return broken("gate_too_tight", {.run = run, .plan = plan}); }
