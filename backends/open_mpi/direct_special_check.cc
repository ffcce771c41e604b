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
#include <type_traits>
#include <vector>

#include "backends/open_mpi/algorithms.h"

namespace {

using tutti::open_mpi::Algorithm;

constexpr int kRounds = 67;  // elements for each rank: vector code, and some left over

struct Subject {
  const Algorithm& algorithm;
  MPI_Comm communicator;
  const char* dtype;
  MPI_Datatype type;
  bool is_max;
  bool one_by_one;  // a call for each element, so no vector code; else one call
  const char* what() const { return is_max ? "max" : "min"; }
  const char* how() const { return one_by_one ? "one by one" : "in one call"; }
};

template <typename Element>
std::vector<Element> reduced(const Subject& subject, const std::vector<Element>& input) {
  std::vector<Element> output(input.size(), Element(-77));
  const size_t step = subject.one_by_one ? 1 : input.size();
  for (size_t i = 0; i < input.size(); i += step) {
    MPI_Allreduce(&input[i], &output[i], static_cast<int>(step), subject.type,
                  subject.is_max ? MPI_MAX : MPI_MIN, subject.communicator);
  }
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

// The ranks have 1 to `world`, or their negatives for min, in an order that turns with the element;
// but one rank, which turns faster, has NaN.
template <typename Element>
Element input_of(int rank, int element, int world, bool is_max) {
  if (element % world == rank) return std::numeric_limits<Element>::quiet_NaN();
  const int number = (rank + element / world) % world + 1;
  return Element(is_max ? number : -number);
}

template <typename Element>
bool is_legitimate(Element result, int element, int world, bool is_max) {
  if (std::isnan(result)) return true;
  for (int rank = 0; rank < world; ++rank) {
    const Element input = input_of<Element>(rank, element, world, is_max);
    if (is_max ? input > result : input < result) return false;
  }
  return true;
}

template <typename Element>
int check_nan(const Subject& subject, int rank, int world) {
  std::vector<Element> input;
  for (int i = 0; i < kRounds * world; ++i)
    input.push_back(input_of<Element>(rank, i, world, subject.is_max));
  const std::vector<Element> output = reduced(subject, input);
  int lost = 0, first = -1;
  for (int i = 0; i < kRounds * world; ++i) {
    if (is_legitimate(output[static_cast<size_t>(i)], i, world, subject.is_max)) continue;
    if (lost++ == 0) first = i;
  }
  const int apart = differing(output);
  if (rank == 0 && lost + apart > 0) {
    std::printf("%-18s %s %s %s, one NaN: %d of %zu are neither NaN nor the best number",
                subject.algorithm.name.c_str(), subject.dtype, subject.what(), subject.how(), lost,
                output.size());
    if (first >= 0)
      std::printf(" (%g at %d)", static_cast<double>(output[static_cast<size_t>(first)]), first);
    std::printf(", %d have other bits on other ranks\n", apart);
  }
  return lost + apart;
}

template <typename Element>
int check_zeros(const Subject& subject, int rank, int world) {
  std::vector<Element> input(static_cast<size_t>(kRounds * world));
  for (size_t i = 0; i < input.size(); ++i)
    input[i] = static_cast<int>(i) % world == rank ? Element(0) : -Element(0);
  const int apart = differing(reduced(subject, input));
  if (rank == 0 && apart > 0) {
    std::printf("%-18s %s %s %s, zeros of both signs: %d of %zu with other bits on other ranks\n",
                subject.algorithm.name.c_str(), subject.dtype, subject.what(), subject.how(), apart,
                input.size());
  }
  return apart;
}

template <typename Element>
int check(const Algorithm& algorithm, MPI_Comm communicator, const char* dtype, MPI_Datatype type) {
  int rank = 0, world = 1, found = 0;
  MPI_Comm_rank(communicator, &rank);
  MPI_Comm_size(communicator, &world);
  for (const int trial : {0, 1, 2, 3}) {
    const Subject subject{algorithm, communicator, dtype, type, trial % 2 == 0, trial / 2 == 1};
    found += check_nan<Element>(subject, rank, world);
    found += check_zeros<Element>(subject, rank, world);
  }
  return found;
}

// Both may be right, but not in one call: MPI_Reduce_local of two that overflow, in every element.
template <typename Element>
int check_overflow(const char* dtype, MPI_Datatype type) {
  constexpr Element kLarge = std::is_signed_v<Element> ? 100 : 200;
  const Element wrapped = static_cast<Element>(kLarge + kLarge);
  std::vector<Element> one(kRounds, kLarge), other = one;
  MPI_Reduce_local(one.data(), other.data(), kRounds, type, MPI_SUM);
  int wraps = 0;
  for (const Element sum : other) wraps += sum == wrapped;
  if (wraps == 0 || wraps == kRounds) return 0;
  std::printf("%s sum, overflow: %d of %d elements wrap around, others are %d\n", dtype, wraps,
              kRounds, other[0]);
  return 1;
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
  int rank = 0, found = 0;
  for (size_t i = 0; i < all.size(); ++i) {
    found += check<float>(all[i], communicators[i], "fp32", MPI_FLOAT);
    found += check<double>(all[i], communicators[i], "fp64", MPI_DOUBLE);
  }
  if (MPI_Comm_rank(MPI_COMM_WORLD, &rank); rank == 0) {
    found += check_overflow<signed char>("int8", MPI_INT8_T);
    found += check_overflow<unsigned char>("uint8", MPI_UINT8_T);
  }
  MPI_Finalize();
  return found != 0;
}
