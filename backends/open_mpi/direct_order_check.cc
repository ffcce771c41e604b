// Uses Open MPI alone, with algorithms.cc to choose its algorithm: does another algorithm really
// run? Open MPI does not say which one did. But sums of floats have other bits in another order, so
// the order in which each algorithm has added is found by trying all that are likely. A segmented
// ring adds as a ring does, but by segments: an op of this program tells how many elements are added
// at once.
//
//   mpirun -np 5 open_mpi_direct_order_check     prints the orders that give the bits of each
//   algorithm, and the most elements at once; exit status 1 when the orders of basic_linear,
//   recursive_doubling and ring are not their own, or segmented_ring adds more at once than a
//   segment has
#include <mpi.h>

#include <algorithm>
#include <cstdio>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "backends/open_mpi/algorithms.h"

namespace {

using Terms = std::vector<float>;                             // one of each rank
using Order = std::function<float(const Terms&, int block)>;  // a block for each rank

constexpr int kCount = 110'880;  // divided by 1 to 12, so that blocks are of equal size

float term(int rank, int index) {
  const unsigned mixed = (static_cast<unsigned>(index) * 2654435761u) ^
                         (static_cast<unsigned>(rank) * 2246822519u + 374761393u);
  return static_cast<float>((mixed ^ (mixed >> 15)) * 2246822519u % 1'000'003u) / 999.0f;
}

float from(const Terms& terms, int first, int step) {
  const int world = static_cast<int>(terms.size());
  float sum = terms[static_cast<size_t>(first)];
  for (int i = 1; i < world; ++i) {
    first = (first + step + world) % world;
    sum += terms[static_cast<size_t>(first)];
  }
  return sum;
}

// Ranks beyond a power of two are added to their even neighbours first; then neighbours, pairs of
// them, and so on.
float doubled(Terms terms) {
  size_t power = 1;
  while (power * 2 <= terms.size()) power *= 2;
  Terms left;
  const size_t extra = terms.size() - power;
  for (size_t i = 0; i < extra; ++i) left.push_back(terms[2 * i] + terms[2 * i + 1]);
  for (size_t i = 2 * extra; i < terms.size(); ++i) left.push_back(terms[i]);
  for (; left.size() > 1; left.resize(left.size() / 2)) {
    for (size_t i = 0; i < left.size() / 2; ++i) left[i] = left[2 * i] + left[2 * i + 1];
  }
  return left[0];
}

const std::map<std::string, Order> kOrders{
    {"from the last rank down",
     [](const Terms& terms, int) { return from(terms, static_cast<int>(terms.size()) - 1, -1); }},
    {"by doubling", [](const Terms& terms, int) { return doubled(terms); }},
    {"around the ring", [](const Terms& terms, int block) { return from(terms, block, 1); }}};

// Those that give every element.
std::set<std::string> orders_of(const std::vector<float>& output, int world) {
  std::set<std::string> fitting;
  for (const auto& order : kOrders) fitting.insert(order.first);
  for (int i = 0; i < kCount; ++i) {
    Terms terms;
    for (int rank = 0; rank < world; ++rank) terms.push_back(term(rank, i));
    for (const auto& [name, order] : kOrders) {
      if (order(terms, i / (kCount / world)) != output[static_cast<size_t>(i)]) fitting.erase(name);
    }
  }
  return fitting;
}

int most_at_once = 0;

void add(void* from_peer, void* into, int* count, MPI_Datatype*) {
  const auto* left = static_cast<const float*>(from_peer);
  auto* right = static_cast<float*>(into);
  for (int i = 0; i < *count; ++i) right[i] += left[i];
  most_at_once = std::max(most_at_once, *count);
}

}  // namespace

int main() {
  using namespace tutti::open_mpi;
  prepare_environment();
  const std::vector<Algorithm>& all = algorithms();
  MPI_Init(nullptr, nullptr);
  int rank = 0, world = 1, failed = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &world);
  std::vector<MPI_Comm> communicators;
  const std::string problem = make_communicators(communicators);
  if (!problem.empty()) {
    std::printf("%s\n", problem.c_str());
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  const std::map<std::string, std::string> known{{"basic_linear", "from the last rank down"},
                                                 {"recursive_doubling", "by doubling"},
                                                 {"ring", "around the ring"}};
  MPI_Op own_sum = MPI_OP_NULL;
  MPI_Op_create(add, 1, &own_sum);
  std::vector<float> input(kCount), output(kCount);
  for (int i = 0; i < kCount; ++i) input[static_cast<size_t>(i)] = term(rank, i);
  for (size_t i = 0; i < all.size(); ++i) {
    most_at_once = 0;
    MPI_Allreduce(input.data(), output.data(), kCount, MPI_FLOAT, own_sum, communicators[i]);
    MPI_Allreduce(input.data(), output.data(), kCount, MPI_FLOAT, MPI_SUM, communicators[i]);
    if (rank != 0) continue;
    const std::set<std::string> fitting = orders_of(output, world);
    std::printf("%-18s", all[i].name.c_str());
    for (const std::string& order : fitting) std::printf(" [%s]", order.c_str());
    std::printf("%s, %d at once\n", fitting.empty() ? " none of the orders tried" : "",
                most_at_once);
    // Segments are of nearly equal size: one may have an element more.
    failed += all[i].name == "segmented_ring" &&
              (most_at_once - 1) * static_cast<int>(sizeof(float)) > kSegmentBytes;
    const auto own = known.find(all[i].name);
    failed += own != known.end() && fitting != std::set<std::string>{own->second};
  }
  MPI_Op_free(&own_sum);
  MPI_Finalize();
  return failed != 0;
}
