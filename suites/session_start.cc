#include "suites/session_start.h"

#include <algorithm>

#include "fixtures/world/session_options.h"

namespace tutti {

namespace {

constexpr std::chrono::milliseconds kCreateTimeoutMin{60'000};

}  // namespace

bool SessionStart::is_created() const {
  return !create.empty() && all_answered(create) &&
         std::all_of(create.begin(), create.end(), [](const Reply& reply) {
           return reply.body.is_object() && reply.body.value("status", -1) == TUTTI_OK;
         });
}

SessionStart start_session(Director& director, const Places& places, const BackendEntry& backend,
                           const Node& node, int world, std::uint64_t deadline_ms,
                           const std::vector<Fault>& faults, bool in_rank) {
  SessionStart started;
  started.start =
      director.start(world, worker_command(backend, places, in_rank), kStartTimeout, started.id);
  if (!all_answered(started.start)) return started;
  SessionOptions options;
  options.world = world;
  options.node = node;
  options.library_folder = places.lib;
  options.deadline_ms = deadline_ms;
  options.numerics = backend.claims.numerics;
  options.faults = faults;
  const auto timeout =
      std::max(kCreateTimeoutMin, std::chrono::milliseconds(2 * options.deadline_ms));
  options.create_timeout_ms = static_cast<std::uint64_t>(timeout.count());
  std::vector<std::string> payloads;
  for (options.rank = 0; options.rank < world; ++options.rank) payloads.push_back(to_text(options));
  started.create = director.ask(started.id, Kind::create, payloads, timeout);
  return started;
}

}  // namespace tutti
