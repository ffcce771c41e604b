// Checks one cell: draws its cases, confirms what turns red in fresh workers, shrinks it, and makes
// the record.
#pragma once

#include <chrono>
#include <fstream>
#include <map>
#include <set>
#include <string>

#include "reports/record.h"
#include "suites/pace.h"
#include "suites/property.h"
#include "suites/sample.h"

namespace tutti {

struct RunContext {
  Runner& runner;
  Profile profile;
  std::uint64_t seed = 0;
  std::string build_id{};
  Pace pace{};                     // of --time
  Sample sample{};                 // of cells that are checked
  std::ofstream* trace = nullptr;  // gets the line of every case drawn; null: none
  std::map<std::string, std::string> not_installed{};  // backend -> why, once it is known
  std::map<std::string, std::string> broken{};         // backend -> why it cannot be hosted
  std::set<std::string> known_to_hang{};  // path_in_world(cell), once a cell has shown it
  std::set<std::string> cuda_only{};      // backends that take no host memory
};

// Whether a cell cannot be checked, as its backend takes CUDA memory only and the node has none.
// The table of a backend can be asked all the same.
bool needs_gpu(const RunContext& context, const Cell& cell);

// Never throws for what a backend does; SuiteError and Interrupted pass through.
Record check_cell(RunContext& context, const Cell& cell);

// Runs one case as its property does.
Outcome check_case(Runner& runner, const Case& one_case, const Cell& cell, bool fresh);

// A red case as it is reported: confirmed in fresh workers and shrunk.
struct Failure {
  Case smallest;
  Outcome outcome;
  std::string note;  // how it was confirmed, when that is not the plain way
};
// Puts a failure into a cell's record, as a known one where `expected` is not null.
void report(Record& record, const Failure& failure, const Expected* expected);

Failure confirm_and_shrink(RunContext& context, const Cell& cell, const Case& first,
                           const Outcome& seen);

}  // namespace tutti
