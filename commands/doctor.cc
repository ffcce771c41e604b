// tutti doctor: a node as backends will see it, and the path that each backend would take there.
// Nothing is run: `plan` is asked.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <map>

#include "commands/commands.h"
#include "reports/text.h"
#include "suites/selection/ask_plan.h"

namespace tutti {

namespace {

constexpr std::array<std::uint64_t, 4> kBytes{8u << 10, 256u << 10, 4u << 20, 64u << 20};
constexpr int kWorldUsual = 8;

// ---- The node ----------------------------------------------------------------------------------

std::string handles_text(std::uint32_t handles) {
  std::vector<std::string> names;
  if (handles & TUTTI_HANDLE_CUDA_IPC) names.emplace_back("cuda_ipc");
  if (handles & TUTTI_HANDLE_POSIX) names.emplace_back("posix");
  if (handles & TUTTI_HANDLE_FABRIC) names.emplace_back("fabric");
  return names.empty() ? "none" : fmt::format("{}", fmt::join(names, " "));
}

std::string memory_text(std::uint64_t bytes) {
  if (bytes == 0) return "?";
  if (bytes < 1'000'000'000) return size_in_words(bytes);
  return fmt::format("{:.0f} GB", static_cast<double>(bytes) / 1e9);
}

// What is said of a device in its line; devices that say the same share one.
std::string device_text(const RankFacts& device) {
  return fmt::format("{}, {}.{}, {}, multicast {}, handles {}, sees {}, /dev/shm {}, host {}",
                     device.device_name, device.capability_major, device.capability_minor,
                     memory_text(device.memory_bytes), device.multicast ? "yes" : "no",
                     handles_text(device.handles), device.visible_devices,
                     memory_text(device.shared_memory_bytes), device.host);
}

void print_devices(const Node& node) {
  for (std::size_t first = 0; first < node.devices.size();) {
    const std::string text = device_text(node.devices[first]);
    std::size_t last = first;
    while (last + 1 < node.devices.size() && device_text(node.devices[last + 1]) == text) ++last;
    fmt::print("  {:<8} {}\n",
               first == last ? fmt::format("{}", first) : fmt::format("{}..{}", first, last), text);
    first = last + 1;
  }
}

constexpr std::size_t kDevicesInMatrix = 16;

// The value that all pairs of devices have; else a row for each device, or of many devices how
// often each value is there.
void print_links(const Node& node, const char* name, std::vector<std::uint8_t> RankFacts::*row,
                 const std::vector<std::string>& names) {
  const auto text = [&](std::uint8_t value) {
    return value < names.size() ? names[value] : fmt::format("{}", value);
  };
  std::vector<std::uint8_t> values;
  for (std::size_t own = 0; own < node.devices.size(); ++own) {
    for (std::size_t peer = 0; peer < node.devices.size(); ++peer) {
      if (peer != own) values.push_back((node.devices[own].*row)[peer]);
    }
  }
  const auto differs = [&](std::uint8_t value) { return value != values.front(); };
  if (std::none_of(values.begin(), values.end(), differs)) {
    fmt::print("{}: {}\n", name,
               values.empty() ? "one device" : text(values.front()) + " between any two");
    return;
  }
  if (node.devices.size() > kDevicesInMatrix) {
    std::map<std::string, std::size_t> pairs;
    for (const std::uint8_t value : values) ++pairs[text(value)];
    std::vector<std::string> parts;
    for (const auto& [value, count] : pairs)
      parts.push_back(fmt::format("{} for {} of {} pairs", value, count, values.size()));
    fmt::print("{}: {}\n", name, fmt::join(parts, ", "));
    return;
  }
  fmt::print("{}: from device (row) to device (column)\n", name);
  for (std::size_t own = 0; own < node.devices.size(); ++own) {
    std::string line = fmt::format("  {:<4}", own);
    for (std::size_t peer = 0; peer < node.devices.size(); ++peer)
      line += fmt::format(" {:>4}", peer == own ? "." : text((node.devices[own].*row)[peer]));
    fmt::print("{}\n", line);
  }
}

void print_node(const Node& node) {
  fmt::print("node {}: {} devices, {}, driver {}\n{}\n", node.name, node.devices.size(),
             node.device_kind, node.driver.empty() ? "none" : node.driver, node.source);
  print_devices(node);
  print_links(node, "peer access", &RankFacts::peer_access, {"no", "yes"});
  print_links(node, "NVLinks", &RankFacts::nvlinks, {});
  print_links(node, "PCIe", &RankFacts::pcie, {"?", "same", "PIX", "PXB", "PHB", "NODE", "SYS"});
}

// ---- What backends would do --------------------------------------------------------------------

constexpr std::array kDtypesAsked{TUTTI_BFLOAT16, TUTTI_FLOAT32};

PlanSweep questions(const Node& node, int world) {
  PlanSweep sweep{node, {{"", world}}, {}, true};
  for (const Dtype dtype : kDtypesAsked) {
    for (const std::uint64_t bytes : kBytes) {
      Allreduce call;
      call.dtype = dtype;
      call.count = bytes / bytes_of(dtype);
      sweep.requests.push_back(call);
    }
  }
  return sweep;
}

std::vector<std::string> answers_of(Runner& runner, const BackendEntry& backend, const Node& node,
                                    int world) {
  const PlanSweep sweep = questions(node, world);
  const AskedPlan asked = ask_plan(runner, backend, sweep);
  if (!asked.broken.empty()) return {asked.broken.begin()->second.what};
  std::vector<std::string> answers;
  for (const std::uint16_t text : asked.answers.rows.at(asked.answers.row_of.at(0)))
    answers.push_back(asked.answers.texts[text]);
  return answers;
}

// "path ring" as "ring"; what is not a path is told below the table.
std::string short_text(const std::string& answer) {
  if (answer.starts_with(kPlanPath)) return answer.substr(std::string_view(kPlanPath).size());
  return answer.substr(0, answer.find_first_of(": "));
}

void print_row(const std::string& backend, const std::vector<std::string>& answers) {
  std::string line = fmt::format("  {:<16}", backend);
  std::vector<std::string> notes;
  for (const std::string& answer : answers) {
    line += fmt::format(" {:<12}", short_text(answer));
    const bool is_known = std::find(notes.begin(), notes.end(), answer) != notes.end();
    if (!answer.starts_with(kPlanPath) && answer != kPlanUnknown && !is_known)
      notes.push_back(answer);
  }
  line.erase(line.find_last_not_of(' ') + 1);
  fmt::print("{}\n", line);
  for (const std::string& note : notes) fmt::print("    {}\n", note);
}

bool print_world(Runner& runner, const std::vector<BackendEntry>& backends, const Node& node,
                 int world) {
  fmt::print("\nworld {}: the path of a sum, out of place\n  {:<16}", world, "");
  for (const Dtype dtype : kDtypesAsked) {
    for (const std::uint64_t bytes : kBytes)
      fmt::print(" {:<12}", fmt::format("{} {}", name_of(dtype), size_in_words(bytes)));
  }
  fmt::print("\n");
  bool is_asked = false;
  for (const BackendEntry& backend : backends) {
    try {
      print_row(backend.name, answers_of(runner, backend, node, world));
      is_asked = true;
    } catch (const CatalogError& error) {  // not installed, or cannot be hosted
      fmt::print("  {:<16} {}\n", backend.name, error.what());
    }
  }
  return is_asked;
}

}  // namespace

int doctor(Job& job) {
  const Node node = node_of(job, job.options.node);
  print_node(node);
  Runner runner(job.director, job.places, {job.options.deadline_ms, false, job.machine.hosts});
  const int devices = static_cast<int>(node.devices.size());
  std::vector<int> worlds{std::clamp(devices, 2, kWorldUsual)};
  if (!job.options.worlds.empty()) worlds = worlds_of(job.options.worlds, kLargestWorld);
  const std::vector<BackendEntry> backends = choose_backends(job.places, job.options.backends);
  bool is_asked = false;
  for (const int world : worlds) is_asked |= print_world(runner, backends, node, world);
  return is_asked ? 0 : 2;
}

}  // namespace tutti
