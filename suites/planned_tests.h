// Which tests a run has: one a backend, node, property and world, and the cells of each.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "suites/suite.h"

namespace tutti {

struct PlannedTest {
  std::string suite_name, name;  // as GoogleTest has them: "gloo/host", "agreement.exact/w3"
  std::vector<Cell> cells;       // point into the plan and the references
};

// Asks every backend for its paths, and notes in `context` which of them cannot be hosted here, or
// take CUDA memory only.
std::vector<PlannedTest> tests_of(RunContext& context, const Plan& plan,
                                  const std::vector<BackendEntry>& references);

// The number of its cells that come to more than a skip, as far as is known.
std::uint64_t cells_to_check(const RunContext& context, const PlannedTest& test);

}  // namespace tutti
