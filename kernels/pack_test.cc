// Packs of a caller's buffer at every alignment, to the last byte.
#include "kernels/pack.h"

#include <gtest/gtest.h>

#include <vector>

#include "fixtures/data/narrow_float.h"

namespace tutti {
namespace {

template <typename T>
void check_every_place() {
  SCOPED_TRACE(__PRETTY_FUNCTION__);
  constexpr std::size_t elements = 16 / sizeof(T);
  for (std::size_t from = 0; from < elements; ++from) {
    for (std::size_t to = 0; to < elements; ++to) {
      for (std::size_t count = 1; count <= 3 * elements; ++count) {
        alignas(16) unsigned char source[80], target[80] = {};
        for (std::size_t i = 0; i < sizeof source; ++i)
          source[i] = static_cast<unsigned char>(i + 1);
        T* const send = reinterpret_cast<T*>(source) + from;
        T* const recv = reinterpret_cast<T*>(target) + to;
        const PackedBuffer<T> reader(send, count), writer(recv, count);
        const auto packs = packs_of<T>(count);
        EXPECT_EQ(packs, (count + elements - 1) / elements);
        for (std::uint64_t pack = 0; pack < packs; ++pack) writer.store(pack, reader.load(pack));
        EXPECT_EQ(std::memcmp(send, recv, count * sizeof(T)), 0);
        for (std::size_t i = 0; i < sizeof target; ++i) {
          const bool inside = i / sizeof(T) >= to && i / sizeof(T) < to + count;
          EXPECT_TRUE(inside || target[i] == 0);
        }
        const Pack<T> last = reader.load(packs - 1);
        for (std::size_t i = count - (packs - 1) * elements; i < elements; ++i) {
          const T zero{};
          EXPECT_EQ(std::memcmp(&last.values[i], &zero, sizeof zero), 0);
        }
      }
    }
  }
}

TEST(Pack, EveryAlignmentAndLength) {
  check_every_place<std::uint8_t>();
  check_every_place<bfloat16>();
  check_every_place<float>();
  check_every_place<double>();
}

TEST(Pack, TheWidestAccess) {
  alignas(32) char memory[32];
  const int expected[] = {16, 1, 2, 1, 4, 1, 2, 1, 8, 1, 2, 1, 4, 1, 2, 1, 16};
  for (int i = 0; i <= 16; ++i) EXPECT_EQ(access_of(memory + i), expected[i]) << i;
}

}  // namespace
}  // namespace tutti
