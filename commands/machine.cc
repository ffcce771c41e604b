#include "commands/machine.h"

#include <fmt/format.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <fstream>
#include <map>
#include <thread>

#include "fixtures/world/command.h"

namespace tutti {

using nlohmann::json;

namespace {

std::string cpu_model() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("model name")) return line.substr(line.find(':') + 2);
  }
  return "";
}

std::string read_devices(const Places& places) {
  CommandOptions options;
  options.timeout = std::chrono::seconds(50);
  options.bytes_max = 4u << 20;
  const CommandResult result = run_command({places.lib + "/tutti-worker", "--facts"}, options);
  return result.status == 0 ? result.output : "";
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
    if (mine.devices.empty()) return all;
    RankFacts facts = mine.devices[local[rank] % mine.devices.size()];
    const RankFacts source = facts;
    facts.host = hosts[rank];
    facts.peer_access.assign(hosts.size(), 0);
    facts.nvlinks.assign(hosts.size(), 0);
    for (std::size_t peer = 0; peer < hosts.size(); ++peer) {
      if (hosts[peer] != hosts[rank]) continue;
      const std::size_t index = local[peer] % mine.devices.size();
      facts.peer_access[peer] = source.peer_access.at(index);
      facts.nvlinks[peer] = source.nvlinks.at(index);
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

Node read_machine(Link& link, const Places& places) {
  const std::vector<std::string> hosts = link.gather_texts(host_name());
  if (hosts.empty()) return {};
  std::size_t first = 0;
  while (hosts[first] != host_name()) ++first;
  const bool reads = first == static_cast<std::size_t>(link.rank());
  const std::vector<std::string> texts = link.gather_texts(reads ? read_devices(places) : "");
  std::map<std::string, Node> nodes;
  for (std::size_t rank = 0; rank < texts.size(); ++rank) {
    if (!texts[rank].empty()) nodes[hosts[rank]] = node_from_json(texts[rank]);
  }
  if (nodes.empty()) return {};
  if (nodes.size() == 1) return nodes.begin()->second;
  return over_several_hosts(hosts, nodes);
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
