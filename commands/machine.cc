#include "commands/machine.h"

#include <fmt/format.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <thread>

#include "fixtures/world/command.h"

namespace tutti {

using nlohmann::json;

namespace {

// Shorter than what the other ranks wait for it.
constexpr auto kFactsTimeout = std::chrono::seconds(50);

std::string cpu_model() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("model name")) return line.substr(line.find(':') + 2);
  }
  return "";
}

// The line with the node among what a library may print of its own accord.
std::string last_json_line(const std::string& output) {
  std::istringstream lines(output);
  std::string found;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("{")) found = line;
  }
  return found;
}

HostAnswer read_devices(const Places& places) {
  CommandOptions options;
  options.timeout = kFactsTimeout;
  options.bytes_max = 4u << 20;
  options.with_errors = true;
  const CommandResult result = run_command({places.lib + "/tutti-worker", "--facts"}, options);
  if (!result.started) return {"", fmt::format("{}/tutti-worker cannot be started", places.lib)};
  if (result.timed_out) {
    return {"", fmt::format("no answer from the GPU driver within {} s {}", kFactsTimeout.count(),
                            result.output)};
  }
  if (result.status != 0) return {"", fmt::format("status {}: {}", result.status, result.output)};
  const std::string node = last_json_line(result.output);
  if (node.empty()) return {"", fmt::format("tutti-worker --facts told: {}", result.output)};
  return {node, ""};
}

// Entries for every rank of a world over several hosts: peers of other hosts are out of reach.
Node over_several_hosts(const std::vector<std::string>& hosts,
                        const std::map<std::string, Node>& nodes) {
  Node all = nodes.begin()->second;
  all.devices.clear();
  std::map<std::string, std::size_t> ranks_on;
  std::vector<std::size_t> local;
  for (const std::string& host : hosts) local.push_back(ranks_on[host]++);
  for (std::size_t rank = 0; rank < hosts.size(); ++rank) {
    const Node& mine = nodes.at(hosts[rank]);
    RankFacts facts = mine.devices[local[rank] % mine.devices.size()];
    const RankFacts source = facts;
    facts.host = hosts[rank];
    for (auto row : {&RankFacts::peer_access, &RankFacts::nvlinks, &RankFacts::pcie}) {
      (facts.*row).assign(hosts.size(), 0);
      for (std::size_t peer = 0; peer < hosts.size(); ++peer) {
        if (hosts[peer] == hosts[rank])
          (facts.*row)[peer] = (source.*row).at(local[peer] % mine.devices.size());
      }
    }
    all.devices.push_back(facts);
  }
  return all;
}

}  // namespace

std::string host_name() {
  char name[256] = "";
  ::gethostname(name, sizeof name - 1);
  return name;
}

std::string to_text(const HostAnswer& answer) {
  return json{{"node", answer.node}, {"problem", answer.problem}}.dump(
      -1, ' ', false, json::error_handler_t::replace);
}

Machine machine_of(const std::vector<std::string>& hosts, const std::vector<std::string>& answers) {
  Machine machine;
  machine.hosts = static_cast<int>(std::set<std::string>(hosts.begin(), hosts.end()).size());
  std::map<std::string, Node> nodes;
  std::string with_gpu, without;
  for (std::size_t rank = 0; rank < answers.size(); ++rank) {
    if (answers[rank].empty()) continue;
    const json answer = json::parse(answers[rank]);
    const std::string problem = answer.at("problem");
    if (!problem.empty()) {
      machine.problem = fmt::format("the GPUs of {} cannot be read: {}", hosts[rank], problem);
      return machine;
    }
    const Node& node = nodes[hosts[rank]] = node_from_json(answer.at("node"));
    (node.devices.empty() ? without : with_gpu) = hosts[rank];
  }
  if (hosts.empty() || nodes.size() < static_cast<std::size_t>(machine.hosts)) {
    machine.problem = "not every host told within a minute which GPUs it has";
  } else if (!with_gpu.empty() && !without.empty()) {
    machine.problem = fmt::format("{} has GPUs and {} has none", with_gpu, without);
  } else {
    machine.real = machine.hosts == 1 || with_gpu.empty() ? nodes.begin()->second
                                                          : over_several_hosts(hosts, nodes);
  }
  return machine;
}

Machine read_machine(Link& link, const Places& places) {
  const std::vector<std::string> hosts = link.gather_texts(host_name());
  if (hosts.empty()) return machine_of({}, {});
  std::size_t first = 0;
  while (hosts[first] != host_name()) ++first;
  const bool reads = first == static_cast<std::size_t>(link.rank());
  return machine_of(hosts, link.gather_texts(reads ? to_text(read_devices(places)) : ""));
}

nlohmann::ordered_json machine_facts(const Node& real, const Node& node) {
  utsname system{};
  ::uname(&system);
  nlohmann::ordered_json devices = nlohmann::ordered_json::array();
  for (const RankFacts& device : real.devices) devices.push_back(device.device_name);
  return {{"host", host_name()},
          {"cpu", cpu_model()},
          {"cores", std::thread::hardware_concurrency()},
          {"kernel", fmt::format("{} {}", system.sysname, system.release)},
          {"devices", devices},
          {"driver", real.driver},
          {"node", node.name},
          {"node_is", node.device_kind == "cuda" ? "real" : "simulated"}};
}

}  // namespace tutti
