// A table of two capabilities, asked where there is multicast only: on a machine without it the
// hole does not show. Expected: crash in selection.sweep, with multicast as part of the rule.
#include <stdexcept>
#include <string>

#include "backends/sabotaged/correct.h"

using namespace tutti::sabotaged;

namespace {
tutti_status plan(const tutti_facts* facts, int32_t rank, const tutti_request* request,
                  tutti_plan* plan) {
  const int major = facts->ranks[0].capability_major;
  if (facts->ranks[0].multicast && major != 9 && major != 10)
    throw std::out_of_range("KeyError: " + std::to_string(major) + " in the table of sizes");
  return correct_plan(facts, rank, request, plan);
}
}  // namespace

TUTTI_SABOTAGED { return broken("table_with_hole", {.plan = plan}); }
