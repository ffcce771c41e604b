// Uses Open MPI alone, with algorithms.cc to choose its algorithm: what does MPI_Allreduce give
// when inputs of max and min are NaN on one rank, or zeros of both signs? Legitimate are NaN (it
// propagates) or the largest of the numbers (it is ignored), and either zero; and all ranks should
// have the same bits.
//
//   mpirun -np 4 open_mpi_direct_special_check     prints a line for each algorithm, dtype and op
//   that gives something else; exit status 1 if any does
#include <mpi.h>

#include <cmath>
#include <cstdio>
#include <cstring>
#include <limits>
#include <vector>

#include "backends/open_mpi/algorithms.h"

namespace {

using tutti::open_mpi::Algorithm;

constexpr int kRounds = 64;  // elements for each rank, so that vector code and its rest both run

struct Subject {
  const Algorithm& algorithm;
  MPI_Comm communicator;
  const char* dtype;
  MPI_Datatype type;
  bool is_max;
};

template <typename Element>
std::vector<Element> reduced(const Subject& subject, const std::vector<Element>& input) {
  std::vector<Element> output(input.size(), Element(-77));
  MPI_Allreduce(input.data(), output.data(), static_cast<int>(input.size()), subject.type,
                subject.is_max ? MPI_MAX : MPI_MIN, subject.communicator);
  return output;
}

// Elements whose bits on some rank differ from those on rank 0.
template <typename Element>
int differing(const std::vector<Element>& output) {
  std::vector<Element> first = output;
  MPI_Bcast(first.data(), static_cast<int>(first.size() * sizeof(Element)), MPI_BYTE, 0,
            MPI_COMM_WORLD);
  std::vector<int> here(output.size()), anywhere(output.size());
  for (size_t i = 0; i < output.size(); ++i)
    here[i] = std::memcmp(&first[i], &output[i], sizeof(Element)) != 0;
  MPI_Allreduce(here.data(), anywhere.data(), static_cast<int>(here.size()), MPI_INT, MPI_SUM,
                MPI_COMM_WORLD);
  int count = 0;
  for (const int ranks : anywhere) count += ranks != 0;
  return count;
}

// Rank r has r + 1 (of max) or -r - 1, but NaN in the elements that are its own.
template <typename Element>
int check_nan(const Subject& subject, int rank, int world) {
  std::vector<Element> input(static_cast<size_t>(kRounds * world));
  const Element sign = subject.is_max ? 1 : -1;
  for (size_t i = 0; i < input.size(); ++i) {
    const bool is_own = static_cast<int>(i) % world == rank;
    input[i] = is_own ? std::numeric_limits<Element>::quiet_NaN() : sign * Element(rank + 1);
  }
  const std::vector<Element> output = reduced(subject, input);
  int neither = 0, first = -1;
  for (size_t i = 0; i < output.size(); ++i) {
    const int absent = static_cast<int>(i) % world;
    const Element best = sign * Element(absent == world - 1 ? world - 1 : world);
    if (std::isnan(output[i]) || output[i] == best) continue;
    if (neither++ == 0) first = static_cast<int>(i);
  }
  const int apart = differing(output);
  if (rank == 0 && neither + apart > 0) {
    std::printf("%-18s %s %s, a NaN: %d of %zu neither NaN nor the best number",
                subject.algorithm.name.c_str(), subject.dtype, subject.is_max ? "max" : "min",
                neither, output.size());
    if (first >= 0)
      std::printf(" (%g at %d)", static_cast<double>(output[static_cast<size_t>(first)]), first);
    std::printf(", %d with other bits on other ranks\n", apart);
  }
  return neither + apart;
}

template <typename Element>
int check_zeros(const Subject& subject, int rank, int world) {
  std::vector<Element> input(static_cast<size_t>(kRounds * world));
  for (size_t i = 0; i < input.size(); ++i)
    input[i] = static_cast<int>(i) % world == rank ? Element(0) : -Element(0);
  const int apart = differing(reduced(subject, input));
  if (rank == 0 && apart > 0) {
    std::printf("%-18s %s %s, zeros of both signs: %d of %zu with other bits on other ranks\n",
                subject.algorithm.name.c_str(), subject.dtype, subject.is_max ? "max" : "min",
                apart, input.size());
  }
  return apart;
}

template <typename Element>
int check(const Algorithm& algorithm, MPI_Comm communicator, const char* dtype, MPI_Datatype type) {
  int rank = 0, world = 1, found = 0;
  MPI_Comm_rank(communicator, &rank);
  MPI_Comm_size(communicator, &world);
  for (const bool is_max : {true, false}) {
    const Subject subject{algorithm, communicator, dtype, type, is_max};
    found += check_nan<Element>(subject, rank, world);
    found += check_zeros<Element>(subject, rank, world);
  }
  return found;
}

}  // namespace

int main() {
  using namespace tutti::open_mpi;
  prepare_environment();
  const std::vector<Algorithm>& all = algorithms();
  MPI_Init(nullptr, nullptr);
  std::vector<MPI_Comm> communicators;
  const std::string problem = make_communicators(communicators);
  if (!problem.empty()) {
    std::printf("%s\n", problem.c_str());
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  int found = 0;
  for (size_t i = 0; i < all.size(); ++i) {
    found += check<float>(all[i], communicators[i], "fp32", MPI_FLOAT);
    found += check<double>(all[i], communicators[i], "fp64", MPI_DOUBLE);
  }
  MPI_Finalize();
  return found != 0;
}
