// One record: the verdict of one cell with its evidence, as stored and reported.
#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "fixtures/cases/types.h"

namespace tutti {

struct Record {
  std::string backend, version, build_id, node;
  int world = 1;
  std::string suite, property, path;
  Dtype dtype = TUTTI_FLOAT32;
  Op op = TUTTI_SUM;
  Verdict verdict = Verdict::missing;
  SkipCause skip_cause = SkipCause::none;
  std::uint64_t cases = 0;  // that were carried out
  std::string reason;       // explanation; empty for a plain pass
  std::string replay;       // the shrunk case line of a red or expected_fail record; else empty
  double max_error = 0;     // largest error as a fraction of its bound
  std::int64_t max_ulp_vs_reference = -1;  // -1: not compared
  std::string reference;                   // what it was compared with
  std::string bits;  // hash of all results of all cases in order; empty: not green, or one has none
  std::vector<std::string> paths_taken;  // that carried calls out; sorted, each once
  double seconds = 0;
  std::vector<std::string> evidence;  // last words, backtraces, waits; one text a rank
};

// The cell that it is of: "gloo host agreement.exact w3 ring bf16 sum".
std::string name_of(const Record& record);

// Keys as in README.md, in that order. Texts come out as valid UTF-8 (bad bytes become U+FFFD), so
// dump() does not throw; numbers that JSON cannot hold become the strings "infinity", "-infinity"
// and "nan".
nlohmann::ordered_json to_json(const Record& record);
// The inverse. Throws std::runtime_error that names the key when one is missing, of the wrong type
// or unknown by name.
Record record_from_json(const nlohmann::json& json);

// What a run was.
struct RunInfo {
  nlohmann::ordered_json machine;  // host, cpu, devices, driver, node, kernel
  nlohmann::ordered_json options;  // as given, seed included
  std::string command;             // the command line
  bool complete = false;           // false: interrupted
  std::string started;             // ISO 8601, UTC
  double seconds = 0;
};

// Counts of the verdicts that occur, and by colour under the keys "green", "red", "grey" (always
// there).
std::map<std::string, std::uint64_t> totals_of(const std::vector<Record>& records);

// Exit status of a run: 0 nothing red, 1 something red, 2 nothing was really tested (no records, or
// all grey).
int exit_status_of(const std::vector<Record>& records);

}  // namespace tutti
