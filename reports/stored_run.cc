#include "reports/stored_run.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <filesystem>
#include <fstream>
#include <set>
#include <stdexcept>

#include "fixtures/cases/types.h"
#include "reports/report.h"

namespace tutti {
namespace {

namespace fs = std::filesystem;

constexpr const char* kReport = "report.json";
constexpr const char* kJournal = "records.jsonl";

[[noreturn]] void fail_missing(const fs::path& path) {
  const fs::path parent = path.has_parent_path() ? path.parent_path() : fs::path(".");
  std::vector<std::string> names;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(parent, ignored))
    names.push_back(entry.path().filename().string());
  const std::string near = nearest(path.filename().string(), names);
  throw std::runtime_error(
      fmt::format("{}: there is no such file or folder{}; name the folder of a run (`tutti run "
                  "--out`), or the report.json in it",
                  path.string(), near.empty() ? "" : "; nearest: " + near));
}

RunInfo info_of(const nlohmann::ordered_json& report) {
  RunInfo info;
  info.machine = report.at("machine");
  info.options = report.at("options");
  info.command = report.at("command");
  info.complete = report.at("complete");
  info.started = report.at("started");
  info.seconds = report.at("seconds");
  return info;
}

void read_report(const fs::path& path, StoredRun& run) {
  std::ifstream file(path, std::ios::binary);
  try {
    if (!file) throw std::runtime_error("cannot be opened");
    const auto report = nlohmann::ordered_json::parse(file);
    run.info = info_of(report);
    for (const auto& record : report.at("records"))
      run.records.push_back(record_from_json(nlohmann::json(record)));
    run.has_report = true;
  } catch (const std::exception& error) {
    throw std::runtime_error(
        fmt::format("{}: {}; name a report that this tutti can read, or run again", path.string(),
                    error.what()));
  }
}

std::string shown(const RunInfo& info, const char* option) {
  return info.options.is_object() && info.options.contains(option) ? info.options[option].dump()
                                                                   : "unknown";
}

// Nearly always one: the suite that drew the cases.
std::string builds(const std::vector<Record>& records) {
  std::set<std::string> all;
  for (const Record& record : records) all.insert(record.build_id);
  return fmt::format("{}", fmt::join(all, " "));
}

}  // namespace

StoredRun read_run(const std::string& path) {
  StoredRun run;
  run.path = path;
  const fs::path named(path);
  if (!fs::exists(named)) fail_missing(named);
  const bool is_folder = fs::is_directory(named);
  const fs::path folder = is_folder ? named : fs::absolute(named).parent_path();
  const fs::path report = is_folder ? folder / kReport : named;
  if (is_folder ? fs::exists(report) : named.filename() != kJournal) {
    read_report(report, run);
  } else if (fs::exists(folder / kJournal)) {
    run.records = read_journal(folder.string());
  } else {
    throw std::runtime_error(fmt::format("{}: it has neither {} nor {}; name the folder of a run",
                                         path, kReport, kJournal));
  }
  return run;
}

std::string other_draws(const StoredRun& before, const StoredRun& after) {
  for (const StoredRun* run : {&before, &after}) {
    if (!run->has_report) return run->path + " has no report.json that tells its options";
  }
  if (builds(before.records) != builds(after.records)) return "the suites are of different builds";
  for (const char* option : {"seed", "profile", "cases"}) {
    const std::string was = shown(before.info, option), is = shown(after.info, option);
    if (was != is) return fmt::format("{} is {} in A and {} in B", option, was, is);
  }
  const nlohmann::json was = before.info.options.value("claims", nlohmann::json::object());
  const nlohmann::json is = after.info.options.value("claims", nlohmann::json::object());
  for (const auto& [backend, digest] : was.items()) {
    if (is.contains(backend) && is[backend] != digest)
      return fmt::format("the claims of {} are other ones", backend);
  }
  return "";
}

}  // namespace tutti
