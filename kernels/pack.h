// 16 bytes of elements, the unit of work of a lane. In staging memory packs are whole and aligned;
// in the buffers of a caller they begin at any element, and the last one may be cut off.
//
// A whole pack of a caller is loaded and stored in the widest accesses that its address allows: one
// of 16 bytes, else two of 8, and so on down to the element. No byte outside the buffer is touched,
// and no lane needs what its neighbours load, so send and recv, and the ranks among each other, may
// be aligned in different ways.
#pragma once

#include <cstdint>
#include <cstring>

#include "kernels/reduction.h"

// Before a loop with constant bounds over the elements of a pack, which else might not be in
// registers.
#if defined(__CUDACC__)
#define TUTTI_UNROLL _Pragma("unroll")
#define TUTTI_NO_UNROLL _Pragma("unroll 1")
#else
#define TUTTI_UNROLL
#define TUTTI_NO_UNROLL
#endif

namespace tutti {

template <typename T>
struct alignas(16) Pack {
  static constexpr int size = 16 / sizeof(T);
  T values[size];
};

// How many packs `count` elements take.
template <typename T>
TUTTI_HOST_DEVICE std::uint64_t packs_of(std::uint64_t count) {
  return (count + Pack<T>::size - 1) / Pack<T>::size;
}

// The widest access to packs at this address: a power of two up to 16, in bytes.
TUTTI_HOST_DEVICE inline int access_of(const void* address) {
  const auto bits = static_cast<unsigned>(reinterpret_cast<std::uintptr_t>(address) | 16);
  return static_cast<int>(bits & -bits);
}

// A whole pack from or to memory that is aligned to `width`, in accesses of so many bytes.
template <int width, typename T>
TUTTI_HOST_DEVICE void copy_pack(Pack<T>& to, const T* from) {
  TUTTI_UNROLL
  for (int i = 0; i < 16; i += width)
    std::memcpy(reinterpret_cast<char*>(&to) + i,
                __builtin_assume_aligned(reinterpret_cast<const char*>(from) + i, width), width);
}
template <int width, typename T>
TUTTI_HOST_DEVICE void copy_pack(T* to, const Pack<T>& from) {
  TUTTI_UNROLL
  for (int i = 0; i < 16; i += width)
    std::memcpy(__builtin_assume_aligned(reinterpret_cast<char*>(to) + i, width),
                reinterpret_cast<const char*>(&from) + i, width);
}

// copy_pack in accesses as wide as `access` allows; false, and nothing is done, when it is that of
// an element.
template <typename T, int width = 16, typename To, typename From>
TUTTI_HOST_DEVICE bool copy_wide(To& to, From& from, int access) {
  if constexpr (width <= sizeof(T)) {
    return false;
  } else {
    if (access < width) return copy_wide<T, width / 2>(to, from, access);
    copy_pack<width, T>(to, from);
    return true;
  }
}

// A caller's buffer of `count` elements, to load packs from or store them to. Of the last pack only
// the elements that the buffer has are touched; what is loaded beyond them is 0.
template <typename T>
class PackedBuffer {
 public:
  TUTTI_HOST_DEVICE PackedBuffer(void* elements, std::uint64_t count)
      : elements_(static_cast<T*>(elements)), count_(count), access_(access_of(elements)) {}

  TUTTI_HOST_DEVICE Pack<T> load(std::uint64_t pack) const {
    const T* from = elements_ + pack * Pack<T>::size;
    const int elements = elements_of(pack);
    Pack<T> loaded;
    if (elements == Pack<T>::size && copy_wide<T>(loaded, from, access_)) return loaded;
    TUTTI_UNROLL
    for (int i = 0; i < Pack<T>::size; ++i) loaded.values[i] = i < elements ? from[i] : T{};
    return loaded;
  }

  TUTTI_HOST_DEVICE void store(std::uint64_t pack, const Pack<T>& stored) const {
    T* to = elements_ + pack * Pack<T>::size;
    const int elements = elements_of(pack);
    if (elements == Pack<T>::size && copy_wide<T>(to, stored, access_)) return;
    TUTTI_UNROLL
    for (int i = 0; i < Pack<T>::size; ++i)
      if (i < elements) to[i] = stored.values[i];
  }

 private:
  TUTTI_HOST_DEVICE int elements_of(std::uint64_t pack) const {
    const std::uint64_t left = count_ - pack * Pack<T>::size;
    return left < Pack<T>::size ? static_cast<int>(left) : Pack<T>::size;
  }

  T* elements_;
  std::uint64_t count_;
  int access_;
};

// Reduces one pack of each rank, in the order of the ranks; staged(rank) points to that of a rank.
// Those of `at_once` ranks are loaded before the first is looked at, since each load may take a
// microsecond, where memory is a peer's.
template <typename T, int at_once, typename Reduction, typename Staged>
TUTTI_HOST_DEVICE Pack<T> reduce_packs(Reduction, int world, const Staged& staged) {
  Number<T> accumulated[Pack<T>::size] = {};
  for (int first = 0; first < world; first += at_once) {
    Pack<T> loaded[at_once];
    TUTTI_UNROLL
    for (int i = 0; i < at_once; ++i)
      if (first + i < world) loaded[i] = *staged(first + i);
    TUTTI_UNROLL
    for (int i = 0; i < at_once; ++i) {
      if (first + i >= world) break;
      TUTTI_UNROLL
      for (int j = 0; j < Pack<T>::size; ++j) {
        const auto value = number_of(loaded[i].values[j]);
        accumulated[j] = first + i == 0 ? value : Reduction::apply(accumulated[j], value);
      }
    }
  }
  Pack<T> result;
  TUTTI_UNROLL
  for (int j = 0; j < Pack<T>::size; ++j)
    result.values[j] = element_near<T>(Reduction::finish(accumulated[j], world));
  return result;
}

// The same with an op that is known when it runs, so that a kernel is compiled once for all ops.
template <typename T, int at_once, typename Staged>
TUTTI_HOST_DEVICE Pack<T> reduce_packs(tutti_op op, int world, const Staged& staged) {
  return with_reduction(
      op, [&](auto reduction) { return reduce_packs<T, at_once>(reduction, world, staged); });
}

}  // namespace tutti
