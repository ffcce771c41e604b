#include "suites/pace.h"

#include <algorithm>

namespace tutti {

// The end of the shares of the first so many cells.
Pace::Time Pace::share_of(std::uint64_t cells) const {
  if (end_ == Time::max() || cells >= cells_) return end_;
  const double part = static_cast<double>(cells) / static_cast<double>(cells_);
  return begin_ + std::chrono::duration_cast<Time::duration>((end_ - begin_) * part);
}

}  // namespace tutti
