// What machine this is: for the report, for the folder's name, and as the node "real".
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "fixtures/nodes/node.h"
#include "fixtures/world/link.h"
#include "suites/catalog.h"

namespace tutti {

struct Machine {
  Node real;            // no devices: there is no GPU
  std::string problem;  // why `real` is not known; empty when it is
  int hosts = 1;
};

// Reads the devices of every host in a child process of one of its ranks, and puts them together:
// one entry a device on one host, one entry a rank on several. All ranks call it.
Machine read_machine(Link& link, const Places& places);

// What a host's reader tells the others: its node as JSON, or why it could not be read.
struct HostAnswer {
  std::string node;
  std::string problem;
};
std::string to_text(const HostAnswer& answer);
// The machine from what every rank says of its host: its name, and the answer of one reader a host
// as text (empty texts of the others). A host without an answer, and hosts of which only some have
// GPUs, are a problem: judging them as if they were alike would prove nothing.
Machine machine_of(const std::vector<std::string>& hosts, const std::vector<std::string>& answers);

nlohmann::ordered_json machine_facts(const Node& real, const Node& node);

std::string host_name();

}  // namespace tutti
