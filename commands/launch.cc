#include "commands/launch.h"

#include <cstdlib>

namespace tutti {

namespace {

constexpr const char* kRankVariables[] = {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK",
                                          "MPI_LOCALRANKID"};
constexpr const char* kSizeVariables[] = {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE",
                                          "SLURM_STEP_NUM_TASKS"};

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

void prepare_for_mpi() {
  ::setenv("OMPI_MCA_mpi_yield_when_idle", "1", 0);
  ::setenv("OMPI_MCA_btl_vader_single_copy_mechanism", "none", 0);
}

}  // namespace tutti
