// Right results, but once no call has come for 300 ms, a thread that it left behind aborts the
// process: after the last answer of a run of cells, too. Expected: crash, naming SIGABRT.
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <thread>

#include "backends/sabotaged/correct.h"

using namespace tutti::sabotaged;

namespace {
std::atomic<uint64_t> calls{0};

void abort_when_idle(uint64_t seen) {
  for (uint64_t before = seen;; before = seen) {
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    seen = calls;
    if (seen == before) std::abort();
  }
}

tutti_status run(void* communicator, const tutti_request* request, const char** path) {
  if (++calls == 1) std::thread(abort_when_idle, 1).detach();
  return correct_run(communicator, request, path);
}
}  // namespace

TUTTI_SABOTAGED { return broken("dies_when_idle", {.run = run}); }
