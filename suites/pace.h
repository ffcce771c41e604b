// What --time leaves to each cell of a run: equal shares, and what one cell does not use goes to
// those behind it. So a short time gives each cell fewer cases, and leaves out cells here and there
// when it is too short for one case of each, but does not cut off the last ones.
#pragma once

#include <chrono>
#include <cstdint>

namespace tutti {

class Pace {
 public:
  using Time = std::chrono::steady_clock::time_point;

  Pace() = default;  // there is all the time in the world
  Pace(Time begin, Time end) : begin_(begin), end_(end) {}

  // How many cells there will be; until then the first one may take all the time.
  void set_cells(std::uint64_t cells) { cells_ = cells; }
  // The next cell begins.
  void next_cell() { ++begun_; }

  bool is_time_up(Time now) const { return now >= end_; }
  // Whether the time of this cell and those before it is used up.
  bool is_share_used(Time now) const { return now >= share_of(begun_); }
  // Whether the cells before this one have used their time and that of one more.
  bool is_late(Time now) const { return begun_ > 1 && is_share_used(now); }

 private:
  Time share_of(std::uint64_t cells) const;

  Time begin_{}, end_ = Time::max();
  std::uint64_t cells_ = 0, begun_ = 0;
};

}  // namespace tutti
