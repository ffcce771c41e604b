// Starts a set of workers for a backend on a node, each with its communicator.
#pragma once

#include <chrono>
#include <cstdint>
#include <vector>

#include "fixtures/cases/case.h"
#include "fixtures/nodes/node.h"
#include "fixtures/world/director.h"
#include "suites/catalog.h"

namespace tutti {

// An interpreter that imports a large library may need it.
inline constexpr std::chrono::milliseconds kStartTimeout{120'000};

struct SessionStart {
  std::uint32_t id = 0;   // of the set, also when it did not start
  Replies start, create;  // `create` is empty unless all have started
  bool is_created() const;
};
SessionStart start_session(Director& director, const Places& places, const BackendEntry& backend,
                           const Node& node, int world, std::uint64_t deadline_ms,
                           const std::vector<Fault>& faults, bool in_rank);

}  // namespace tutti
