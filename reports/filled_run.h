// A run with what --time kept it from, as runs before it had it: what was red before a night that
// did not reach it is not newly red in the next.
#pragma once

#include <cstdint>
#include <vector>

#include "reports/record.h"

namespace tutti {

class FilledRun {
 public:
  explicit FilledRun(std::vector<Record> records);

  // The run before the last one that was added. Taken from it, but for their bits, are cells that
  // --time left out (time_is_up), and reds of cells that were green here after fewer cases: those
  // that showed it were not carried out.
  void add(const std::vector<Record>& earlier);

  std::uint64_t filled() const { return filled_; }  // cells that were taken from others
  const std::vector<Record>& records() const { return records_; }

 private:
  std::vector<Record> records_;
  std::vector<std::uint64_t> cases_;  // the most that a run told so far carried out, by record
  std::uint64_t filled_ = 0;
};

}  // namespace tutti
