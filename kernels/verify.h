// Verifies one share of an allreduce's result against the inputs of all ranks, which it draws anew,
// and hashes every share, in one pass over the result. The inputs cost as much as drawing the whole
// result's number of elements once, whatever the world: a share is a world-th of them.
//
// What it counts is what check_result() counts, element by element (judges.h). Explanations are not
// its matter: who finds a wrong element asks there.
//
// Lanes tell the block by shared memory, between barriers, and blocks the result by atomic
// additions in any order. The host does not show a missing barrier.
#pragma once

#include <vector>

#include "fixtures/device/data_kernels.h"
#include "kernels/atomics.h"
#include "kernels/block.h"
#include "kernels/judges.h"
#include "kernels/unit.h"

namespace tutti {

inline constexpr int kVerifyLanes = 256;  // of a block, a power of two

// The bytes of a share, of elements at their places in the call: sums over the words of 64 bits,
// so that lanes may add up in any order. One changed word always changes `sum`; `products`, of the
// halves of words that are mixed with their place, tells orders apart.
struct ShareHash {
  std::uint64_t products = 0;
  std::uint64_t sum = 0;

  // Counting from 0, the number of the word in the call.
  TUTTI_HOST_DEVICE void add_word(std::uint64_t word, std::uint64_t number) {
    const std::uint64_t mixed = word ^ ((number + 1) * 0x9e3779b97f4a7c15u);
    products += std::uint64_t{static_cast<std::uint32_t>(mixed)} * (mixed >> 32);
    sum += word;
  }
  TUTTI_HOST_DEVICE void add(const ShareHash& other) {
    products += other.products;
    sum += other.sum;
  }
  // By the finalizer of Vigna's splitmix64.
  std::uint64_t value() const {
    std::uint64_t mixed = products ^ (sum * 0x9e3779b97f4a7c15u);
    mixed = (mixed ^ (mixed >> 30)) * 0xbf58476d1ce4e5b9u;
    mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111ebu;
    return mixed ^ (mixed >> 31);
  }
};

// All tallies begin at 0; shares follow it in memory.
struct VerifyTally {
  std::uint64_t wrong = 0;
  std::uint64_t first = 0;      // of wrong elements, the largest ~index
  std::uint64_t last = 0;       // the largest index
  std::uint64_t max_error = 0;  // the bits of a double that is not negative: in its order
  std::uint64_t bound_hides_contribution = 0;
};

// `observed` is the whole result of `count` elements. Of its `shares`, as share_of() has them,
// `verified` is verified: none is when it is negative.
template <typename Element, typename Rule, typename Judge>
struct VerifyCall {
  InputKey key;
  Rule rule;
  Judge judge;
  const Element* observed;
  std::uint64_t count;
  int shares;
  int verified;
  VerifyTally* tally;
  ShareHash* hashes;  // one a share, all 0
};

// For hashes alone.
struct NoRule {};
struct NoJudge {};

// `hash(bytes)` of DataKernels: one share of bytes.
inline VerifyCall<std::uint8_t, NoRule, NoJudge> hash_call(const void* data, std::uint64_t bytes,
                                                           VerifyTally* tally, ShareHash* hash) {
  return {{}, {}, {}, static_cast<const std::uint8_t*>(data), bytes, 1, -1, tally, hash};
}

// What the tallies say.
inline DataVerdict verdict_of(const VerifyTally& tally, const std::vector<ShareHash>& hashes) {
  DataVerdict verdict;
  verdict.wrong = tally.wrong;
  if (tally.wrong > 0) {
    verdict.first_wrong = ~tally.first;
    verdict.last_wrong = tally.last;
  }
  verdict.max_error = __builtin_bit_cast(double, tally.max_error);
  verdict.bound_hides_contribution = tally.bound_hides_contribution != 0;
  for (const ShareHash& hash : hashes) verdict.hashes.push_back(hash.value());
  return verdict;
}

struct VerifyShared {
  ShareHash of_lanes[kVerifyLanes];
};

template <typename Element>
TUTTI_HOST_DEVICE void add_unit(ShareHash& hash, const Unit<Element>& elements,
                                std::uint64_t unit) {
  constexpr int kBytes = sizeof elements;
  constexpr int kWords = kBytes / 8;
  std::uint64_t words[kWords] = {};
  std::memcpy(words, &elements, kBytes);
  TUTTI_UNROLL
  for (int i = 0; i < kWords; ++i) hash.add_word(words[i], unit * kWords + i);
}

template <typename Element, typename Rule, typename Judge, typename Place>
TUTTI_HOST_DEVICE void judge_unit(const VerifyCall<Element, Rule, Judge>& call,
                                  const Unit<Element>& observed, const Place& unit,
                                  LaneNotes& notes) {
  constexpr int kElements = kBlockElements<Element>;
  const std::uint64_t first = kElements * unit.number;
  typename Judge::State states[kElements];
  TUTTI_UNROLL
  for (int i = 0; i < kElements; ++i) states[i] = call.judge.start();
  TUTTI_NO_UNROLL  // enough other warps wait for their turn
      for (int rank = 0; rank < call.key.world; ++rank) {
    const auto stream = static_cast<std::uint32_t>(rank);
    const r123array4x32 block = philox_block(call.key, stream, unit.number);
    TUTTI_UNROLL
    for (int i = 0; i < kElements; ++i) {
      const std::uint32_t word = word_of<Element>(block, i);
      call.judge.add(states[i], number_by<Element>(call.rule, word, stream, first + i));
    }
  }
  TUTTI_UNROLL
  for (int i = 0; i < kElements; ++i) {
    if (i >= unit.from && i < unit.to)
      call.judge.judge(states[i], observed.values[i], first + i, notes);
  }
}

TUTTI_HOST_DEVICE inline void tell(const LaneNotes& notes, VerifyTally* tally) {
  if (notes.wrong > 0) {
    tally_sum(&tally->wrong, notes.wrong);
    tally_largest(&tally->first, ~notes.first);
    tally_largest(&tally->last, notes.last);
  }
  tally_largest(&tally->max_error, __builtin_bit_cast(std::uint64_t, notes.max_error));
  if (notes.bound_hides_contribution) tally_largest(&tally->bound_hides_contribution, 1);
}

template <typename Element, typename Rule, typename Judge, typename Block>
TUTTI_HOST_DEVICE ShareHash verify_lane(const Block& block, int lane, int share,
                                        const VerifyCall<Element, Rule, Judge>& call) {
  const auto [first, last] = share_of(share, call.shares, call.count);
  const UnitView<const Element> view(call.observed + first, first, last);
  ShareHash hash;
  if constexpr (!std::is_same_v<Judge, NoJudge>) {
    if (share == call.verified) {
      LaneNotes notes;
      each_unit<1>(block, lane, view, [&](auto unit) {
        const Unit<Element> observed = load(view, unit);
        add_unit(hash, observed, unit.number);
        judge_unit(call, observed, unit, notes);
      });
      tell(notes, call.tally);
      return hash;
    }
  }
  each_unit<4>(block, lane, view,
               [&](auto unit) { add_unit(hash, load(view, unit), unit.number); });
  return hash;
}

// Blocks begin with different shares, so that while some draw numbers others keep the memory busy.
template <typename Element, typename Rule, typename Judge, typename Block>
TUTTI_HOST_DEVICE void verify_block(const Block& block, VerifyShared& shared,
                                    const VerifyCall<Element, Rule, Judge>& call) {
  for (int turn = 0; turn < call.shares; ++turn) {
    const int share = (block.index() + turn) % call.shares;
    block.phase([&](int lane) { shared.of_lanes[lane] = verify_lane(block, lane, share, call); });
    for (int half = block.lanes() / 2; half > 0; half /= 2) {
      block.phase([&](int lane) {
        if (lane < half) shared.of_lanes[lane].add(shared.of_lanes[lane + half]);
      });
    }
    block.phase([&](int lane) {
      if (lane != 0) return;
      tally_sum(&call.hashes[share].products, shared.of_lanes[0].products);
      tally_sum(&call.hashes[share].sum, shared.of_lanes[0].sum);
    });
  }
}

}  // namespace tutti
