// tutti run: checks backends and writes a report.
#include <fmt/format.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <stdexcept>

#include "commands/commands.h"
#include "commands/machine.h"
#include "fixtures/world/signals.h"
#include "reports/report.h"
#include "suites/suite.h"

namespace tutti {

namespace {

std::string utc_now() {
  const std::time_t now = std::time(nullptr);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", std::gmtime(&now));
  return text;
}

nlohmann::ordered_json options_json(const Options& options, int ranks) {
  return {{"backends", options.backends},
          {"node", options.node},
          {"worlds", options.worlds},
          {"filter", options.filter},
          {"profile", options.profile},
          {"seed", options.seed},
          {"cases", options.cases},
          {"time", options.time_seconds},
          {"ranks", ranks},
          {"isolation", options.isolation},
          {"deadline_ms", options.deadline_ms}};
}

Plan plan_of(Job& job) {
  Plan plan;
  if (job.options.backends.empty()) plan.backends = installed_backends(job.places);
  for (const std::string& name : job.options.backends)
    plan.backends.push_back(find_backend(job.places, name));
  plan.node = node_of(job, job.options.node);
  plan.worlds = worlds_of(job.options.worlds, job.director.ranks());
  plan.filter = job.options.filter;
  return plan;
}

// One line that is rewritten on a terminal, a line for each test elsewhere; red cells are told at
// once on both.
class Printer {
 public:
  void test(int done, int planned, const std::string& name) {
    const double seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
    const std::string line =
        fmt::format("[{}/{}] {:.0f} s, {} red  {}", done + 1, planned, seconds, red_, name);
    fmt::print("{}{}{}", terminal_ ? "\r\x1b[K" : "", line, terminal_ ? "" : "\n");
    std::fflush(stdout);
  }
  void record(const Record& record) {
    if (colour_of(record.verdict) != Colour::red) return;
    ++red_;
    fmt::print("{}red: {} {} {} w{} {} {} {}: {}: {}\n  tutti replay '{}'\n",
               terminal_ ? "\r\x1b[K" : "", record.backend, record.node, record.property,
               record.world, record.path, name_of(record.dtype), name_of(record.op),
               name_of(record.verdict), record.reason, record.replay);
    std::fflush(stdout);
  }
  void end() const {
    if (terminal_) fmt::print("\r\x1b[K");
  }

 private:
  const bool terminal_ = std::getenv("TUTTI_TERMINAL") != nullptr;  // set by launch.cc
  const std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  int red_ = 0;
};

// Journal while running, reports at the end, also when the end comes early.
int run_and_report(const Plan& plan, RunContext& context, const std::string& folder,
                   RunInfo& info) {
  Journal journal(folder);
  Printer printer;
  std::vector<Record> records;
  Progress progress{
      [&](const Record& record) { journal.append(record), printer.record(record); },
      [&](int done, int planned, const std::string& name) { printer.test(done, planned, name); }};
  const auto start = std::chrono::steady_clock::now();
  std::string stopped;
  try {
    run_plan(context, plan, progress, records);
    info.complete = true;
  } catch (const Interrupted& error) {
    stopped = error.what();
  } catch (const SuiteError& error) {
    stopped = error.what();
  }
  info.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  write_reports(folder, info, records);
  printer.end();
  if (!stopped.empty()) {
    fmt::print(stderr, "tutti: {}; {} records are in {} (incomplete)\n", stopped, records.size(),
               folder);
    return 2;
  }
  fmt::print("{}{}\nreport: {}\n", summary_table(records), red_cells(records), folder);
  if (exit_status_of(records) == 2)
    fmt::print(stderr, "tutti: nothing was tested; see --filter, --backend and `tutti list`\n");
  return exit_status_of(records);
}

}  // namespace

Node node_of(const Job& job, const std::string& name) {
  if (name == "real" || (name.empty() && !job.real.devices.empty())) {
    if (job.real.devices.empty())
      throw NodeError("--node real: this machine has no GPU that CUDA can see; try --node host");
    Node node = job.real;
    node.name = "real";
    return node;
  }
  return load_node(job.places.share + "/nodes", name.empty() ? "host" : name);
}

int run(Job& job) {
  const Options& options = job.options;
  Runner runner(job.director, job.places, {options.deadline_ms, options.isolation == "none"});
  const Plan plan = plan_of(job);
  RunContext context{runner, profile_of(options), options.seed, job.build_id, {}, nullptr, {}, {}};
  std::ofstream trace;
  if (!options.trace.empty()) {
    trace.open(options.trace);
    if (!trace)
      throw std::runtime_error(fmt::format("--trace {}: cannot be written", options.trace));
    context.trace = &trace;
  }
  context.end = options.time_seconds > 0
                    ? std::chrono::steady_clock::now() +
                          std::chrono::duration_cast<std::chrono::steady_clock::duration>(
                              std::chrono::duration<double>(options.time_seconds))
                    : std::chrono::steady_clock::time_point::max();
  RunInfo info;
  info.machine = machine_facts(job.real, plan.node);
  info.options = options_json(options, job.director.ranks());
  info.command = job.command_line;
  info.started = utc_now();
  const bool is_default = options.out.empty();
  const std::string folder =
      is_default ? default_folder(".", host_name(), job.real.driver) : options.out;
  fmt::print("node {}, {} backends, worlds {}, seed {}, reports in {}\n", plan.node.name,
             plan.backends.size(),
             options.worlds.empty() ? fmt::format("1..{}", job.director.ranks()) : options.worlds,
             options.seed, folder);
  const int status = run_and_report(plan, context, folder, info);
  if (is_default) point_latest(folder);
  runner.close_all();
  return status;
}

}  // namespace tutti
