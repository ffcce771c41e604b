#include "suites/pace.h"

#include <algorithm>

namespace tutti {

void Pace::set_tests(std::uint64_t tests, Time now) {
  begin_ = now;
  tests_ = tests;
  tests_begun_ = 0;
}

void Pace::begin_test(std::uint64_t cells, Time now) {
  cells_ = std::max<std::uint64_t>(cells, 1);
  begun_ = 0;
  test_begin_ = now;
  ++tests_begun_;
  if (end_ == Time::max()) return;
  const auto tests = static_cast<std::int64_t>(std::max(tests_, tests_begun_));
  const auto begun = static_cast<std::int64_t>(tests_begun_);
  turn_is_over_ = now >= begin_ + (end_ - begin_) / tests * begun;
  test_end_ = turn_is_over_ ? now : now + (end_ - now) / (tests - begun + 1);
}

bool Pace::is_share_used(Time now) const {
  if (end_ == Time::max()) return false;
  const double part = static_cast<double>(begun_) / static_cast<double>(cells_);
  return now - test_begin_ >= (test_end_ - test_begin_) * std::min(part, 1.0);
}

double Pace::seconds_left(Time now) const {
  constexpr double kForEver = 1e9;
  if (end_ == Time::max()) return kForEver;
  return std::max(0.0, std::chrono::duration<double>(test_end_ - now).count());
}

}  // namespace tutti
