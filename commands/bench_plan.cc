// tutti bench plan: how many combinations a second are asked of each backend's plan in a sweep, and
// how many a whole one has. A program, not a test.
#include <fmt/format.h>

#include <chrono>

#include "commands/bench.h"
#include "suites/selection/ask_plan.h"
#include "suites/selection/sweep_plan.h"

namespace tutti {

namespace {

// Each combination is asked of two ranks where the world has them.
void measure(Runner& runner, const BackendEntry& backend, const Node& base) {
  const SweepPlan plan = sweep_plan(base, backend.claims, Detail::usual);
  const auto combinations =
      static_cast<double>(plan.sweep.places.size() * plan.sweep.requests.size());
  const auto start = std::chrono::steady_clock::now();
  const AskedPlan asked = ask_plan(runner, backend, plan.sweep);
  const double seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  fmt::print("{:<16} {:>12.0f} {:>10.2f} {:>14.2f} {:>10.1f} {:>8}\n", backend.name, combinations,
             combinations / asked.answers.seconds / 1e6,
             static_cast<double>(asked.answers.calls) / asked.answers.seconds / 1e6, seconds,
             asked.broken.size());
}

}  // namespace

int bench_plan(Job& job) {
  Runner runner(job.director, job.places, {job.options.deadline_ms, false, job.machine.hosts});
  const Node base = load_node(job.places.share + "/nodes", kSweepBase);
  fmt::print(
      "a sweep over capabilities, links, hosts, worlds, sizes, alignments and places, one core\n");
  fmt::print("{:<16} {:>12} {:>10} {:>14} {:>10} {:>8}\n", "", "combinations", "M/s", "M calls/s",
             "seconds", "broken");
  bool is_measured = false;
  for (const BackendEntry& backend : choose_backends(job.places, job.options.backends)) {
    try {
      measure(runner, backend, base);
      is_measured = true;
    } catch (const NotInstalledError& error) {
      fmt::print("{:<16} {}\n", backend.name, error.what());
    }
  }
  if (!is_measured) throw SuiteError("no backend could be asked");
  return 0;
}

}  // namespace tutti
