// A run as it lies on the disk.
#pragma once

#include <string>
#include <vector>

#include "reports/record.h"

namespace tutti {

struct StoredRun {
  std::string path;         // as it was named
  bool has_report = false;  // false: it was killed, so there is a journal only and `info` is empty
  RunInfo info;
  std::vector<Record>
      records;               // as stored: in a journal a cell may come twice, and the later holds
  std::uint64_t filled = 0;  // records that are of earlier runs (filled_run.h)
};

// Reads a report folder, or the report.json or records.jsonl in one. Throws std::runtime_error that
// names the file and what to do.
StoredRun read_run(const std::string& path);

// Why two runs did not draw the same cases; empty when they did.
std::string other_draws(const StoredRun& before, const StoredRun& after);

}  // namespace tutti
