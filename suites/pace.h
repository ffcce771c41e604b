// What --time leaves to each test of a run (a property of a backend in a world) and to each cell of
// it: equal shares of what is left, so that what one does not use, or uses too much, is spread over
// all behind it. So a short time means fewer cases a cell, and cells that are left out here and
// there when it is too short for one case of each, but no backend that is not reached.
#pragma once

#include <chrono>
#include <cstdint>

namespace tutti {

class Pace {
 public:
  using Time = std::chrono::steady_clock::time_point;

  Pace() = default;  // there is all the time in the world
  explicit Pace(Time end) : end_(end) {}

  // How many tests will begin.
  void set_tests(std::uint64_t tests) { tests_ = tests; }
  // The next test begins, which has so many cells, about.
  void begin_test(std::uint64_t cells, Time now);
  // Its next cell begins.
  void begin_cell() { ++begun_; }

  bool is_time_up(Time now) const { return now >= end_; }
  // Whether the time of this cell and of those before it in its test is used up. Once it begins, a
  // cell that is not the first is too late then.
  bool is_share_used(Time now) const;
  bool is_late(Time now) const { return begun_ > 1 && is_share_used(now); }

 private:
  Time end_ = Time::max();
  std::uint64_t tests_ = 0;
  Time test_begin_{}, test_end_ = Time::max();
  std::uint64_t cells_ = 0, begun_ = 0;
};

}  // namespace tutti
