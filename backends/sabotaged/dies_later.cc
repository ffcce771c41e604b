// A right result, but a thread that `run` left behind aborts the process 20 ms later, when nobody
// waits for the worker. Expected: crash, naming SIGABRT.
#include <chrono>
#include <cstdlib>
#include <thread>

#include "backends/sabotaged/correct.h"

using namespace tutti::sabotaged;

namespace {
tutti_status run(void* communicator, const tutti_request* request, const char** path) {
  const tutti_status status = correct_run(communicator, request, path);
  std::thread([] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    std::abort();
  }).detach();
  return status;
}
}  // namespace

TUTTI_SABOTAGED { return broken("dies_later", {.run = run}); }
