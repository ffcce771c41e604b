// The kernels that fill and verify, compiled for the host, against the inputs and the oracle.
#include "kernels/verify.h"

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "kernels/data_case.h"
#include "kernels/fill.h"

namespace tutti {
namespace {

// Runs all blocks of a kernel, one after another.
class HostKernels : public DataKernels {
 public:
  HostKernels(int blocks, int lanes) : blocks_(blocks), lanes_(lanes) {}

  bool covers(const InputKey& key) const override {
    return with_element(key.dtype, [&](auto kind) {
      return with_judge<decltype(kind)>(key, {}, [](auto, auto) {});
    });
  }
  void fill(const InputKey& key, int rank, std::uint64_t first, std::uint64_t count,
            void* out) override {
    with_element(key.dtype, [&](auto kind) {
      using Element = decltype(kind);
      with_rule<Element, true>(key, [&](auto rule) {
        const FillCall<Element, decltype(rule)> call{
            key,   rule,          static_cast<std::uint32_t>(rank),
            first, first + count, static_cast<Element*>(out)};
        for (int index = 0; index < blocks_; ++index)
          fill_block(HostBlock(index, blocks_, lanes_), call);
      });
    });
  }
  DataVerdict verify(const InputKey& key, const Numerics& numerics, std::uint64_t count, int share,
                     const void* observed) override {
    VerifyTally tally;
    std::vector<ShareHash> hashes(static_cast<std::size_t>(key.world));
    with_element(key.dtype, [&](auto kind) {
      using Element = decltype(kind);
      with_judge<Element>(key, numerics, [&](auto rule, auto judge) {
        run(VerifyCall<Element, decltype(rule), decltype(judge)>{
            key, rule, judge, static_cast<const Element*>(observed), count, key.world, share,
            &tally, hashes.data()});
      });
    });
    return verdict_of(tally, hashes);
  }
  std::uint64_t hash(const void* data, std::uint64_t bytes) override {
    VerifyTally tally;
    ShareHash hash;
    run(hash_call(data, bytes, &tally, &hash));
    return hash.value();
  }

  void* upload(const Bytes& bytes, std::uint64_t offset) {
    memory_.assign(bytes.size() / sizeof(Line) + 2, Line{});
    char* to = memory_.front().bytes + offset;
    std::memcpy(to, bytes.data(), bytes.size());
    return to;
  }
  static Bytes download(const void* memory, std::size_t size) {
    const auto* bytes = static_cast<const std::uint8_t*>(memory);
    return {bytes, bytes + size};
  }

 private:
  struct alignas(64) Line {
    char bytes[64];
  };

  template <typename Call>
  void run(const Call& call) {
    for (int index = 0; index < blocks_; ++index) {
      VerifyShared shared{};
      verify_block(HostBlock(index, blocks_, lanes_), shared, call);
    }
  }

  int blocks_, lanes_;
  std::vector<Line> memory_;
};

HostKernels draw_kernels() { return {*rc::gen::inRange(1, 4), 1 << *rc::gen::inRange(0, 5)}; }

TEST(VerifyKernels, FillWhatTheHostGenerates) {
  EXPECT_TRUE(rc::check([] {
    HostKernels kernels = draw_kernels();
    each_stratum(DataCase::draw(), [&](const DataCase& drawn) { check_fill(kernels, drawn); });
  }));
}

TEST(VerifyKernels, CountWhatTheOracleCounts) {
  EXPECT_TRUE(rc::check([] {
    HostKernels kernels = draw_kernels();
    each_stratum(DataCase::draw(), [&](const DataCase& drawn) { check_verdict(kernels, drawn); });
  }));
}

TEST(VerifyKernels, HashBytesAndNothingElse) {
  EXPECT_TRUE(rc::check([] {
    HostKernels kernels = draw_kernels();
    each_stratum(DataCase::draw(), [&](const DataCase& drawn) { check_hashes(kernels, drawn); });
  }));
  EXPECT_TRUE(rc::check([] {
    HostKernels kernels = draw_kernels();
    check_hash_of_bytes(kernels);
  }));
}

TEST(VerifyKernels, LeaveTheRestToTheHost) {
  EXPECT_TRUE(rc::check([] {
    HostKernels kernels(1, 1);
    InputKey key = draw_key(9, {DataClass::exact, DataClass::rounding});
    key.world = *rc::gen::element(key.world, 64, 65, 512, 513);
    RC_ASSERT(kernels.covers(key) == !is_for_the_host(key));
    key.data = *rc::gen::element(DataClass::special, DataClass::bytes);
    RC_ASSERT(!kernels.covers(key));
  }));
}

}  // namespace
}  // namespace tutti
