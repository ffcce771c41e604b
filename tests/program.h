// Runs the built binary as a user would, and reads what it leaves.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "fixtures/world/command.h"
#include "fixtures/world/process_table.h"
#include "fixtures/world/temporary_folder.h"

namespace tutti::testing {

namespace fs = std::filesystem;

inline std::string program() { return TUTTI_PROGRAM; }

inline fs::path lib_folder() {
  return fs::path(program()).parent_path().parent_path() / "lib" / "tutti";
}

inline std::string sabotaged(const std::string& name) {
  return (lib_folder() / "sabotaged" / name / (name + ".so")).string();
}

inline CommandResult tutti(std::vector<std::string> arguments,
                           std::chrono::seconds timeout = std::chrono::seconds(120)) {
  arguments.insert(arguments.begin(), program());
  CommandOptions options;
  options.timeout = timeout;
  options.bytes_max = 1u << 20;
  options.with_errors = true;
  return run_command(arguments, options);
}

struct Finished {
  CommandResult result;
  nlohmann::json report;
  // Records of a verdict.
  std::vector<nlohmann::json> with(const std::string& verdict) const {
    std::vector<nlohmann::json> found;
    for (const auto& record : report.at("records")) {
      if (record.at("verdict") == verdict) found.push_back(record);
    }
    return found;
  }
};

// `tutti run arguments`, with its report, on the node `host` unless they name another one. The
// backends of tests have no more dtypes and ops.
inline Finished run(std::vector<std::string> arguments,
                    std::chrono::seconds timeout = std::chrono::seconds(300)) {
  const TemporaryFolder folder;
  const std::string out = folder / "out";
  if (std::find(arguments.begin(), arguments.end(), "--node") == arguments.end())
    arguments.insert(arguments.begin(), {"--node", "host"});
  arguments.insert(arguments.begin(), "run");
  arguments.insert(arguments.end(),
                   {"--out", out, "--dtype", "fp32,bf16,int32", "--op", "sum,max"});
  Finished finished{tutti(arguments, timeout), {}};
  std::ifstream file(out + "/report.json");
  if (file) finished.report = nlohmann::json::parse(file);
  return finished;
}

inline std::vector<std::string> lines_of(const std::string& path) {
  std::ifstream file(path);
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);) lines.push_back(line);
  return lines;
}

// Live processes whose environment holds `mark`, as "pid name"; how a test finds what it left
// behind.
inline std::vector<std::string> processes_with(const std::string& mark) {
  std::vector<std::string> found;
  for (const std::string& id : process_ids()) {
    if (id != std::to_string(::getpid()) &&
        process_text(id, "environ").find(mark) != std::string::npos)
      found.push_back(id + " " + process_name(id));
  }
  return found;
}

}  // namespace tutti::testing
