// The difference between two runs, for the terminal and for programs.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "reports/compare.h"
#include "reports/stored_run.h"

namespace tutti {

// Two stored runs, A and B. `comparison` points into them.
struct Difference {
  const StoredRun& before;
  const StoredRun& after;
  std::string other_draws;  // why bits and paths were not compared; empty: they were
  Comparison comparison;
};

Difference difference_of(const StoredRun& before, const StoredRun& after);

// Plain ASCII. Long lists are cut, with how many more there are; what is red never is.
std::string to_text(const Difference& difference);

// Keys as in README.md, in that order.
nlohmann::ordered_json to_json(const Difference& difference);

}  // namespace tutti
