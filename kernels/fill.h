// Writes a rank's input where it is needed: what generate_input() (fixtures/data/data.h) gives, bit
// by bit, for classes `exact` and `rounding`. No lane needs another, so the host shows all there is
// to see.
#pragma once

#include "fixtures/data/philox.h"
#include "fixtures/data/rules.h"
#include "kernels/block.h"
#include "kernels/four.h"

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
TUTTI_HOST_DEVICE Four<Element> four_inputs(const InputKey& key, const Rule& rule,
                                            std::uint32_t rank, std::uint64_t unit) {
  const r123array4x32 words = philox_block(key, rank, unit);
  Four<Element> four;
  TUTTI_UNROLL
  for (int i = 0; i < 4; ++i) four.values[i] = rule(words.v[i], rank, 4 * unit + i);
  return four;
}

template <typename Element, typename Rule, typename Block>
TUTTI_HOST_DEVICE void fill_block(const Block& block, const FillCall<Element, Rule>& call) {
  block.phase([&](int lane) {
    const FourView<Element> view(call.out, call.first, call.last);
    each_unit<1>(block, lane, view, [&](auto unit) {
      store(view, unit, four_inputs<Element>(call.key, call.rule, call.rank, unit.number));
    });
  });
}

}  // namespace tutti
