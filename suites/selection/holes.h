// What is wrong in what `plan` answered: against the claims, and by itself.
#pragma once

#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "suites/catalog.h"
#include "suites/selection/sweep_plan.h"

namespace tutti {

struct Problem {
  Verdict verdict;   // crash, split or lost_path
  std::string what;  // without what is particular to a point
  bool operator<(const Problem& other) const {
    return std::tie(verdict, what) < std::tie(other.verdict, other.what);
  }
};

// Of one answer (a text of PlanAnswers) to a request of which the claims say `state`, and `path` if
// that must be taken. An answer of several lines has a problem a line.
std::vector<Problem> problems_of(const std::string& answer, ClaimState state,
                                 const std::string& path);

// A problem, and everywhere that it is met, in few rules.
struct Hole {
  Problem problem;
  std::vector<std::string> rules;
  std::uint64_t points = 0;      // combinations that meet it
  Point place = 0, request = 0;  // one of them
};

// What is wrong at places in `broken` is known; their rows are not looked at.
std::vector<Hole> holes_of(const SweepPlan& plan, const PlanAnswers& answers,
                           const std::map<std::size_t, Problem>& broken, const Claims& claims);

}  // namespace tutti
