// A run: every cell of the chosen backends, properties and worlds, as GoogleTest tests registered
// at run time.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "fixtures/nodes/node.h"
#include "reports/record.h"
#include "suites/cell_run.h"

namespace tutti {

struct Plan {
  std::vector<BackendEntry> backends;
  std::vector<Node> nodes;  // the first for all properties, the others for those of every node
  std::vector<int> worlds;
  std::vector<Dtype> dtypes;
  std::vector<Op> ops;
  std::string filter = "*";  // GoogleTest's, over backend/node.property/wN
};

// Told while the run goes on.
struct Progress {
  std::function<void(const Record&)> on_record;  // as soon as a cell is decided
  std::function<void(int done, int planned, const std::string& name)> on_test;  // before each test
};

// Runs a plan. Cells that were planned but have no record when it ends, get a red one (`missing`).
// When interrupted, the records so far are in `records` and Interrupted is thrown.
void run_plan(RunContext& context, const Plan& plan, const Progress& progress,
              std::vector<Record>& records);

}  // namespace tutti
