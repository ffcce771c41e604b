// Known failures of a backend (expected.toml), against what the cases of a cell come to.
#pragma once

#include <map>

#include "suites/property.h"

namespace tutti {

// The known failure that an outcome of a case matches; null: none.
const Expected* expected_failure(const Cell& cell, const Case& one_case, const Outcome& outcome);

// Counts the green cases of one cell that a known failure says should have failed. An entry may
// hold for some counts, alignments or places only, so not every case puts it to the test.
class GreenAgainstExpected {
 public:
  void add(const Cell& cell, const Case& green);
  // An entry that `least` cases or more speak against; null: none. Flaky ones can be green.
  const Expected* contradicted(int least) const;

 private:
  std::map<const Expected*, int> cases_;
};

}  // namespace tutti
