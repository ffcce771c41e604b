#include "backends/worker/last_words.h"

#include <sys/socket.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <ctime>

#include "fixtures/world/message.h"

namespace tutti {

namespace {

WorkerPage* shared_page = nullptr;
int rank_socket = -1;
unsigned world_id = 0;
std::atomic<bool> exit_allowed{false};
constexpr int kHoldSeconds = 40;  // longer than the rank's tries for a backtrace
constexpr int kExitCalled = -1;

// Async-signal-safe.
void tell_and_hold(int signal) {
  std::int32_t none = 0;
  if (shared_page->signal.compare_exchange_strong(none, signal)) {
    const MessageHeader header{static_cast<std::uint32_t>(Kind::crashing), world_id, 0};
    [[maybe_unused]] const ssize_t sent =
        ::send(rank_socket, &header, sizeof header, MSG_NOSIGNAL | MSG_DONTWAIT);
  }
  timespec left{kHoldSeconds, 0};
  while (::nanosleep(&left, &left) != 0) {
  }
}

void on_signal(int signal) {
  tell_and_hold(signal);
  std::signal(signal, SIG_DFL);
  ::raise(signal);
}

}  // namespace

void install_last_words(WorkerPage* page, int socket, unsigned world) {
  shared_page = page;
  rank_socket = socket;
  world_id = world;
  // A stack overflow leaves no stack to run a handler on.
  static char stack[64 << 10];
  stack_t alternative{};
  alternative.ss_sp = stack;
  alternative.ss_size = sizeof stack;
  ::sigaltstack(&alternative, nullptr);
  struct sigaction action {};
  action.sa_handler = on_signal;
  action.sa_flags = SA_ONSTACK;
  for (int signal : {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT, SIGSYS})
    ::sigaction(signal, &action, nullptr);
  std::atexit([] {
    if (!exit_allowed) tell_and_hold(kExitCalled);
  });
}

void allow_exit() { exit_allowed = true; }

}  // namespace tutti
