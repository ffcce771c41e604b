#include "suites/pace.h"

#include <algorithm>

namespace tutti {

void Pace::begin_test(std::uint64_t cells, Time now) {
  const auto left = std::max<std::uint64_t>(tests_, 1);
  tests_ = left - 1;
  cells_ = std::max<std::uint64_t>(cells, 1);
  begun_ = 0;
  test_begin_ = now;
  if (end_ != Time::max()) test_end_ = now + (end_ - now) / static_cast<std::int64_t>(left);
}

bool Pace::is_share_used(Time now) const {
  if (end_ == Time::max()) return false;
  const double part = static_cast<double>(begun_) / static_cast<double>(cells_);
  return now - test_begin_ >= (test_end_ - test_begin_) * std::min(part, 1.0);
}

}  // namespace tutti
