// Where `selection.sweep` asks: places (worlds on nodes) times requests.
#pragma once

#include <string>
#include <vector>

#include "fixtures/claims/claims.h"
#include "fixtures/world/plan_sweep.h"
#include "suites/property.h"
#include "suites/selection/boxes.h"

namespace tutti {

// Places and requests are in the order of the points of their axes.
struct SweepPlan {
  std::vector<Axis> place_axes;    // capability, nvlink, multicast, peer access, hosts, world
  std::vector<Axis> request_axes;  // dtype, op, size, alignment, place
  PlanSweep sweep;
};

// What all places are changes of: a node of one host with everything.
inline constexpr const char* kSweepBase = "h200-nvl8";

// How fine the grid is. `coarse`: few sizes and alignments, for a plan that takes long. `usual`:
// two dtypes and the worlds at which tables are likely to end; sizes are around powers of two and
// around the thresholds of the claims. `full`: all worlds up to 72, all dtypes, two ops.
enum class Detail { coarse, usual, full };
SweepPlan sweep_plan(const Node& base, const Claims& claims, Detail detail);

// The case that asks one of its questions again.
Case case_at(const SweepPlan& plan, Point place, Point request);

}  // namespace tutti
