// For tests: a call of any dtype and op at any alignment, its input, and what has to come out.
// Buffers lie in frames of other bytes, which must stay as they are.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "kernels/plain_reduction.h"

namespace tutti {

using Frame = std::vector<std::uint8_t>;

struct TypedCall {
  Dtype dtype;
  Op op;
  std::uint64_t count;
  std::size_t send_offset;  // in elements from a multiple of 16 bytes
  std::size_t recv_offset;
  bool in_place;  // then at recv_offset

  std::size_t element_bytes() const {
    return with_element(dtype, [](auto element) { return sizeof element; });
  }
  std::size_t bytes() const { return count * element_bytes(); }
  std::size_t send_at() const { return in_place ? recv_at() : at(send_offset); }
  std::size_t recv_at() const { return at(recv_offset); }
  // Of a frame that has room for either buffer.
  std::size_t frame_bytes() const { return 2 * kMargin + 16 + bytes(); }

  // For people.
  std::string text() const {
    return "dtype " + std::to_string(dtype) + " op " + std::to_string(op) + " count " +
           std::to_string(count) + " offsets " + std::to_string(send_offset) + " " +
           std::to_string(recv_offset) + (in_place ? " in place" : "");
  }

 private:
  static constexpr std::size_t kMargin = 64;
  std::size_t at(std::size_t offset) const { return kMargin + offset * element_bytes(); }
};

// Half of the floats are between 1/2 and 2, the rest any bits: NaN, infinities and extremes too.
template <typename T>
T typed_element(std::uint64_t random) {
  random *= 0xbf58476d1ce4e5b9u;
  random ^= random >> 31;
  random *= 0x94d049bb133111ebu;
  random ^= random >> 29;
  T element;
  std::memcpy(&element, &random, sizeof element);
  if constexpr (kIsFloat<T>) {
    using Bits = typename FloatBits<T>::Bits;
    if ((random >> 32) % 2 == 0)
      element = element_of_bits<T>(
          static_cast<Bits>(FloatBits<T>::power_of_two(-1 + static_cast<int>((random >> 33) % 2)) |
                            (random & (FloatBits<T>::sign | FloatBits<T>::fraction_mask))));
  }
  return element;
}

template <typename T>
T typed_input(int rank, std::uint64_t index) {
  return typed_element<T>(index * 64 + static_cast<std::uint64_t>(rank) + 1);
}

// The frame that holds a rank's input.
inline Frame send_frame(const TypedCall& call, int rank) {
  Frame frame(call.frame_bytes(), 0xa5);
  with_element(call.dtype, [&](auto element) {
    for (std::uint64_t i = 0; i < call.count; ++i) {
      element = typed_input<decltype(element)>(rank, i);
      std::memcpy(&frame[call.send_at() + i * sizeof element], &element, sizeof element);
    }
  });
  return frame;
}

// The frame for the output, before the call.
inline Frame recv_frame(const TypedCall& call) { return Frame(call.frame_bytes(), 0x5a); }

// What the frames of a rank look like after the call: empty when they are right. In place, `recv`
// is the one that was made by send_frame.
inline std::string problem_of(const TypedCall& call, int rank, int world, const Frame& send,
                              const Frame& recv) {
  if (!call.in_place && send != send_frame(call, rank)) return "the input has changed";
  const Frame before = call.in_place ? send_frame(call, rank) : recv_frame(call);
  for (std::size_t i = 0; i < recv.size(); ++i) {
    const bool inside = i >= call.recv_at() && i < call.recv_at() + call.bytes();
    if (!inside && recv[i] != before[i]) return "byte " + std::to_string(i) + " is outside";
  }
  return with_element(call.dtype, [&](auto element) -> std::string {
    using T = decltype(element);
    std::vector<T> values(static_cast<std::size_t>(world));
    for (std::uint64_t i = 0; i < call.count; ++i) {
      for (int peer = 0; peer < world; ++peer) values[peer] = typed_input<T>(peer, i);
      std::memcpy(&element, &recv[call.recv_at() + i * sizeof element], sizeof element);
      if (!is_same_element(element, plainly_reduced(call.op, values)))
        return "element " + std::to_string(i) + " is wrong";
    }
    return "";
  });
}

// Every dtype with every op, of few elements.
inline std::vector<TypedCall> calls_of_all_types() {
  std::vector<TypedCall> calls;
  for (const Dtype dtype : kDtypes) {
    for (const Op op : kOps) {
      calls.push_back({dtype, op, 1, 0, 0, false});
      calls.push_back({dtype, op, 1029, 0, 0, calls.size() % 4 == 1});
    }
  }
  return calls;
}

// Every pair of alignments in 16 bytes, with lengths around some packs.
inline std::vector<TypedCall> calls_of_all_alignments() {
  std::vector<TypedCall> calls;
  for (const Dtype dtype : kDtypes) {
    const std::size_t elements = 16 / TypedCall{dtype, TUTTI_SUM, 0, 0, 0, false}.element_bytes();
    for (std::size_t send = 0; send < elements; ++send) {
      for (std::size_t recv = 0; recv < elements; ++recv) {
        const Op op = kOps[calls.size() % kOps.size()];
        const std::uint64_t count = 3 * elements - 1 + calls.size() % 3;
        calls.push_back({dtype, op, count, send, recv, calls.size() % 7 == 0});
      }
    }
  }
  return calls;
}

}  // namespace tutti
