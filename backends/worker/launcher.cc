#include "backends/worker/launcher.h"

#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <system_error>

namespace tutti {

namespace {

[[noreturn]] void become(char** words, const sigset_t& mask, pid_t parent) {
  ::prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (::getppid() != parent) ::_exit(kNotExecuted);
  ::sigprocmask(SIG_SETMASK, &mask, nullptr);
  ::execv(words[0], words);
  std::fprintf(stderr, "cannot start %s: %s\n", words[0], std::strerror(errno));
  ::_exit(kNotExecuted);
}

// False when no child is left. Keeps how `program` ended.
bool reap_all(pid_t program, int& status) {
  while (true) {
    int how = 0;
    const pid_t child = ::waitpid(-1, &how, WNOHANG);
    if (child <= 0) return child == 0;
    if (child == program) status = how;
  }
}

}  // namespace

int serve_as_launcher(char** words) {
  if (!std::filesystem::path(words[0]).filename().string().starts_with(kLauncherFolder)) {
    std::fprintf(stderr, "tutti-worker: %s is not a folder to be removed\n", words[0]);
    return kNotExecuted;
  }
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);
  sigset_t signals, before;
  ::sigemptyset(&signals);
  ::sigaddset(&signals, SIGCHLD);
  ::sigaddset(&signals, SIGTERM);
  ::sigprocmask(SIG_BLOCK, &signals, &before);
  const pid_t own = ::getpid(), program = ::fork();
  if (program == 0) become(words + 1, before, own);
  if (program < 0) return kNotExecuted;
  int status = -1;
  // Until a child ends or the rank says so: both are certain.
  while (reap_all(program, status)) {
    int signal = 0;
    if (::sigwait(&signals, &signal) == 0 && signal == SIGTERM && status < 0)
      ::kill(program, SIGTERM);
  }
  std::error_code ignored;
  std::filesystem::remove_all(words[0], ignored);
  if (WIFEXITED(status)) return WEXITSTATUS(status);
  std::signal(WTERMSIG(status), SIG_DFL);
  ::raise(WTERMSIG(status));
  return 128 + WTERMSIG(status);
}

}  // namespace tutti
