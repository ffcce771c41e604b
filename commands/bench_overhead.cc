// tutti bench overhead: what a small case costs, and what waiting ranks cost. A program, not a
// test: read ratios.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <sstream>

#include "commands/bench.h"
#include "fixtures/world/process_table.h"
#include "suites/runner.h"

namespace tutti {

namespace {

using Clock = std::chrono::steady_clock;

constexpr int kWarmUps = 50;
constexpr int kCases = 1000;

// User and system time of processes of this host, in seconds.
double cpu_seconds(const std::vector<std::string>& pids) {
  double total = 0;
  for (const std::string& pid : pids) {
    const std::string text = process_text(pid, "stat");
    const auto name_end = text.rfind(')');
    if (name_end == std::string::npos) continue;
    std::istringstream fields(text.substr(name_end + 1));
    std::string field;
    for (int i = 3; i <= 15 && fields >> field; ++i) {
      if (i >= 14) total += std::stod(field);
    }
  }
  return total / static_cast<double>(::sysconf(_SC_CLK_TCK));
}

Case small_case(const BackendEntry& backend, int world) {
  Case one_case;
  one_case.backend = backend.name;
  if (backend.is_named) one_case.plugin = backend.plugin;
  one_case.property = "agreement.exact";
  one_case.world = world;
  Allreduce call;
  call.count = 1024;
  one_case.steps = {call};
  return one_case;
}

struct Subject {
  BackendEntry backend;
  std::string path;
};

// The path of a backend that is claimed for the small case on this node; empty when there is none.
std::string claimed_path(Runner& runner, const BackendEntry& backend, const Node& node) {
  const BackendIdentity& identity = runner.identity(backend);
  if (!(identity.memory & TUTTI_MEMORY_HOST)) return "";
  Case one_case = small_case(backend, 2);
  for (const std::string& path : identity.paths) {
    one_case.path = path;
    const Situation situation = situation_of(one_case, calls_of(one_case).front(), node);
    if (path != "auto" && backend.claims.state_of(situation).first == ClaimState::claimed)
      return path;
  }
  return "";
}

Subject subject_of(Job& job, const Node& node) {
  Runner runner(job.director, job.places, {job.options.deadline_ms, false});
  const bool is_chosen = !job.options.backends.empty();
  for (const BackendEntry& backend : choose_backends(job.places, job.options.backends)) {
    try {
      const std::string path = claimed_path(runner, backend, node);
      if (!path.empty()) return {backend, path};
    } catch (const CatalogError&) {
      if (is_chosen) throw;  // otherwise it is not for this machine
    }
  }
  throw SuiteError(
      fmt::format("{} of its own for 1024 fp32 in host memory; name a backend with --backend",
                  is_chosen ? job.options.backends.front() + " claims no path"
                            : "no installed backend claims a path"));
}

void measure(Job& job, const Subject& subject, const Node& node, int world, bool in_rank) {
  Runner runner(job.director, job.places, {job.options.deadline_ms, in_rank});
  Case one_case = small_case(subject.backend, world);
  one_case.path = subject.path;
  std::vector<double> micros;
  for (int i = 0; i < kWarmUps + kCases; ++i) {
    one_case.seed = static_cast<std::uint64_t>(i);
    const auto start = Clock::now();
    const Outcome outcome = runner.run(one_case, subject.backend, node);
    if (outcome.verdict != Verdict::pass)
      throw SuiteError(fmt::format("the case of the benchmark came to {}: {}",
                                   name_of(outcome.verdict), outcome.reason));
    if (i >= kWarmUps)
      micros.push_back(std::chrono::duration<double, std::micro>(Clock::now() - start).count());
  }
  runner.close_all();
  std::sort(micros.begin(), micros.end());
  fmt::print("world {}, isolation {:<7}  median {:7.0f} us  p90 {:7.0f} us\n", world,
             in_rank ? "none" : "process", micros[micros.size() / 2],
             micros[micros.size() * 9 / 10]);
}

// All ranks hold a worker, and the director waits as it does for an answer: for the hello of a
// process that sleeps.
void measure_idle(Job& job, const Subject& subject, const Node& node) {
  const int world = job.director.ranks();
  Runner runner(job.director, job.places, {job.options.deadline_ms, false});
  Case one_case = small_case(subject.backend, world);
  one_case.path = subject.path;
  runner.run(one_case, subject.backend, node);
  WorkerCommand sleeper;
  sleeper.arguments = {"sleep", "3"};
  const auto start = Clock::now();
  const double before = cpu_seconds(job.pids);
  std::uint32_t id = 0;
  job.director.start(1, sleeper, std::chrono::seconds(10), id);
  const double used = cpu_seconds(job.pids) - before;
  const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
  job.director.kill(id);
  runner.close_all();
  fmt::print("{} ranks that wait, the director among them, use {:.0f}% of one core\n",
             job.pids.size(), used / seconds * 100);
}

}  // namespace

int bench_overhead(Job& job) {
  const Node node = node_of(job, "host");
  const Subject subject = subject_of(job, node);
  fmt::print(
      "{}, path {}: one allreduce of 1024 fp32, exact inputs, verified, on the host device; {} "
      "cases each\n",
      subject.backend.name, subject.path, kCases);
  const bool in_rank_too = hosting_problem(subject.backend, true, 1).empty();
  for (const int world : {2, 4, 8}) {
    if (world > job.director.ranks()) continue;
    measure(job, subject, node, world, false);
    if (in_rank_too) measure(job, subject, node, world, true);
  }
  measure_idle(job, subject, node);
  return 0;
}

}  // namespace tutti
