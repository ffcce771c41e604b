// The allreduce algorithms of Open MPI's component `tuned`, as the library that is loaded lists
// them, and communicators that use one of them.
//
// Open MPI has no way to name an algorithm for a call. A communicator takes the one that the
// control variable coll_tuned_allreduce_algorithm has when it is made, if
// coll_tuned_use_dynamic_rules was on when MPI was initialized; without that the variable can be
// written and does nothing.
#pragma once

#include <mpi.h>

#include <string>
#include <vector>

namespace tutti::open_mpi {

struct Algorithm {
  int number = 0;    // the value of the control variable; 0: the fixed decision of `tuned`
  std::string name;  // Open MPI's, but "default" for number 0
};

// Of segmented_ring. As Open MPI has it, 0, that is one segment, and the algorithm hands every call
// to `ring`; so it does with calls of less than one segment a rank.
inline constexpr int kSegmentBytes = 512;

// Puts what the algorithms need into the environment of this process: dynamic rules, segments, and
// `tuned` as the only component that has an allreduce for more than one rank. Before anything else
// here.
void prepare_environment();

// By number, "default" first. May be called before MPI_Init. Empty when the library has no such
// variable, so is not Open MPI or lacks the component.
const std::vector<Algorithm>& algorithms();

// A communicator over all ranks for each algorithm, in their order. Collective, after MPI_Init.
// Returns what is wrong, "" when nothing is: the variable is read back around each, so another
// algorithm is no silent result. Whatever was made is in `made` then, too.
std::string make_communicators(std::vector<MPI_Comm>& made);

}  // namespace tutti::open_mpi
