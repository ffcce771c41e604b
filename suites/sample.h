// Which cells are checked when a run has more of them than its profile takes.
//
// One in n: of each path, dtype and op in each world, every n-th property; so over n worlds in a
// row, or n properties, each meets each. Which ones they are depends on the seed.
#pragma once

#include <cstdint>

#include "suites/property.h"

namespace tutti {

// The least n that leaves no more than `most` of `cells`; at most 8, so that each path, dtype and
// op is still checked in each world, by at least one of the properties. `most` 0: 1, all of them.
int thinning(std::uint64_t cells, std::uint64_t most);

bool is_in_sample(const Cell& cell, int one_in, std::uint64_t seed);

}  // namespace tutti
