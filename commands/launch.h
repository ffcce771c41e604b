// How this process was started, and how to become an MPI job.
#pragma once

#include <string>
#include <vector>

namespace tutti {

// True when an MPI launcher started this process as one of its ranks.
bool started_by_launcher();
// How many ranks the launcher says there are; 0 when it does not.
int ranks_by_launcher();

// Replaces this process by `mpirun -np ranks <this program> arguments`, after printing that line.
// Returns only when that failed, with the message.
std::string become_mpirun(int ranks, const std::vector<std::string>& arguments);

// What Open MPI must be told before MPI_Init, whoever launched: to yield while it waits.
void prepare_for_mpi();

}  // namespace tutti
