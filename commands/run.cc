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
#include "fixtures/nodes/compose.h"
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

nlohmann::ordered_json options_json(const Options& options, const Plan& plan, int ranks) {
  nlohmann::ordered_json claims =
      nlohmann::ordered_json::object();  // what is drawn depends on them
  for (const BackendEntry& backend : plan.backends) claims[backend.name] = backend.claims.digest;
  return {{"backends", options.backends},
          {"node", options.node},
          {"worlds", options.worlds},
          {"dtypes", options.dtypes},
          {"ops", options.ops},
          {"filter", options.filter},
          {"profile", options.profile},
          {"seed", options.seed},
          {"cases", options.cases},
          {"cells", profile_of(options).cells_most},
          {"time", options.time_seconds},
          {"ranks", ranks},
          {"isolation", options.isolation},
          {"deadline_ms", options.deadline_ms},
          {"claims", claims}};
}

// A backend that was named and cannot be hosted is refused, others are left out.
void leave_out_what_cannot_be_hosted(Plan& plan, const Options& options, int hosts) {
  std::vector<BackendEntry> kept;
  for (BackendEntry& backend : plan.backends) {
    const std::string problem = hosting_problem(backend, options.isolation == "none", hosts);
    if (problem.empty()) {
      kept.push_back(std::move(backend));
    } else if (options.backends.empty()) {
      fmt::print("left out: {}\n", problem);
    } else {
      throw CatalogError(problem);
    }
  }
  plan.backends = std::move(kept);
}

// The node that was named, and no other; or the usual one, and all that there are files of, for
// properties that are checked on every node.
std::vector<Node> nodes_of(const Job& job) {
  std::vector<Node> nodes{node_of(job, job.options.node)};
  if (!job.options.node.empty() || job.machine.hosts > 1) return nodes;
  for (const std::string& name : node_names(job.places.share + "/nodes")) {
    if (name != nodes.front().name) nodes.push_back(node_of(job, name));
  }
  return nodes;
}

Plan plan_of(Job& job) {
  Plan plan;
  plan.backends = choose_backends(job.places, job.options.backends);
  leave_out_what_cannot_be_hosted(plan, job.options, job.machine.hosts);
  plan.nodes = nodes_of(job);
  plan.worlds = worlds_of(job.options.worlds, job.director.ranks());
  plan.dtypes = dtypes_of(job.options.dtypes);
  plan.ops = ops_of(job.options.ops);
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
    fmt::print("{}red: {}: {}: {}\n  tutti replay '{}'\n", terminal_ ? "\r\x1b[K" : "",
               name_of(record), name_of(record.verdict), record.reason, record.replay);
    std::fflush(stdout);
  }
  void end() const {
    if (terminal_) fmt::print("\r\x1b[K");
  }

 private:
  const bool terminal_ = std::getenv("TUTTI_TERMINAL") != nullptr;  // set by mpirun.cc
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
  } catch (const std::exception& error) {
    stopped = error.what();
  }
  info.options["one_in"] = context.sample.one_in;
  info.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  write_reports(folder, info, records);
  printer.end();
  if (!stopped.empty()) {
    fmt::print(stderr, "tutti: {}; {} records are in {} (incomplete)\n", stopped, records.size(),
               folder);
    return 2;
  }
  fmt::print("{}{}\nreport: {}\n", summary_table(records), red_cells(records), folder);
  if (context.sample.one_in > 1)
    fmt::print("one in {} cells was checked; --cells 0 checks all\n", context.sample.one_in);
  if (exit_status_of(records) == 2)
    fmt::print(stderr, "tutti: nothing was tested; see --filter, --backend and `tutti list`\n");
  return exit_status_of(records);
}

}  // namespace

namespace {

// The source tree when its script started this, so that reports do not lie about wherever the user
// stood; else the current folder.
std::string reports_base() {
  const char* base = std::getenv("TUTTI_REPORTS_BASE");
  return base && *base ? base : ".";
}

// A run without a GPU says why.
void tell_machine(const Machine& machine) {
  if (!machine.problem.empty()) {
    fmt::print(stderr, "tutti: {}; going on with the node that was named\n", machine.problem);
  } else if (machine.real.devices.empty()) {
    fmt::print("no GPU: {}\n", machine.real.source);
  }
}

}  // namespace

Node node_of(const Job& job, const std::string& text) {
  const Machine& machine = job.machine;
  const std::vector<std::string> parts = parts_of_node(text);
  const std::string& name = parts.front();
  const bool is_real = name == "real" || (name.empty() && !machine.real.devices.empty());
  if ((is_real || name.empty()) && !machine.problem.empty()) {
    throw NodeError(fmt::format("{}\nMend that, or go without: --node host", machine.problem));
  }
  if (is_real && machine.real.devices.empty()) {
    throw NodeError(
        fmt::format("--node real: this machine has no GPU that can be used ({}); try "
                    "--node host",
                    machine.real.source));
  }
  Node node = is_real ? machine.real
                      : load_node(job.places.share + "/nodes", name.empty() ? "host" + text : text);
  if (is_real) {
    node.name = "real";
    change(node, parts);
  }
  if (node.device_kind == "host" && machine.hosts > 1) {
    throw NodeError(fmt::format(
        "node {} is simulated in memory that ranks share, and these ranks are on {} hosts; start "
        "them on one",
        node.name, machine.hosts));
  }
  return node;
}

int run(Job& job) {
  const Options& options = job.options;
  Runner runner(job.director, job.places,
                {options.deadline_ms, options.isolation == "none", job.machine.hosts});
  const Plan plan = plan_of(job);
  RunContext context{.runner = runner, .profile = profile_of(options)};
  context.seed = options.seed;
  context.build_id = job.build_id;
  std::ofstream trace;
  if (!options.trace.empty()) {
    trace.open(options.trace);
    if (!trace)
      throw std::runtime_error(fmt::format("--trace {}: cannot be written", options.trace));
    context.trace = &trace;
  }
  if (options.time_seconds > 0) {
    const std::chrono::duration<double> time(options.time_seconds);
    context.pace = Pace(std::chrono::steady_clock::now() +
                        std::chrono::duration_cast<std::chrono::steady_clock::duration>(time));
  }
  RunInfo info;
  info.machine = machine_facts(job.machine.real, plan.nodes.front());
  info.options = options_json(options, plan, job.director.ranks());
  info.command = job.command_line;
  info.started = utc_now();
  const bool is_default = options.out.empty();
  if (!is_default) require_new_folder(options.out);
  const std::string folder =
      is_default ? default_folder(reports_base(), host_name(), job.machine.real.driver)
                 : options.out;
  tell_machine(job.machine);
  fmt::print("node {}{}, {} backends, worlds {}, seed {}, reports in {}\n", plan.nodes.front().name,
             plan.nodes.size() > 1 ? fmt::format(" and {} more", plan.nodes.size() - 1) : "",
             plan.backends.size(),
             options.worlds.empty() ? fmt::format("1..{}", job.director.ranks()) : options.worlds,
             options.seed, folder);
  const int status = run_and_report(plan, context, folder, info);
  if (is_default) point_latest(folder);
  return status;
}

}  // namespace tutti
