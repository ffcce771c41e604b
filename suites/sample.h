// Which cells are checked when a run has more of them than its profile takes.
//
// One in n: of the properties that apply to a path, dtype and op in a world, every n-th, and two of
// them at least; in the run's next world the one before each. So each path, dtype and op is checked
// in each world, and over n worlds in a row by each property that applies in all of them.
// Properties of which one cell of a path stands for others are checked in every n-th world of the
// run, and in one at least; so are those that are checked on every node, on each of them, with an n
// of their own where that is larger. Which cells they are depends on the seed.
#pragma once

#include <cstdint>
#include <vector>

#include "suites/property.h"

namespace tutti {

// The least n that leaves no more than `most` of `cells`, and 6 at most: among the
// properties that are so taken, there is one that looks at numbers of the dtype and op. `most` 0:
// 1, all of them.
int thinning(std::uint64_t cells, std::uint64_t most);

struct Sample {
  int one_in = 1;
  std::uint64_t seed = 0;
  std::vector<int> worlds{};  // of the run
  int worlds_of_nodes = 1;    // of what is checked on every node: one in so many

  bool takes(const Cell& cell) const;
};

}  // namespace tutti
