// What carrying out one case came to.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "fixtures/cases/case.h"
#include "fixtures/world/director.h"

namespace tutti {

struct Outcome {
  Verdict verdict = Verdict::missing;
  SkipCause skip_cause = SkipCause::none;
  std::string reason;
  bool at_create = false;             // no communicator was made, so nothing was called
  int in_earlier = -1;                // the earlier case that turned it red; -1: none of them
  int call = -1;                      // the call of that case that did; -1: none in particular
  std::vector<std::string> evidence;  // one text a rank that has any
  double max_error = 0;               // largest error as a fraction of its bound
  bool bound_hides = false;           // a bound was so wide that a missing contribution could pass
  std::int64_t max_ulp = -1;          // distance from the reference; -1: not compared
  std::string reference;
  std::string bits;                 // hash of the results of all calls on all ranks; empty: none
  std::set<std::string> paths;      // that carried calls out
  std::vector<EarlierCase> before;  // what the workers of a red case had carried out, oldest first
  bool is_red() const { return colour_of(verdict) == Colour::red; }
};

// The worse of two verdicts: red before green, and among reds the one that explains more.
bool is_worse(Verdict left, Verdict right);

// Everything that the ranks said about one case.
struct Observation {
  Replies start, create, run, destroy;  // empty: not reached
};

}  // namespace tutti
