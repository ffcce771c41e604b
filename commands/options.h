// The command line, as one struct.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "fixtures/cases/types.h"

namespace tutti {

struct Options {
  std::string command;                // run list replay bench doctor diff
  std::vector<std::string> backends;  // names, or paths of plugins; empty: all that are installed
  std::string node;     // with its changes (fixtures/nodes/compose.h); empty: real when there is a
                        // GPU, else host
  std::string changes;  // of the node, which has them at its end when all is parsed
  std::string worlds;   // "1..8" or "2,4"; empty: 1 to the number of ranks
  std::vector<std::string> dtypes;  // by name; empty: all
  std::vector<std::string> ops;     // likewise
  std::string filter = "*";
  std::string profile = "quick";
  std::uint64_t seed = 1;
  int cases = 0;                       // a cell; 0: the profile's
  std::optional<std::uint64_t> cells;  // of the run; empty: the profile's
  double time_seconds = 0;             // 0: no limit
  double shrink_seconds = 0;           // for one failure; 0: the profile's
  std::string trace;                   // file that gets every case line; empty: none
  std::string out;                     // empty: reports/out/<machine>-<driver>-<time>
  int ranks = 8;                       // -np, when mpirun is started from here
  std::string isolation = "process";   // or none
  std::uint64_t deadline_ms = 10'000;
  std::string line;  // replay
  std::string bench = "overhead";
  std::vector<std::uint64_t> sizes{8u << 10, 64u << 10, 1u << 20};  // bytes, of bench latency
  std::string before, after;                                        // diff
  std::vector<std::string> earlier;  // runs before `before`, the newest first
  bool json = false;
};

// Parses the command line; on --help or a mistake prints and returns false with the status to exit
// with.
bool parse_options(int count, char** arguments, Options& options, int& status);

// The run's profile with its overrides.
struct Profile;
Profile profile_of(const Options& options);

// "1..8", "2,4" or "" (1 to `ranks`). Throws std::runtime_error for anything else, or a world
// larger than `ranks`.
std::vector<int> worlds_of(const std::string& text, int ranks);

// All for no names. Throw std::runtime_error with the nearest right ones for an unknown name.
std::vector<Dtype> dtypes_of(const std::vector<std::string>& names);
std::vector<Op> ops_of(const std::vector<std::string>& names);

}  // namespace tutti
