// A worker that dies tells its rank first and holds still, so that the rank can take a backtrace of
// every thread.
#pragma once

#include "fixtures/world/worker_page.h"

namespace tutti {

// Handlers for SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT and SIGSYS, and one for exit() out of a
// library. Each notes the signal in the page, writes a `crashing` message to `socket` and waits up
// to forty seconds to be killed.
void install_last_words(WorkerPage* page, int socket, unsigned world);

// From here on exit() is an ordinary end.
void allow_exit();

}  // namespace tutti
