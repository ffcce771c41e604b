#include "suites/sample.h"

#include <fmt/format.h>

#include <algorithm>

#include "fixtures/data/data.h"

namespace tutti {

namespace {

constexpr std::uint64_t kThinnest = 8;

}  // namespace

int thinning(std::uint64_t cells, std::uint64_t most) {
  if (most == 0) return 1;
  return static_cast<int>(std::clamp<std::uint64_t>((cells + most - 1) / most, 1, kThinnest));
}

bool is_in_sample(const Cell& cell, int one_in, std::uint64_t seed) {
  const std::string stratum = fmt::format("{}/{}/{}/{}/{}", seed, cell.backend->name, cell.path,
                                          name_of(cell.dtype), name_of(cell.op));
  const auto n = static_cast<std::uint64_t>(one_in);
  const auto property = static_cast<std::uint64_t>(cell.property - properties().data());
  const auto world = static_cast<std::uint64_t>(cell.world);
  return (hash_bytes(stratum.data(), stratum.size()) % n + property + world) % n == 0;
}

}  // namespace tutti
