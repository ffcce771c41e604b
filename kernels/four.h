// Elements [4 u, 4 u + 4) of a call: those of one Philox block, and the unit of work of a lane that
// fills or verifies.
#pragma once

#include <cstdint>
#include <cstring>
#include <type_traits>

#include "fixtures/data/narrow_float.h"  // TUTTI_HOST_DEVICE
#include "kernels/pack.h"                // TUTTI_UNROLL

namespace tutti {

template <typename Element>
struct Four {
  Element values[4];
};

// Elements [first, last) of a call, in memory that may begin at any element.
template <typename Element>
class FourView {
  using Loaded = Four<std::remove_const_t<Element>>;

 public:
  static constexpr int kBytes = 4 * sizeof(Element);
  static constexpr int kAccess = kBytes < 16 ? kBytes : 16;

  // `elements` points to element `first`.
  TUTTI_HOST_DEVICE FourView(Element* elements, std::uint64_t first, std::uint64_t last)
      : zeroth_(reinterpret_cast<std::uintptr_t>(elements) - first * sizeof(Element)),
        first_(first),
        last_(last) {}

  // Units of which all four elements are here; whether they can be moved in wide accesses.
  TUTTI_HOST_DEVICE std::uint64_t whole_begin() const { return (first_ + 3) / 4; }
  TUTTI_HOST_DEVICE std::uint64_t whole_end() const { return last_ / 4; }
  TUTTI_HOST_DEVICE bool is_aligned() const { return zeroth_ % kAccess == 0; }

  // Units of which some elements are here: [low, high).
  TUTTI_HOST_DEVICE std::uint64_t low() const { return first_ / 4; }
  TUTTI_HOST_DEVICE std::uint64_t high() const {
    return first_ < last_ ? (last_ + 3) / 4 : first_ / 4;
  }

  // Which of a unit's elements are here: [from, to).
  TUTTI_HOST_DEVICE int from(std::uint64_t unit) const {
    return 4 * unit < first_ ? static_cast<int>(first_ - 4 * unit) : 0;
  }
  TUTTI_HOST_DEVICE int to(std::uint64_t unit) const {
    return 4 * unit + 4 > last_ ? static_cast<int>(last_ - 4 * unit) : 4;
  }

  TUTTI_HOST_DEVICE Loaded load_aligned(std::uint64_t unit) const {
    Loaded four;
    const auto* memory = reinterpret_cast<const char*>(at(4 * unit));
    TUTTI_UNROLL
    for (int byte = 0; byte < kBytes; byte += kAccess)
      std::memcpy(reinterpret_cast<char*>(&four) + byte,
                  __builtin_assume_aligned(memory + byte, kAccess), kAccess);
    return four;
  }
  TUTTI_HOST_DEVICE void store_aligned(std::uint64_t unit, const Four<Element>& four) const {
    auto* memory = reinterpret_cast<char*>(at(4 * unit));
    TUTTI_UNROLL
    for (int byte = 0; byte < kBytes; byte += kAccess)
      std::memcpy(__builtin_assume_aligned(memory + byte, kAccess),
                  reinterpret_cast<const char*>(&four) + byte, kAccess);
  }
  // What is not here is 0.
  TUTTI_HOST_DEVICE Loaded load(std::uint64_t unit, int from, int to) const {
    Loaded four;
    TUTTI_UNROLL
    for (int i = 0; i < 4; ++i)
      four.values[i] = i >= from && i < to ? *at(4 * unit + i) : std::remove_const_t<Element>{};
    return four;
  }
  TUTTI_HOST_DEVICE void store(std::uint64_t unit, int from, int to,
                               const Four<Element>& four) const {
    TUTTI_UNROLL
    for (int i = 0; i < 4; ++i)
      if (i >= from && i < to) *at(4 * unit + i) = four.values[i];
  }

 private:
  TUTTI_HOST_DEVICE Element* at(std::uint64_t index) const {
    return reinterpret_cast<Element*>(zeroth_ + index * sizeof(Element));
  }

  std::uintptr_t zeroth_;  // where element 0 would be
  std::uint64_t first_, last_;
};

// A unit whose place and completeness are known when compiled, and any.
struct WholeUnit {
  std::uint64_t number;
  static constexpr int from = 0, to = 4;
};
struct PartUnit {
  std::uint64_t number;
  int from, to;
};

template <typename Element>
TUTTI_HOST_DEVICE auto load(const FourView<Element>& view, WholeUnit unit) {
  return view.load_aligned(unit.number);
}
template <typename Element>
TUTTI_HOST_DEVICE auto load(const FourView<Element>& view, PartUnit unit) {
  return view.load(unit.number, unit.from, unit.to);
}
template <typename Element>
TUTTI_HOST_DEVICE void store(const FourView<Element>& view, WholeUnit unit,
                             const Four<Element>& four) {
  view.store_aligned(unit.number, four);
}
template <typename Element>
TUTTI_HOST_DEVICE void store(const FourView<Element>& view, PartUnit unit,
                             const Four<Element>& four) {
  view.store(unit.number, unit.from, unit.to, four);
}

// Calls body(unit) for this lane's share of the units of a view. Whole ones that are aligned come
// first, `at_once` of them in no order, so that their loads overlap; then the edges, or all where
// nothing is aligned.
template <int at_once, typename Element, typename Block, typename Body>
TUTTI_HOST_DEVICE void each_unit(const Block& block, int lane, const FourView<Element>& view,
                                 const Body& body) {
  const auto lanes = static_cast<std::uint64_t>(block.lanes());
  const std::uint64_t stride = lanes * static_cast<std::uint64_t>(block.blocks());
  const std::uint64_t own = lanes * static_cast<std::uint64_t>(block.index()) + lane;
  const std::uint64_t begin = view.whole_begin(), end = view.whole_end();
  const bool is_fast = view.is_aligned() && begin < end;
  if (is_fast) {
    std::uint64_t unit = begin + own;
    for (; unit + (at_once - 1) * stride < end; unit += at_once * stride) {
      TUTTI_UNROLL
      for (int i = 0; i < at_once; ++i) body(WholeUnit{unit + i * stride});
    }
    if constexpr (at_once > 1) {
      for (; unit < end; unit += stride) body(WholeUnit{unit});
    }
  }
  const std::uint64_t low = view.low(), high = view.high();
  for (std::uint64_t i = own; i < (is_fast ? 2 : high - low); i += stride) {
    const std::uint64_t unit = is_fast && i == 1 ? high - 1 : low + i;
    if (is_fast && unit >= begin && unit < end) continue;
    body(PartUnit{unit, view.from(unit), view.to(unit)});
  }
}

}  // namespace tutti
