// tutti bench overhead: what a small case costs, and what waiting ranks cost. A program, not a
// test: read ratios.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <sstream>
#include <thread>

#include "commands/commands.h"
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
    std::ifstream file("/proc/" + pid + "/stat");
    std::string text((std::istreambuf_iterator<char>(file)), {});
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

Case small_case(int world) {
  Case one_case;
  one_case.backend = "one_shot";
  one_case.path = "one_shot";
  one_case.property = "agreement.exact";
  one_case.world = world;
  Allreduce call;
  call.count = 1024;
  one_case.steps = {call};
  return one_case;
}

void measure(Job& job, const BackendEntry& backend, const Node& node, int world, bool in_rank) {
  Runner runner(job.director, job.places, {job.options.deadline_ms, in_rank});
  Case one_case = small_case(world);
  std::vector<double> micros;
  for (int i = 0; i < kWarmUps + kCases; ++i) {
    one_case.seed = static_cast<std::uint64_t>(i);
    const auto start = Clock::now();
    const Outcome outcome = runner.run(one_case, backend, node);
    if (outcome.is_red())
      throw SuiteError(fmt::format("the case of the benchmark is red: {}", outcome.reason));
    if (i >= kWarmUps)
      micros.push_back(std::chrono::duration<double, std::micro>(Clock::now() - start).count());
  }
  runner.close_all();
  std::sort(micros.begin(), micros.end());
  fmt::print("world {}, isolation {:<7}  median {:7.0f} us  p90 {:7.0f} us\n", world,
             in_rank ? "none" : "process", micros[micros.size() / 2],
             micros[micros.size() * 9 / 10]);
}

}  // namespace

int bench(Job& job) {
  const BackendEntry backend = find_backend(job.places, "one_shot");
  const Node node = node_of(job, "host");
  fmt::print(
      "one allreduce of 1024 fp32, exact inputs, verified, on the host device; {} cases each\n",
      kCases);
  for (const int world : {2, 4, 8}) {
    if (world > job.director.ranks()) continue;
    measure(job, backend, node, world, false);
    measure(job, backend, node, world, true);
  }
  const double before = cpu_seconds(job.pids);
  constexpr double kIdleSeconds = 3;
  std::this_thread::sleep_for(std::chrono::duration<double>(kIdleSeconds));
  fmt::print("{} idle ranks use {:.0f}% of one core\n", job.director.ranks(),
             (cpu_seconds(job.pids) - before) / kIdleSeconds * 100);
  return 0;
}

}  // namespace tutti
