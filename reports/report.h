// The run directory: an append-only journal while running, reports rendered from it at the end.
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include "reports/record.h"

namespace tutti {

// records.jsonl: one record a line, with the kernel when append() returns, so that a killed run
// loses nothing decided. It goes to the disk at once if it is red, else with the first record after
// a second, and at the end: a machine that goes down may take the rest with it. An existing journal
// is continued, without the half line that a killed run may have left at its end.
class Journal {
 public:
  explicit Journal(const std::string& folder);  // creates the folder; throws std::runtime_error
                                                // with the path and errno
  ~Journal();
  Journal(const Journal&) = delete;
  Journal& operator=(const Journal&) = delete;
  void append(const Record& record);

 private:
  std::string path_;
  int file_ = -1;
  std::chrono::steady_clock::time_point synced_ = std::chrono::steady_clock::now();
};

// The records of a run's journal in the order written; none when there is no journal. A half line
// at the end is left out; any other line that is no record throws std::runtime_error with its
// number.
std::vector<Record> read_journal(const std::string& folder);

// Makes and returns a new folder reports/out/<machine>-<driver>-<time> below `base`; an existing
// one is never reused (a number is appended). Characters outside [A-Za-z0-9._-] become "-".
std::string default_folder(const std::string& base, const std::string& machine,
                           const std::string& driver);
// Throws std::runtime_error when `folder` has the records of an earlier run: a journal of two runs
// would be one of neither.
void require_new_folder(const std::string& folder);
// Points the link `latest` beside `folder` to it, in one step.
void point_latest(const std::string& folder);

// A report format: one file that registers itself.
struct Format {
  std::string name;       // "json"
  std::string file_name;  // "report.json"
  std::function<std::string(const RunInfo&, const std::vector<Record>&)> render;
};
struct FormatRegistration {
  explicit FormatRegistration(Format format);
};                                     // duplicate names abort at start
const std::vector<Format>& formats();  // sorted by name

// Renders every format into `folder` (written beside and renamed, so a reader never sees half a
// file).
void write_reports(const std::string& folder, const RunInfo& run,
                   const std::vector<Record>& records);

// For the terminal, plain ASCII. A table of backend x property with a column for each world, at
// most 100 columns wide where names allow, one of node x backend where there are several nodes, and
// the totals.
std::string summary_table(const std::vector<Record>& records);
// Each red record with its cell, explanation and replay line; empty when nothing is red.
std::string red_cells(const std::vector<Record>& records);

}  // namespace tutti
