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

// A backend that claims as much as there is, and one that claims nothing.
BackendEntry backend_that_claims(bool all) {
  BackendEntry backend{"some", "", "", false, {}, {}};
  Claims& claims = backend.claims;
  claims.same_bits_on_all_ranks.all = claims.in_place_same_bits.all = all;
  claims.same_bits_each_time.all = claims.same_bits_at_any_place.all = all;
  return backend;
}

Node one_host() {
  Node node;
  node.name = node.device_kind = "host";
  RankFacts facts;
  facts.host = "one";
  facts.peer_access = facts.nvlinks = facts.pcie = {1};
  node.devices = {facts};
  return node;
}

// One in how many cells, whether the backend claims all, and whether there is another one.
class Cells : public testing::TestWithParam<std::tuple<int, bool, bool>> {
 protected:
  template <typename Visit>
  void for_each(const Visit& visit) {
    for (const Dtype dtype : kDtypes) {
      for (const Op op : kOps) {
        for (const int world : sample_.worlds) {
          for (const Property& property : properties())
            visit({&property, &backend_, &node_, references_, world, "ring", dtype, op});
        }
      }
    }
  }
  static bool applies(const Cell& cell) {
    return cell.property->not_applicable(cell) == SkipCause::none;
  }

  Sample sample_{std::get<0>(GetParam()), 1, {1, 2, 3, 4, 5, 6, 7, 8}};
  const Node node_ = one_host();
  const BackendEntry backend_ = backend_that_claims(std::get<1>(GetParam()));
  const BackendEntry other_{"other", "", "", false, {}, {}};
  const std::vector<const BackendEntry*> references_ =
      std::get<2>(GetParam()) ? std::vector{&other_} : std::vector<const BackendEntry*>{};
};

TEST_P(Cells, EachStratumMeetsEachWorldAndEachPropertyThatApplies) {
  using Stratum = std::tuple<std::string, Dtype, Op>;
  std::map<Stratum, std::set<int>> worlds;
  std::map<Stratum, std::set<std::string>> met, applying;
  for_each([&](const Cell& cell) {
    if (!applies(cell)) return;
    const Stratum stratum{cell.path, cell.dtype, cell.op};
    applying[stratum].insert(cell.property->name);
    if (!sample_.takes(cell)) return;
    met[stratum].insert(cell.property->name);
    // The others' calls are of another stratum, or one call of a path stands for all.
    if (cell.property->name != "refusal" && cell.property->cases_most == 0 &&
        cell.property->scope == Scope::each_stratum)
      worlds[stratum].insert(cell.world);
  });
  ASSERT_EQ(applying.size(), kDtypes.size() * kOps.size());
  for (const auto& [stratum, names] : applying) {
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
    if (cell.property->cases_most > 0 || cell.property->scope != Scope::each_stratum ||
        !applies(cell))
      return;
    auto& [taken, all] = taken_of_all[{cell.path, cell.dtype, cell.op, cell.world}];
    ++all;
    taken += sample_.takes(cell);
  });
  for (const auto& [stratum, counts] : taken_of_all) {
    const auto [taken, all] = counts;
    EXPECT_GE(taken, std::max(std::min(2, all), all / sample_.one_in));
    EXPECT_LE(taken, std::max(3, (all + sample_.one_in - 1) / sample_.one_in));
  }
}

TEST_P(Cells, WhatIsCheckedOnEveryNodeIsCheckedOnEachInOneOfItsWorldsAtLeast) {
  sample_.worlds_of_nodes = 3;
  const int most = std::max(3, sample_.one_in);
  int properties_seen = 0;
  for (const Property& property : properties()) {
    if (property.scope != Scope::each_node) continue;
    ++properties_seen;
    for (const std::string name : {"one", "another"}) {
      Node node = node_;
      node.name = name;
      int taken = 0;
      for (const int world : sample_.worlds) {
        taken += sample_.takes(
            {&property, &backend_, &node, references_, world, "auto", TUTTI_FLOAT32, TUTTI_SUM});
      }
      EXPECT_GE(taken, 8 / most) << name;
      EXPECT_LE(taken, (8 + most - 1) / most) << name;
    }
  }
  EXPECT_GE(properties_seen, 1);
}

// Whichever worlds it has, as few as one.
TEST_P(Cells, EachRunMakesCommunicatorsOfEachPath) {
  for (const std::vector<int>& worlds : {std::vector{3}, {2, 4}, {2, 4, 6, 8}}) {
    sample_.worlds = worlds;
    int taken = 0;
    for_each([&](const Cell& cell) {
      taken += cell.property->cases_most > 0 && applies(cell) && sample_.takes(cell);
    });
    EXPECT_GE(taken, 1) << worlds.size() << " worlds";
  }
}

TEST_P(Cells, AnotherSeedTakesOthers) {
  const Sample other{sample_.one_in, 2, sample_.worlds};
  std::uint64_t different = 0;
  for_each([&](const Cell& cell) { different += sample_.takes(cell) != other.takes(cell); });
  EXPECT_EQ(different > 0, sample_.one_in > 1);
}

INSTANTIATE_TEST_SUITE_P(OneIn, Cells,
                         testing::Combine(testing::Range(1, 7), testing::Bool(), testing::Bool()));

}  // namespace
}  // namespace tutti
