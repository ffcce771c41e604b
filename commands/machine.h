// What machine this is: for the report, for the folder's name, and as the node "real".
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "fixtures/nodes/node.h"
#include "fixtures/world/link.h"
#include "suites/catalog.h"

namespace tutti {

// Reads the devices of every host in a child process of one of its ranks, and puts them together:
// one entry a device on one host, one entry a rank on several. All ranks call it. No devices: there
// is no GPU.
Node read_machine(Link& link, const Places& places);

nlohmann::ordered_json machine_facts(const Node& real, const Node& node);

std::string host_name();

}  // namespace tutti
