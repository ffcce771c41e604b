// The elements of one Philox block, of which a call's result or input consists: the unit of work of
// a lane that fills or verifies.
#pragma once

#include <cstdint>
#include <cstring>
#include <type_traits>

#include "fixtures/data/philox.h"  // kBlockElements, TUTTI_HOST_DEVICE
#include "kernels/pack.h"          // TUTTI_UNROLL

namespace tutti {

template <typename Element>
struct Unit {
  Element values[kBlockElements<Element>];
};

// Elements [first, last) of a call, in memory that may begin at any element.
template <typename Element>
class UnitView {
  using Loaded = Unit<std::remove_const_t<Element>>;

 public:
  static constexpr int kElements = kBlockElements<std::remove_const_t<Element>>;
  static constexpr int kBytes = kElements * sizeof(Element);
  static constexpr int kAccess = kBytes < 16 ? kBytes : 16;

  // `elements` points to element `first`.
  TUTTI_HOST_DEVICE UnitView(Element* elements, std::uint64_t first, std::uint64_t last)
      : zeroth_(reinterpret_cast<std::uintptr_t>(elements) - first * sizeof(Element)),
        first_(first),
        last_(last) {}

  // Units of which all elements are here; whether they can be moved in wide accesses.
  TUTTI_HOST_DEVICE std::uint64_t whole_begin() const {
    return (first_ + kElements - 1) / kElements;
  }
  TUTTI_HOST_DEVICE std::uint64_t whole_end() const { return last_ / kElements; }
  TUTTI_HOST_DEVICE bool is_aligned() const { return zeroth_ % kAccess == 0; }

  // Units of which some elements are here: [low, high).
  TUTTI_HOST_DEVICE std::uint64_t low() const { return first_ / kElements; }
  TUTTI_HOST_DEVICE std::uint64_t high() const {
    return first_ < last_ ? (last_ + kElements - 1) / kElements : first_ / kElements;
  }

  // Which of a unit's elements are here: [from, to).
  TUTTI_HOST_DEVICE int from(std::uint64_t unit) const {
    return kElements * unit < first_ ? static_cast<int>(first_ - kElements * unit) : 0;
  }
  TUTTI_HOST_DEVICE int to(std::uint64_t unit) const {
    return kElements * (unit + 1) > last_ ? static_cast<int>(last_ - kElements * unit) : kElements;
  }

  TUTTI_HOST_DEVICE Loaded load_aligned(std::uint64_t unit) const {
    Loaded elements;
    const auto* memory = reinterpret_cast<const char*>(at(kElements * unit));
    TUTTI_UNROLL
    for (int byte = 0; byte < kBytes; byte += kAccess)
      std::memcpy(reinterpret_cast<char*>(&elements) + byte,
                  __builtin_assume_aligned(memory + byte, kAccess), kAccess);
    return elements;
  }
  TUTTI_HOST_DEVICE void store_aligned(std::uint64_t unit, const Unit<Element>& elements) const {
    auto* memory = reinterpret_cast<char*>(at(kElements * unit));
    TUTTI_UNROLL
    for (int byte = 0; byte < kBytes; byte += kAccess)
      std::memcpy(__builtin_assume_aligned(memory + byte, kAccess),
                  reinterpret_cast<const char*>(&elements) + byte, kAccess);
  }
  // What is not here is 0.
  TUTTI_HOST_DEVICE Loaded load(std::uint64_t unit, int from, int to) const {
    Loaded elements;
    TUTTI_UNROLL
    for (int i = 0; i < kElements; ++i)
      elements.values[i] =
          i >= from && i < to ? *at(kElements * unit + i) : std::remove_const_t<Element>{};
    return elements;
  }
  TUTTI_HOST_DEVICE void store(std::uint64_t unit, int from, int to,
                               const Unit<Element>& elements) const {
    TUTTI_UNROLL
    for (int i = 0; i < kElements; ++i)
      if (i >= from && i < to) *at(kElements * unit + i) = elements.values[i];
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
  static constexpr int from = 0, to = 8;  // or fewer
};
struct PartUnit {
  std::uint64_t number;
  int from, to;
};

template <typename Element>
TUTTI_HOST_DEVICE auto load(const UnitView<Element>& view, WholeUnit unit) {
  return view.load_aligned(unit.number);
}
template <typename Element>
TUTTI_HOST_DEVICE auto load(const UnitView<Element>& view, PartUnit unit) {
  return view.load(unit.number, unit.from, unit.to);
}
template <typename Element>
TUTTI_HOST_DEVICE void store(const UnitView<Element>& view, WholeUnit unit,
                             const Unit<Element>& elements) {
  view.store_aligned(unit.number, elements);
}
template <typename Element>
TUTTI_HOST_DEVICE void store(const UnitView<Element>& view, PartUnit unit,
                             const Unit<Element>& elements) {
  view.store(unit.number, unit.from, unit.to, elements);
}

// Calls body(unit) for this lane's share of the units of a view. Whole ones that are aligned come
// first, `at_once` of them in no order, so that their loads overlap; then the edges, or all where
// nothing is aligned.
template <int at_once, typename Element, typename Block, typename Body>
TUTTI_HOST_DEVICE void each_unit(const Block& block, int lane, const UnitView<Element>& view,
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
