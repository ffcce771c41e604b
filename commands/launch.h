// How this process was started, and how to start an MPI job.
#pragma once

#include <string>
#include <vector>

namespace tutti {

// The exit status of a suite that could not do its work.
inline constexpr int kCannotWork = 2;

// True when an MPI launcher started this process as one of its ranks.
bool started_by_launcher();
// How many ranks the launcher says there are; 0 when it does not.
int ranks_by_launcher();

// Runs `mpirun -np ranks <this program> arguments`, after printing that line; the exit status of
// the run.
int run_mpirun(int ranks, const std::vector<std::string>& arguments);
// The status that a rank ends with: 0 when `run_mpirun` was told the true one, which it returns.
int told_status(int status);

// What Open MPI must be told before MPI_Init, whoever launched: to yield while it waits.
void prepare_for_mpi();

}  // namespace tutti
