// Writes a rank's input where it is needed: what generate_input() (fixtures/data/data.h) gives, bit
// by bit, for classes `exact` and `rounding`. No lane needs another, so the host shows all there is
// to see.
#pragma once

#include "fixtures/data/philox.h"
#include "fixtures/data/rules.h"
#include "kernels/block.h"
#include "kernels/unit.h"

namespace tutti {

// Elements [first, last) of `rank`; `out` points to element `first`.
template <typename Element, typename Rule>
struct FillCall {
  InputKey key;
  Rule rule;
  std::uint32_t rank;
  std::uint64_t first, last;
  Element* out;
};

template <typename Element, typename Rule>
TUTTI_HOST_DEVICE Unit<Element> unit_of_inputs(const FillCall<Element, Rule>& call,
                                               std::uint64_t unit) {
  constexpr int kElements = kBlockElements<Element>;
  const r123array4x32 block = philox_block(call.key, call.rank, unit);
  Unit<Element> inputs;
  TUTTI_UNROLL
  for (int i = 0; i < kElements; ++i)
    inputs.values[i] = call.rule(word_of<Element>(block, i), call.rank, kElements * unit + i);
  return inputs;
}

template <typename Element, typename Rule, typename Block>
TUTTI_HOST_DEVICE void fill_block(const Block& block, const FillCall<Element, Rule>& call) {
  block.phase([&](int lane) {
    const UnitView<Element> view(call.out, call.first, call.last);
    each_unit<1>(block, lane, view,
                 [&](auto unit) { store(view, unit, unit_of_inputs(call, unit.number)); });
  });
}

}  // namespace tutti
