// Judges of single elements: each adds up the numbers that the ranks put in, and then says of a
// result what check_result() (fixtures/data/data.h) says of it, by the same arithmetic.
#pragma once

#include <cstdint>
#include <limits>

#include "fixtures/data/bound.h"
#include "fixtures/data/number.h"
#include "fixtures/data/rules.h"

namespace tutti {

// As variables, since kernels may not call what is no function of theirs.
template <typename Real>
inline constexpr Real kLargestNumber = std::numeric_limits<Real>::max();
template <typename Real>
inline constexpr Real kLowestNumber = std::numeric_limits<Real>::lowest();
inline constexpr float kInfinity = std::numeric_limits<float>::infinity();

// What a lane has seen.
struct LaneNotes {
  std::uint64_t wrong = 0;
  std::uint64_t first = ~std::uint64_t{0};  // index of an element that is wrong
  std::uint64_t last = 0;
  double max_error = 0;
  bool bound_hides_contribution = false;

  TUTTI_HOST_DEVICE void note(bool is_wrong, std::uint64_t index) {
    if (!is_wrong) return;
    ++wrong;
    first = index < first ? index : first;
    last = index > last ? index : last;
  }
  TUTTI_HOST_DEVICE void note_error(double error, double bound, double least_effect,
                                    std::uint64_t index) {
    note(!(error <= bound), index);  // NaN is wrong
    // A division an element would be most of the work; few raise the largest.
    if (error > max_error * bound && bound > 0 && error <= kLargestNumber<double>)
      max_error = error / bound;
    bound_hides_contribution |= least_effect <= bound;
  }
};

template <typename Real>
TUTTI_HOST_DEVICE constexpr Real magnitude(Real number) {
  return number < 0 ? -number : number;
}

// Sums and products of class `exact`, and of integers.
template <typename Element, bool is_product>
struct ExactJudge {
  using State = Exact<Element>;
  State factor = 1;  // the world, for an average

  TUTTI_HOST_DEVICE State start() const { return is_product ? 1 : 0; }
  TUTTI_HOST_DEVICE void add(State& state, Number<Element> input) const {
    const auto number = static_cast<State>(input);
    state = is_product ? state * number : state + number;
  }
  TUTTI_HOST_DEVICE void judge(const State& state, Element observed, std::uint64_t index,
                               LaneNotes& notes) const {
    if constexpr (kIsFloat<Element>) {
      notes.note(number_of(observed) * factor != state, index);
    } else {
      notes.note(observed != static_cast<Element>(state), index);
    }
  }
};

template <typename Element>
struct ExtremeJudge {
  using State = Number<Element>;
  bool largest;

  TUTTI_HOST_DEVICE State start() const {
    return largest ? kLowestNumber<State> : kLargestNumber<State>;
  }
  TUTTI_HOST_DEVICE void add(State& state, Number<Element> input) const {
    if ((input > state) == largest) state = input;
  }
  TUTTI_HOST_DEVICE void judge(const State& state, Element observed, std::uint64_t index,
                               LaneNotes& notes) const {
    notes.note(number_of(observed) != state, index);
  }
};

// Sums and averages of class `rounding`, of floats up to 32 bits; `Sum` holds them exactly.
template <typename Element, typename Sum>
struct RoundedSumJudge {
  struct State {
    Sum sum, magnitude;
    float least;
  };
  RoundingBound bound_of;
  double divisor = 1;  // the world, for an average

  TUTTI_HOST_DEVICE State start() const { return {0, 0, kInfinity}; }
  TUTTI_HOST_DEVICE void add(State& state, Number<Element> input) const {
    const float size = tutti::magnitude(input);
    state.sum += input;
    state.magnitude += size;
    state.least = size < state.least ? size : state.least;
  }
  TUTTI_HOST_DEVICE void judge(const State& state, Element observed, std::uint64_t index,
                               LaneNotes& notes) const {
    double exact = state.sum, size = state.magnitude, least = state.least;
    if (divisor != 1) exact /= divisor, size /= divisor, least /= divisor;
    notes.note_error(tutti::magnitude(number_of(observed) - exact), bound_of(exact, size), least,
                     index);
  }
};

template <typename Element>
struct RoundedProductJudge {
  struct State {
    double product, nearest_to_one;
  };
  RoundingBound bound_of;

  TUTTI_HOST_DEVICE State start() const { return {1, 1}; }
  TUTTI_HOST_DEVICE void add(State& state, Number<Element> input) const {
    const double effect = magnitude(1 - 1 / static_cast<double>(input));
    state.product *= input;
    state.nearest_to_one = effect < state.nearest_to_one ? effect : state.nearest_to_one;
  }
  TUTTI_HOST_DEVICE void judge(const State& state, Element observed, std::uint64_t index,
                               LaneNotes& notes) const {
    const double size = magnitude(state.product);
    notes.note_error(magnitude(number_of(observed) - state.product), bound_of(state.product, size),
                     state.nearest_to_one * size, index);
  }
};

// Calls `work(rule, judge)` for a key that is judged here, and says so: classes `exact` and
// `rounding`, but not averages of integers, nor those of `exact` that are not, nor reals of 64
// bits, which take more than a double, nor of narrow ones those of worlds so large that sums take
// more than a float.
template <typename Element, typename Work>
bool with_judge(const InputKey& key, const Numerics& numerics, const Work& work) {
  if (key.data != DataClass::exact && key.data != DataClass::rounding) return false;
  constexpr bool kFloats = kIsFloat<Element>;
  const bool averages = key.op == TUTTI_AVG;
  const auto world = static_cast<Exact<Element>>(averages ? key.world : 1);
  if (key.op == TUTTI_MIN || key.op == TUTTI_MAX) {
    work(Real<Element, true>{real_ranks(key)}, ExtremeJudge<Element>{key.op == TUTTI_MAX});
    return true;
  }
  if (has_exact_inputs(key)) {
    if (averages && !(kFloats && is_exact_average(key.world))) return false;
    with_rule<Element, true>(key, [&](auto rule) {
      if constexpr (std::is_same_v<decltype(rule), ExactFactor<Element>>) {
        work(rule, ExactJudge<Element, true>{});
      } else if constexpr (std::is_same_v<decltype(rule), ExactTerm<Element, true>>) {
        work(rule, ExactJudge<Element, false>{world});
      }
    });
    return true;
  }
  if constexpr (kFloats && sizeof(Element) <= 4) {
    const RoundingBound bound(key, numerics, key.world);
    if (key.op == TUTTI_PROD) {
      work(RoundedFactor<Element>{factor_rule(key.dtype, key.world)},
           RoundedProductJudge<Element>{bound});
      return true;
    }
    using Sum = std::conditional_t<kIsNarrowFloat<Element>, float, double>;
    if (kIsNarrowFloat<Element> && !sums_fit_float<Element>(key.world)) return false;
    work(Real<Element, true>{real_ranks(key)},
         RoundedSumJudge<Element, Sum>{bound, averages ? static_cast<double>(key.world) : 1.0});
    return true;
  }
  return false;
}

}  // namespace tutti
