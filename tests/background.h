// A run in the background, to be ended from outside, and what it leaves.
#pragma once

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>

#include <algorithm>
#include <csignal>
#include <iterator>
#include <thread>

#include "tests/program.h"

namespace tutti::testing {

// A long run in the background, marked in its environment.
class Background {
 public:
  Background(const std::string& backend, const std::string& out, const std::string& mark)
      : mark_("TUTTI_TEST_MARK=" + mark) {
    std::vector<std::string> words{program(), "run",     "-np", "4",     "--backend",
                                   backend,   "--cases", "300", "--out", out};
    std::vector<char*> arguments;
    for (std::string& word : words) arguments.push_back(word.data());
    arguments.push_back(nullptr);
    std::vector<std::string> entries = scrubbed_environment({mark_});
    std::vector<char*> environment;
    for (std::string& entry : entries) environment.push_back(entry.data());
    environment.push_back(nullptr);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, 1, (out + ".log").c_str(), O_WRONLY | O_CREAT, 0600);
    posix_spawn_file_actions_adddup2(&actions, 1, 2);
    posix_spawnattr_t attributes;  // the leader of a group of its own
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
    EXPECT_EQ(::posix_spawn(&pid_, program().c_str(), &actions, &attributes, arguments.data(),
                            environment.data()),
              0);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
  }
  ~Background() {
    if (!ended_) ::kill(pid_, SIGKILL), ::waitpid(pid_, nullptr, 0);
  }
  pid_t pid() const { return pid_; }
  const std::string& mark() const { return mark_; }
  // Exit status, or -1 when it did not end in time.
  int wait(std::chrono::seconds limit) {
    const auto until = std::chrono::steady_clock::now() + limit;
    int status = 0;
    while (std::chrono::steady_clock::now() < until) {
      if (::waitpid(pid_, &status, WNOHANG) == pid_) {
        ended_ = true;
        return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
    return -1;
  }

 private:
  std::string mark_;
  pid_t pid_ = -1;
  bool ended_ = false;
};

inline bool wait_for_records(const std::string& out) {
  for (int i = 0; i < 1500; ++i) {
    if (!lines_of(out + "/records.jsonl").empty()) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  return false;
}

// The director is the rank that holds no other rank's number; mpirun tells each rank its own.
inline pid_t director_of(const Background& background) {
  for (const std::string& process : processes_with(background.mark())) {
    const std::string pid = process.substr(0, process.find(' '));
    if (process.substr(process.find(' ') + 1) != "tutti") continue;
    if (process_text(pid, "environ").find(std::string("OMPI_COMM_WORLD_RANK=0") + '\0') !=
        std::string::npos)
      return std::stoi(pid);
  }
  return -1;
}

inline std::vector<std::string> names_in_shm() {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator("/dev/shm"))
    names.push_back(entry.path().filename().string());
  std::sort(names.begin(), names.end());
  return names;
}

// Names that were not there before and stay: what belongs to other runs goes when they end, after
// 300 s at most (program.h).
inline std::vector<std::string> left_in_shm(const std::vector<std::string>& before) {
  std::vector<std::string> left;
  const auto now = names_in_shm();
  std::set_difference(now.begin(), now.end(), before.begin(), before.end(),
                      std::back_inserter(left));
  for (int i = 0; i < 4000 && !left.empty(); ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    std::erase_if(left, [](const std::string& name) { return !fs::exists("/dev/shm/" + name); });
  }
  return left;
}

inline std::vector<std::string> left_after(const Background& background) {
  std::vector<std::string> left;
  for (int i = 0; i < 250; ++i) {
    left = processes_with(background.mark());
    if (left.empty()) return left;
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  return left;
}

// Kills the director and sees everything end.
inline void kill_director(Background& background) {
  const pid_t director = director_of(background);
  ASSERT_GT(director, 0);
  ::kill(director, SIGKILL);
  EXPECT_NE(background.wait(std::chrono::seconds(30)), -1) << "tutti did not end";
  EXPECT_EQ(left_after(background), std::vector<std::string>{});
}

// mpirun, as the child of tutti.
inline pid_t mpirun_of(const Background& background) {
  for (const std::string& process : processes_with(background.mark())) {
    if (process.substr(process.find(' ') + 1) == "mpirun") return std::stoi(process);
  }
  return -1;
}

}  // namespace tutti::testing
