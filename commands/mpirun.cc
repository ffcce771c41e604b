// Starts mpirun, waits for it, and gives the exit status of the run.
//
// mpirun waits, twice its odls_base_sigkill_timeout, whenever a rank ends with a status other than
// 0: a red run too. So ranks leave their status in a file of this process and end with 0.
#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <optional>

#include "commands/launch.h"
#include "fixtures/world/command.h"
#include "fixtures/world/mpi_run.h"

namespace tutti {

namespace {

constexpr const char* kStatusFile = "TUTTI_STATUS_FILE";

std::string quoted(const std::string& word) {
  constexpr const char* kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_=/.,:+@%";
  if (!word.empty() && word.find_first_not_of(kPlain) == std::string::npos) return word;
  std::string text = "'";
  for (const char c : word) text += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return text + "'";
}

// A line from each rank with another status than 0. Ranks of other hosts are not told its name, and
// end with their own status.
class StatusFile {
 public:
  StatusFile() {
    ::unsetenv(kStatusFile);  // that of a run around this one
    std::error_code error;
    path_ = (std::filesystem::temp_directory_path(error) / "tutti-status-XXXXXX").string();
    const int file = error ? -1 : ::mkstemp(path_.data());
    if (file < 0) {
      path_.clear();
      return;
    }
    ::close(file);
    ::setenv(kStatusFile, path_.c_str(), 1);
  }
  ~StatusFile() {
    if (!path_.empty()) ::unlink(path_.c_str());
  }
  StatusFile(const StatusFile&) = delete;
  StatusFile& operator=(const StatusFile&) = delete;
  // The largest that a rank told; 0 when none did.
  int status() const {
    std::ifstream file(path_);
    int largest = 0;
    for (int told = 0; file >> told;) largest = std::max(largest, told);
    return largest;
  }

 private:
  std::string path_;
};

std::vector<std::pair<std::string, std::string>> environment_of_mpirun() {
  std::vector<std::pair<std::string, std::string>> environment = mpirun_settings();
  // Seconds that a director has after SIGTERM to write its report.
  environment.emplace_back("OMPI_MCA_odls_base_sigkill_timeout", "2");
  return environment;
}

// In the child. mpirun does not outlive this process, whatever ends it. It is in a group of its
// own: of two signals, one from a terminal or to the group and one passed on, it takes the second
// for impatience and lets the director write no report. So it cannot read from a terminal, and
// nothing here reads.
[[noreturn]] void become(const std::string& program, std::vector<std::string>& words,
                         const sigset_t& mask, pid_t parent) {
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  ::prctl(PR_SET_PDEATHSIG, SIGTERM);
  ::setpgid(0, 0);
  if (const int nothing = ::open("/dev/null", O_RDONLY); nothing >= 0)
    ::dup2(nothing, STDIN_FILENO);
  if (::getppid() != parent) ::_exit(kCannotWork);
  ::sigprocmask(SIG_SETMASK, &mask, nullptr);
  ::execv(program.c_str(), pointers.data());
  fmt::print(stderr, "tutti: cannot start {}: {}\n", program, std::strerror(errno));
  ::_exit(kCannotWork);
}

// Passes on what signals it gets.
int wait_for(pid_t mpirun, const sigset_t& signals) {
  while (true) {
    siginfo_t info{};
    const int signal = ::sigwaitinfo(&signals, &info);
    int status = 0;
    if (signal > 0 && signal != SIGCHLD) {
      ::kill(mpirun, signal);
    } else if (::waitpid(mpirun, &status, WNOHANG) == mpirun) {
      return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    }
  }
}

}  // namespace

int run_mpirun(int ranks, const std::vector<std::string>& arguments) {
  const std::string mpirun = find_program("mpirun");
  if (mpirun.empty()) {
    fmt::print(stderr,
               "tutti: no mpirun on PATH; install Open MPI (Debian: apt-get install "
               "openmpi-bin)\n");
    return kCannotWork;
  }
  // Ranks write to a terminal of mpirun's own, whatever this process writes to.
  if (::isatty(STDOUT_FILENO)) ::setenv("TUTTI_TERMINAL", "1", 1);
  std::vector<std::string> words{"mpirun",          "-q",        "-np", std::to_string(ranks),
                                 "--oversubscribe", "--bind-to", "none"};
  words.push_back(std::filesystem::read_symlink("/proc/self/exe").string());
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<std::string> shown;
  for (const auto& [key, value] : environment_of_mpirun()) {
    ::setenv(key.c_str(), value.c_str(), 1);
    shown.push_back(key + "=" + quoted(value));
  }
  for (const std::string& word : words) shown.push_back(quoted(word));
  fmt::print("{}\n", fmt::join(shown, " "));
  std::fflush(stdout);
  const StatusFile file;
  sigset_t signals, before;
  ::sigemptyset(&signals);
  for (const int signal : {SIGCHLD, SIGINT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2})
    ::sigaddset(&signals, signal);
  std::signal(SIGCHLD, SIG_DFL);
  ::sigprocmask(SIG_BLOCK, &signals, &before);
  const pid_t parent = ::getpid(), child = ::fork();
  if (child == 0) become(mpirun, words, before, parent);
  if (child < 0) {
    fmt::print(stderr, "tutti: cannot start {}: {}\n", mpirun, std::strerror(errno));
    return kCannotWork;
  }
  // mpirun has a status of its own for a run that a signal ended.
  const int status = wait_for(child, signals), told = file.status();
  return told != 0 ? told : status;
}

int told_status(int status) {
  const char* path = std::getenv(kStatusFile);
  if (status == 0 || !path) return status;
  const std::string line = fmt::format("{}\n", status);
  const int file = ::open(path, O_WRONLY | O_APPEND);  // it is there
  const bool told =
      file >= 0 && ::write(file, line.data(), line.size()) == static_cast<ssize_t>(line.size());
  if (file >= 0) ::close(file);
  return told ? 0 : status;
}

}  // namespace tutti
