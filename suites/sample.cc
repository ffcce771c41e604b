#include "suites/sample.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "fixtures/data/data.h"

namespace tutti {

namespace {

constexpr int kThinnest = 6;

// The place of the cell's property among those that apply to its path, dtype, op and world, and how
// many they are.
std::pair<std::uint64_t, std::uint64_t> place_of(const Cell& cell) {
  std::uint64_t place = 0, all = 0;
  Cell other = cell;
  for (const Property& property : properties()) {
    if (&property == cell.property) place = all;
    other.property = &property;
    all += property.cases_most == 0 && property.scope == Scope::each_stratum &&
           property.not_applicable(other) == SkipCause::none;
  }
  return {place, all};
}

}  // namespace

int thinning(std::uint64_t cells, std::uint64_t most) {
  if (most == 0) return 1;
  return static_cast<int>(
      std::clamp<std::uint64_t>((cells + most - 1) / most, 1, std::uint64_t{kThinnest}));
}

bool Sample::takes(const Cell& cell) const {
  const int own =
      cell.property->scope == Scope::each_node ? std::max(one_in, worlds_of_nodes) : one_in;
  if (own == 1 || cell.property->scope == Scope::each_backend) return true;
  // All strata of a node in one world, which costs one set of workers.
  const std::string what = cell.property->scope == Scope::each_node
                               ? cell.node->name
                               : fmt::format("{}/{}", name_of(cell.dtype), name_of(cell.op));
  const std::string stratum = fmt::format("{}/{}/{}/{}", seed, cell.backend->name, cell.path, what);
  const auto world = std::find(worlds.begin(), worlds.end(), cell.world) - worlds.begin();
  const std::uint64_t turn =
      hash_bytes(stratum.data(), stratum.size()) + static_cast<std::uint64_t>(world);
  const auto wanted = static_cast<std::uint64_t>(own);
  if (cell.property->cases_most > 0 || cell.property->scope == Scope::each_node)
    return turn % std::min<std::uint64_t>(wanted, worlds.size()) == 0;
  const auto [place, all] = place_of(cell);
  const std::uint64_t n = std::clamp<std::uint64_t>(all / 2, 1, wanted);
  return (turn + place) % n == 0;
}

}  // namespace tutti
