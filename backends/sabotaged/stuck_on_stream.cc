// The last rank's work on the stream for an fp32 sum does not end by itself, only by `abort`.
// Expected: hang, with a backtrace taken before the abort, where there is a tool for it.
#include <atomic>
#include <chrono>
#include <thread>

#include "backends/sabotaged/correct.h"

using namespace tutti::sabotaged;

namespace {
std::atomic<bool> aborted = false;
tutti_status (*correct_abort)(void*) = nullptr;

void after(const Call& call) {
  // The sleeps are there so that other ranks' work is not slowed down.
  const bool hangs = call.request.dtype == TUTTI_FLOAT32 && call.request.op == TUTTI_SUM;
  while (hangs && call.rank == call.world - 1 && !aborted)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
}

tutti_status abort_all(void* communicator) {
  aborted = true;
  return correct_abort(communicator);
}
}  // namespace

TUTTI_SABOTAGED {
  tutti_backend* table = broken("stuck_on_stream", {.after = after});
  correct_abort = table->abort;
  table->abort = abort_all;
  return table;
}
