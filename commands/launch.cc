#include "commands/launch.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "fixtures/world/command.h"

namespace tutti {

namespace {

constexpr const char* kRankVariables[] = {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK",
                                          "MPI_LOCALRANKID"};
constexpr const char* kSizeVariables[] = {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE",
                                          "SLURM_STEP_NUM_TASKS"};

std::string quoted(const std::string& word) {
  constexpr const char* kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_=/.,:+@%";
  if (!word.empty() && word.find_first_not_of(kPlain) == std::string::npos) return word;
  std::string text = "'";
  for (const char c : word) text += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return text + "'";
}

}  // namespace

bool started_by_launcher() {
  for (const char* variable : kRankVariables) {
    if (std::getenv(variable)) return true;
  }
  const char* tasks = std::getenv("SLURM_STEP_NUM_TASKS");
  return tasks && std::getenv("SLURM_STEP_ID") && std::atoi(tasks) > 1;
}

int ranks_by_launcher() {
  for (const char* variable : kSizeVariables) {
    if (const char* value = std::getenv(variable)) return std::atoi(value);
  }
  return 0;
}

std::string become_mpirun(int ranks, const std::vector<std::string>& arguments) {
  const std::string mpirun = find_program("mpirun");
  if (mpirun.empty())
    return "no mpirun on PATH; install Open MPI (Debian: apt-get install openmpi-bin)";
  std::vector<std::pair<std::string, std::string>> environment;
  if (::geteuid() == 0) {
    environment.emplace_back("OMPI_ALLOW_RUN_AS_ROOT", "1");
    environment.emplace_back("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1");
  }
  // One host needs no remote shell, but mpirun ends when there is none.
  if (find_program("ssh").empty()) environment.emplace_back("OMPI_MCA_plm_rsh_agent", "");
  // Containers forbid process_vm_readv; the ranks' messages are small.
  environment.emplace_back("OMPI_MCA_btl_vader_single_copy_mechanism", "none");
  // Seconds that a director has after SIGTERM to write its report. mpirun waits twice as long
  // whenever a job ends with a status other than 0, a red run too, so it is not much more than
  // its 1.
  environment.emplace_back("OMPI_MCA_odls_base_sigkill_timeout", "2");
  // Ranks write to a terminal of mpirun's own, whatever this process writes to.
  if (::isatty(STDOUT_FILENO)) ::setenv("TUTTI_TERMINAL", "1", 1);
  std::vector<std::string> words{"mpirun",          "-q",        "-np", std::to_string(ranks),
                                 "--oversubscribe", "--bind-to", "none"};
  words.push_back(std::filesystem::read_symlink("/proc/self/exe").string());
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<std::string> shown;
  for (const auto& [key, value] : environment) {
    ::setenv(key.c_str(), value.c_str(), 1);
    shown.push_back(key + "=" + quoted(value));
  }
  for (const std::string& word : words) shown.push_back(quoted(word));
  fmt::print("{}\n", fmt::join(shown, " "));
  std::fflush(stdout);
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  ::execv(mpirun.c_str(), pointers.data());
  return fmt::format("cannot start {}: {}", mpirun, std::strerror(errno));
}

void prepare_for_mpi() {
  ::setenv("OMPI_MCA_mpi_yield_when_idle", "1", 0);
  ::setenv("OMPI_MCA_btl_vader_single_copy_mechanism", "none", 0);
}

}  // namespace tutti
