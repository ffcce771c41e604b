// The commands of the binary, one file each. What runs on all ranks gets a Job; what runs on the
// director only, too.
#pragma once

#include <string>

#include "commands/machine.h"
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
  Machine machine;
  std::vector<std::string> pids;  // of the ranks on this host
  std::string command_line;
  std::string build_id;
};

int run(Job& job);
int replay(Job& job);
int bench(Job& job);
int doctor(Job& job);
int list(const Places& places);    // needs no MPI
int diff(const Options& options);  // neither

// The node that a text names (fixtures/nodes/compose.h); without a name, the real one where there
// is a GPU, else `host`. Throws NodeError, also when the machine could not be read and no simulated
// node is named: a broken GPU must not become a run without one.
Node node_of(const Job& job, const std::string& text);

}  // namespace tutti
