// The commands of the binary, one file each. What runs on all ranks gets a Job; what runs on the
// director only, too.
#pragma once

#include <string>

#include "commands/options.h"
#include "fixtures/nodes/node.h"
#include "fixtures/world/director.h"
#include "suites/catalog.h"

namespace tutti {

// Everything a command of the director works with.
struct Job {
  const Options& options;
  Director& director;
  Places places;
  Node real;                      // this machine; no devices without a GPU
  std::vector<std::string> pids;  // of all ranks
  std::string command_line;
  std::string build_id;
};

int run(Job& job);
int replay(Job& job);
int bench(Job& job);
int list(const Places& places);  // needs no MPI

// The node that options name. Throws NodeError.
Node node_of(const Job& job, const std::string& name);

}  // namespace tutti
