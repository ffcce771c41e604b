// From what the ranks said to a verdict: a pure function.
#pragma once

#include "fixtures/cases/case.h"
#include "suites/catalog.h"
#include "suites/outcome.h"

namespace tutti {

// Design 6. The order of severity: crash, hang, corrupt, split, wrong, lost_path, then what is
// green.
Outcome judge(const Case& one_case, const BackendEntry& backend, const Node& node,
              const Observation& observation);

// Adds what is known of each rank's worker to the evidence of an outcome.
void keep_evidence(const Replies& replies, Outcome& outcome);

// Adds to an outcome what its calls gave: the bits of a green one, and the paths that were taken.
void keep_results(const Replies& run, Outcome& outcome);

// True when ranks hold different bits somewhere: then every rank has to verify everything.
bool hashes_differ(const Replies& run);

}  // namespace tutti
