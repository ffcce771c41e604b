#include "suites/sample.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

namespace tutti {
namespace {

TEST(Sample, IsThinnedNoMoreThanNeeded) {
  EXPECT_EQ(thinning(60'000, 0), 1);
  EXPECT_EQ(thinning(0, 12'000), 1);
  EXPECT_EQ(thinning(12'000, 12'000), 1);
  EXPECT_EQ(thinning(12'001, 12'000), 2);
  EXPECT_EQ(thinning(48'000, 12'000), 4);
  EXPECT_EQ(thinning(1'000'000'000, 1), 6);
}

class Cells : public testing::TestWithParam<int> {
 protected:
  template <typename Visit>
  void for_each(const Visit& visit) {
    for (const Dtype dtype : kDtypes) {
      for (const Op op : kOps) {
        for (int world = 1; world <= 8; ++world) {
          for (const Property& property : properties())
            visit({&property, &backend_, &node_, {}, world, "ring", dtype, op});
        }
      }
    }
  }
  const BackendEntry backend_{"some", "", "", false, {}, {}};
  static Node node() {
    Node node;
    node.name = node.device_kind = "host";
    RankFacts facts;
    facts.host = "one";
    facts.peer_access = facts.nvlinks = {1};
    node.devices = {facts};
    return node;
  }
  const Node node_ = node();
};

// Properties that hold back what a backend computes, or compute nothing.
bool looks_at_numbers(const Property& property) {
  return property.name != "refusal" && property.name != "zero_count" && property.name != "ranks" &&
         property.name != "create_destroy";
}

TEST_P(Cells, EachStratumMeetsEachWorldAndEachPropertyThatApplies) {
  using Stratum = std::tuple<std::string, Dtype, Op>;
  std::map<Stratum, std::set<int>> worlds;
  std::map<Stratum, std::set<std::string>> met, applies;
  for_each([&](const Cell& cell) {
    if (cell.property->not_applicable(cell) != SkipCause::none) return;
    const Stratum stratum{cell.path, cell.dtype, cell.op};
    applies[stratum].insert(cell.property->name);
    if (!is_in_sample(cell, GetParam(), 1)) return;
    met[stratum].insert(cell.property->name);
    if (looks_at_numbers(*cell.property)) worlds[stratum].insert(cell.world);
  });
  ASSERT_EQ(applies.size(), kDtypes.size() * kOps.size());
  for (const auto& [stratum, names] : applies) {
    EXPECT_EQ(worlds[stratum].size(), 8u);
    // Some properties do not apply to averages in most worlds.
    if (std::get<Op>(stratum) != TUTTI_AVG) {
      EXPECT_EQ(met[stratum], names);
    }
  }
}

TEST_P(Cells, OneInSoManyIsTakenAndTwoAtLeast) {
  std::map<std::tuple<std::string, Dtype, Op, int>, std::pair<int, int>> taken_of_all;
  for_each([&](const Cell& cell) {
    if (cell.property->cases_most > 0 || cell.property->not_applicable(cell) != SkipCause::none)
      return;
    auto& [taken, all] = taken_of_all[{cell.path, cell.dtype, cell.op, cell.world}];
    ++all;
    taken += is_in_sample(cell, GetParam(), 1);
  });
  for (const auto& [stratum, counts] : taken_of_all) {
    const auto [taken, all] = counts;
    EXPECT_GE(taken, std::max(std::min(2, all), all / GetParam()));
    EXPECT_LE(taken, std::max(3, (all + GetParam() - 1) / GetParam()));
  }
}

TEST_P(Cells, AnotherSeedTakesOthers) {
  std::uint64_t different = 0;
  for_each([&](const Cell& cell) {
    different += is_in_sample(cell, GetParam(), 1) != is_in_sample(cell, GetParam(), 2);
  });
  EXPECT_EQ(different > 0, GetParam() > 1);
}

INSTANTIATE_TEST_SUITE_P(OneIn, Cells, testing::Range(1, 7));

}  // namespace
}  // namespace tutti
