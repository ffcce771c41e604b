#include "backends/worker/member.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <string>
#include <thread>

#include "backends/worker/launcher.h"
#include "fixtures/world/meeting.h"
#include "fixtures/world/worker_life.h"
#include "fixtures/world/worker_page.h"

namespace tutti {

namespace {

using Clock = std::chrono::steady_clock;

constexpr int kCannotWork = 2;
constexpr int kAboveInherited = 64;
constexpr int kParentCheckMs = 200;
constexpr auto kMeetTimeout = std::chrono::seconds(20);

int rank_by_mpirun() {
  const char* rank = std::getenv("OMPI_COMM_WORLD_RANK");
  if (rank) return std::atoi(rank);
  throw std::runtime_error(
      "mpirun gave no OMPI_COMM_WORLD_RANK: the first mpirun on PATH is not Open MPI's");
}

[[noreturn]] void become_worker(char** words, const WorkerFiles& files, pid_t parent) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(kNotExecuted);
  ::setpgid(0, 0);
  sigset_t nothing;
  ::sigemptyset(&nothing);
  ::sigprocmask(SIG_SETMASK, &nothing, nullptr);
  std::signal(SIGTERM, SIG_DFL);
  ::dup2(::open("/dev/null", O_RDONLY), 0);
  ::dup2(files.output, 1);
  ::dup2(files.output, 2);
  ::dup2(files.socket, kWorkerSocket);
  ::dup2(files.page, kWorkerPage);
  ::dup2(files.compare, kWorkerCompare);
  ::close_range(kWorkerCompare + 1, ~0u, 0);
  ::execvp(words[0], words);
  std::fprintf(stderr, "cannot start %s: %s\n", words[0], std::strerror(errno));
  std::fflush(stderr);
  ::_exit(kNotExecuted);
}

// Without reaping it: until then its number names it and its group.
bool has_ended(pid_t worker, siginfo_t& info) {
  info = {};
  return ::waitid(P_PID, static_cast<id_t>(worker), &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
         info.si_pid == worker;
}

// Until the rank hangs up, or is gone, or mpirun is. Not by PR_SET_PDEATHSIG, since mpirun may
// start processes by a thread that ends.
void watch(pid_t worker, int child_signals, const OwnedFile& rank) {
  const pid_t mpirun = ::getppid();
  bool is_told = false, is_left = false;
  while (!is_left && ::getppid() == mpirun) {
    siginfo_t info;
    if (!is_told && has_ended(worker, info)) {
      tell_news(rank, {MemberNews::ended, info.si_code, info.si_status});
      is_told = true;
    }
    pollfd entries[] = {{rank.number(), POLLIN, 0}, {child_signals, POLLIN, 0}};
    if (::poll(entries, 2, kParentCheckMs) <= 0) continue;
    signalfd_siginfo signal;
    if (entries[1].revents && ::read(child_signals, &signal, sizeof signal) < 0) continue;
    is_left = entries[0].revents != 0;  // a rank never says anything
  }
}

void end_worker(pid_t worker) {
  ::kill(-worker, SIGKILL);
  ::kill(worker, SIGKILL);
  const auto until = Clock::now() + kKillTimeout;
  while (::waitpid(worker, nullptr, WNOHANG) == 0 && Clock::now() < until)
    std::this_thread::sleep_for(std::chrono::microseconds(100));
}

int serve(char** words) {
  const OwnedFile rank = meet_rank(words[0], rank_by_mpirun(), Clock::now() + kMeetTimeout);
  WorkerFiles files{};
  if (!receive_files(rank, kAboveInherited, files)) return kCannotWork;
  const std::string own_pid = std::to_string(::getpid());
  ::setenv("TUTTI_WORKER_FDS",
           (std::to_string(kWorkerSocket) + "," + std::to_string(kWorkerPage) + "," +
            std::to_string(kWorkerCompare))
               .c_str(),
           1);
  ::setenv("TUTTI_WORKER_PARENT", own_pid.c_str(), 1);
  sigset_t child_ends;
  ::sigemptyset(&child_ends);
  ::sigaddset(&child_ends, SIGCHLD);
  ::sigprocmask(SIG_BLOCK, &child_ends, nullptr);
  const OwnedFile child_signals(::signalfd(-1, &child_ends, SFD_CLOEXEC));
  const pid_t own = ::getpid(), worker = ::fork();
  if (worker == 0) become_worker(words + 1, files, own);
  if (worker < 0) throw std::runtime_error("cannot fork");
  for (const int file : {files.socket, files.page, files.compare, files.output}) ::close(file);
  // mpirun says SIGTERM and, a second later, SIGKILL when a worker aborts the world: time enough to
  // tell how that one ended.
  std::signal(SIGTERM, SIG_IGN);
  tell_news(rank, {MemberNews::started, worker, 0});
  watch(worker, child_signals.number(), rank);
  end_worker(worker);
  return 0;
}

}  // namespace

int serve_as_member(char** words) {
  try {
    return serve(words);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "tutti worker: %s\n", error.what());
    return kCannotWork;
  }
}

}  // namespace tutti
