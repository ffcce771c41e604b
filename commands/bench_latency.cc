// tutti bench latency: many small allreduces back to back, as in speculative decoding, by backend:
// recorded once (on CUDA as a graph) and replayed, timed in the workers.
#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "commands/bench.h"
#include "fixtures/median.h"
#include "fixtures/world/burst.h"
#include "suites/runner.h"
#include "suites/session_start.h"

namespace tutti {

using nlohmann::json;

namespace {

constexpr int kCalls = 122;  // in one verify pass of the model that the suite was made for
constexpr int kRounds = 3;   // in which backends take turns
constexpr int kSamples = 5;  // a round
constexpr int kReplaysOnDevice = 10;
constexpr std::chrono::milliseconds kBurstTimeout{120'000};

// A backend and what was measured of it, or why it was not.
struct Contender {
  BackendEntry backend;
  std::string declined;
  std::vector<std::vector<double>> micros;  // by size
};

unsigned memory_of(const Node& node) {
  return node.device_kind == "cuda" ? TUTTI_MEMORY_CUDA : TUTTI_MEMORY_HOST;
}

// Those named, or all in workers of tutti's own that take the device's memory.
std::vector<BackendEntry> backends_of(Job& job, const Node& node) {
  Runner runner(job.director, job.places, {job.options.deadline_ms, false, job.machine.hosts});
  const bool is_chosen = !job.options.backends.empty();
  std::vector<BackendEntry> found;
  for (const BackendEntry& backend : choose_backends(job.places, job.options.backends)) {
    if (!is_chosen && (backend.plugin.empty() || backend.claims.mpi_world)) continue;
    try {
      const bool suits = (runner.identity(backend).memory & memory_of(node)) != 0;
      if (suits) {
        found.push_back(backend);
      } else if (is_chosen) {
        throw SuiteError(fmt::format("{} does not take memory of {}", backend.name, node.name));
      }
    } catch (const CatalogError&) {
      if (is_chosen) throw;  // otherwise it is not for this machine
    }
  }
  // The base first.
  std::stable_sort(found.begin(), found.end(), [](const auto& a, const auto& b) {
    return a.claims.reference_priority > b.claims.reference_priority;
  });
  return found;
}

std::string reason_of(const Reply& reply) {
  if (reply.state != Reply::State::answered)
    return reply.evidence.value("end", std::string("no answer"));
  for (const char* key : {"declined", "threw", "suite_error", "reason"}) {
    if (reply.body.contains(key)) return reply.body[key];
  }
  return "";
}

// Why not all ranks gave what was asked; empty when they did.
std::string problem_of(const Replies& replies) {
  for (const Reply& reply : replies) {
    if (const std::string reason = reason_of(reply); !reason.empty()) return reason;
  }
  return "";
}

// The id of its workers; declined without a communicator.
std::uint32_t start(Job& job, Contender& contender, const Node& node, int world) {
  contender.declined = hosting_problem(contender.backend, false, job.machine.hosts);
  if (!contender.declined.empty()) return 0;
  const SessionStart started = start_session(job.director, job.places, contender.backend, node,
                                             world, job.options.deadline_ms, {}, false);
  if (started.is_created()) return started.id;
  contender.declined = problem_of(started.create.empty() ? started.start : started.create);
  if (contender.declined.empty()) contender.declined = "no communicator";
  return started.id;
}

// A sample is over when the last rank is through.
void measure(Job& job, Contender& contender, std::uint32_t id, std::size_t size, int replays) {
  const Burst burst{job.options.sizes[size], kCalls, replays, kSamples};
  const Replies replies = job.director.ask(id, Kind::burst, {to_text(burst)}, kBurstTimeout);
  contender.declined = problem_of(replies);
  if (!contender.declined.empty()) return;
  for (std::size_t sample = 0; sample < kSamples; ++sample) {
    double longest = 0;
    for (const Reply& reply : replies)
      longest = std::max(longest, reply.body.at("micros").at(sample).get<double>());
    contender.micros[size].push_back(longest);
  }
}

// Its workers live for this turn only, so that nobody else is on its GPUs.
void take_turn(Job& job, Contender& contender, const Node& node, int world) {
  const std::uint32_t id = start(job, contender, node, world);
  const int replays = node.device_kind == "cuda" ? kReplaysOnDevice : 1;
  for (std::size_t size = 0; size < contender.micros.size() && contender.declined.empty(); ++size)
    measure(job, contender, id, size, replays);
  if (id != 0) job.director.kill(id);
}

void print_row(const Contender& contender, const Contender& base) {
  if (!contender.declined.empty()) {
    fmt::print("{:<16} {}\n", contender.backend.name, contender.declined);
    return;
  }
  fmt::print("{:<16}", contender.backend.name);
  for (std::size_t size = 0; size < contender.micros.size(); ++size) {
    const double micros = median(contender.micros[size]);
    fmt::print(" {:>10.2f} {:>7}", micros,
               fmt::format("({:.2f})", micros / median(base.micros[size])));
  }
  fmt::print("\n");
}

// False when no backend was measured.
bool measure_world(Job& job, const std::vector<BackendEntry>& backends, const Node& node,
                   int world) {
  std::vector<Contender> contenders;
  for (const BackendEntry& backend : backends)
    contenders.push_back({backend, "", std::vector<std::vector<double>>(job.options.sizes.size())});
  for (int round = 0; round < kRounds; ++round) {
    for (Contender& contender : contenders) {
      if (contender.declined.empty()) take_turn(job, contender, node, world);
    }
  }
  fmt::print("world {}\n{:<16}", world, "");
  for (const std::uint64_t bytes : job.options.sizes) fmt::print(" {:>18}", size_in_words(bytes));
  fmt::print("\n");
  const auto base = std::find_if(contenders.begin(), contenders.end(),
                                 [](const auto& one) { return one.declined.empty(); });
  for (const Contender& contender : contenders)
    print_row(contender, base == contenders.end() ? contender : *base);
  return base != contenders.end();
}

// More ranks than GPUs take turns, and then figures say nothing.
std::vector<int> worlds_to_measure(const Job& job, const Node& node) {
  if (!job.options.worlds.empty()) return worlds_of(job.options.worlds, job.director.ranks());
  std::vector<int> worlds;
  for (const int world : {2, 4, 8}) {
    const bool has_devices =
        node.device_kind != "cuda" || static_cast<std::size_t>(world) <= node.devices.size();
    if (world <= job.director.ranks() && has_devices) worlds.push_back(world);
  }
  if (worlds.empty())
    throw SuiteError("no world of 2, 4 or 8 has the ranks and the devices; --world names others");
  return worlds;
}

}  // namespace

int bench_latency(Job& job) {
  const Node node = node_of(job, job.options.node);
  const std::vector<BackendEntry> backends = backends_of(job, node);
  if (backends.empty()) throw SuiteError("no backend takes memory of " + node.name);
  fmt::print(
      "{}, {}: {} sums of fp32 back to back, {}; microseconds a call, the median of {},\nand its "
      "ratio to the first backend's\n",
      node.name, node.device_kind, kCalls,
      node.device_kind == "cuda" ? "captured in a graph" : "in a loop", kRounds * kSamples);
  bool is_measured = false;
  for (const int world : worlds_to_measure(job, node))
    is_measured |= measure_world(job, backends, node, world);
  if (!is_measured) throw SuiteError("no backend could be measured");
  return 0;
}

}  // namespace tutti
