// What --time leaves to each test of a run (a property of a backend in a world) and to each cell of
// it: equal shares of what is left, so that what one does not use is spread over all behind it. One
// that uses more, as even one case can, delays the next; a test whose turn is over before it begins
// is left out. So a short time means fewer cases a cell, and cells and tests that are left out here
// and there when it is too short for one case of each. What overruns by much, such as a hang that
// is made smaller, can cost the tests behind it their turns.
#pragma once

#include <chrono>
#include <cstdint>

namespace tutti {

class Pace {
 public:
  using Time = std::chrono::steady_clock::time_point;

  Pace() = default;  // there is all the time in the world
  explicit Pace(Time end) : end_(end) {}

  // The first of so many tests will begin.
  void set_tests(std::uint64_t tests, Time now);
  // The next test begins, which has so many cells, about.
  void begin_test(std::uint64_t cells, Time now);
  // Its next cell begins.
  void begin_cell() { ++begun_; }

  bool is_time_up(Time now) const { return now >= end_; }
  // Whether the time of this cell and of those before it in its test is used up.
  bool is_share_used(Time now) const;
  // What is left of the test's time, in seconds; without a --time more than anything takes.
  double seconds_left(Time now) const;
  // Whether the cell that begins is left out: the first one of a test only if the turn of its test
  // was over before.
  bool is_late(Time now) const { return (begun_ > 1 || turn_is_over_) && is_share_used(now); }

 private:
  Time end_ = Time::max();
  Time begin_{};
  std::uint64_t tests_ = 0, tests_begun_ = 0;
  Time test_begin_{}, test_end_ = Time::max();
  bool turn_is_over_ = false;
  std::uint64_t cells_ = 0, begun_ = 0;
};

}  // namespace tutti
