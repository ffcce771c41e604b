#include "suites/sample.h"

#include <gtest/gtest.h>

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
  EXPECT_EQ(thinning(48'001, 12'000), 5);
  EXPECT_EQ(thinning(1'000'000'000, 1), 8);
}

class Cells : public testing::TestWithParam<int> {
 protected:
  template <typename Visit>
  void for_each(const Visit& visit) {
    for (const char* path : {"ring", "bcube", "halving"}) {
      for (const Dtype dtype : kDtypes) {
        for (const Op op : kOps) {
          for (int world = 1; world <= 8; ++world) {
            for (const Property& property : properties())
              visit({&property, &backend_, &node_, {}, world, path, dtype, op});
          }
        }
      }
    }
  }
  const BackendEntry backend_{"some", "", "", false, {}, {}};
  const Node node_;
};

TEST_P(Cells, EachStratumMeetsEachWorldAndEachProperty) {
  const int n = GetParam();
  ASSERT_GE(properties().size(), 8u);
  using Stratum = std::tuple<std::string, Dtype, Op>;
  std::map<Stratum, std::set<int>> worlds;
  std::map<Stratum, std::set<std::string>> met;
  for_each([&](const Cell& cell) {
    if (!is_in_sample(cell, n, 1)) return;
    worlds[{cell.path, cell.dtype, cell.op}].insert(cell.world);
    met[{cell.path, cell.dtype, cell.op}].insert(cell.property->name);
  });
  ASSERT_EQ(worlds.size(), 3 * kDtypes.size() * kOps.size());
  for (const auto& [stratum, seen] : worlds) EXPECT_EQ(seen.size(), 8u);
  for (const auto& [stratum, seen] : met) EXPECT_EQ(seen.size(), properties().size());
}

TEST_P(Cells, AnotherSeedTakesOthers) {
  std::uint64_t different = 0;
  for_each([&](const Cell& cell) {
    different += is_in_sample(cell, GetParam(), 1) != is_in_sample(cell, GetParam(), 2);
  });
  EXPECT_EQ(different > 0, GetParam() > 1);
}

INSTANTIATE_TEST_SUITE_P(OneIn, Cells, testing::Range(1, 9));

}  // namespace
}  // namespace tutti
