// One-shot allreduce: every rank lays its input open to its peers and reduces all of them by
// itself. One exchange of flags a call, and W times the reading: for small messages.
//
// Each rank owns a region that its peers map: flags, then two staging slots. Call number e
// ("epoch", from 1) does, in each block, which handles one share of the elements, the same on all
// ranks:
//   1 copy    own input into slot e % 2 of the own region
//   2 signal  lane p stores e into the flag [block][own rank] of rank p (release, system)
//   3 wait    lane p waits until the own flag [block][p] is e or more (acquire, system; bounded)
//   4 reduce  the slots of ranks 0, 1, ... W-1, in this order on every rank: the same bits for all
//   5 finish  the last block advances the epoch in device memory, so replayed graphs count on
//
// Why two slots do without a barrier at the end. Slot e % 2 is written again by call e+2. Rank r
// begins call e+2 only when its call e+1 is over (both are on one stream), and in that one it has
// seen a flag e+1 of each peer p. Rank p stored that flag in its call e+1, so after its call e was
// over, and with it all its reading of r's slot. This asks for at least one block in call e+1, not
// for the same number of blocks in e, e+1 and e+2: a call that is over is over in all its blocks.
// With one slot only, call e+1 of a fast rank overwrites what a slow one still reads.
//
// A peer may be ahead by one call (it cannot end call e+1 without our flag e+1), so a flag may be
// e+1 already: hence "or more". A block that earlier calls did not use still has an old flag;
// epochs have 64 bits and never wrap, so an old flag never looks like a new one.
//
// Failure. A wait that runs into its deadline or an abort sets control->status, for good; the
// output is then not meaningful, the kernel ends, and later calls end at once without touching a
// slot, so a peer that comes late may still read them. Peers run into their own deadlines. Whether
// an earlier call failed (state->failed) does not change during a call: otherwise the lanes of a
// block could disagree, and signal a slot of which they had copied a part.
//
// Order within the block: the copy of all lanes happens before the signal by the barrier between,
// and the release is cumulative over it; likewise the reduction comes after the wait of every lane.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "kernels/atomics.h"
#include "kernels/block.h"
#include "kernels/reduction.h"

namespace tutti {

inline constexpr int kOneShotWorld = 32;                   // largest number of ranks
inline constexpr int kOneShotBlocks = 64;                  // largest number of blocks
inline constexpr std::size_t kOneShotSlotBytes = 1 << 20;  // largest message of one call

// In peer-visible device memory, zero at first.
struct OneShotRegion {
  // Written by the rank of the second index.
  alignas(256) std::uint64_t flags[kOneShotBlocks][kOneShotWorld];
  // Written by the owner.
  alignas(256) unsigned char staging[2][kOneShotSlotBytes];
};

// In device memory of the rank alone, zero at first.
struct OneShotState {
  std::uint64_t epoch;            // of the last call
  std::uint32_t blocks_finished;  // in the current call
  std::uint32_t failing;          // OneShotFailure of some block, at once
  std::uint32_t failed;           // the same, known from the next call on
};

// In host memory that the device can reach, zero at first.
struct OneShotControl {
  std::uint32_t status;  // OneShotFailure, written by the kernel
  std::uint32_t abort;   // set to 1 by the host
};

enum OneShotFailure : std::uint32_t { kOneShotFine = 0, kOneShotTimedOut = 1, kOneShotAborted = 2 };

// One call. `send` and `recv` hold `count` elements, at most kOneShotSlotBytes; they are equal or
// do not overlap, and are aligned to the element. Count, number of blocks, dtype and op are the
// same on all ranks.
struct OneShotArguments {
  const void* send;
  void* recv;
  std::uint64_t count;
  OneShotRegion* regions[kOneShotWorld];  // by rank, as mapped here; the own one included
  OneShotState* state;
  OneShotControl* control;
  std::uint64_t deadline_ns;  // of each wait
  int rank;
  int world;
};

// Shared by the lanes of a block.
struct OneShotShared {
  std::uint32_t failed;  // a wait of this block
};

// What tests of the protocol vary: the number of slots, and what a rank does between two phases.
struct OneShotProtocol {
  static constexpr std::uint64_t slots = 2;
  TUTTI_HOST_DEVICE static void between_phases() {}
};

// The unit of work of a lane: 16 bytes, in one access where the address allows it.
template <typename T>
struct alignas(16) Pack {
  static constexpr int size = 16 / sizeof(T);
  T values[size];
};

TUTTI_HOST_DEVICE inline bool is_aligned(const void* address) {
  return reinterpret_cast<std::uintptr_t>(address) % 16 == 0;
}

template <typename T>
TUTTI_HOST_DEVICE Pack<T> load_pack(const T* from, int elements, bool whole) {
  if (whole) return *reinterpret_cast<const Pack<T>*>(from);
  Pack<T> pack{};
  for (int i = 0; i < elements; ++i) pack.values[i] = from[i];
  return pack;
}

template <typename T>
TUTTI_HOST_DEVICE void store_pack(T* to, const Pack<T>& pack, int elements, bool whole) {
  if (whole) {
    *reinterpret_cast<Pack<T>*>(to) = pack;
  } else {
    for (int i = 0; i < elements; ++i) to[i] = pack.values[i];
  }
}

// kOneShotFine once the flag has reached the epoch. `started` is shared by the waits of a lane, 0
// before the first.
TUTTI_HOST_DEVICE inline OneShotFailure wait_for_flag(const std::uint64_t* flag,
                                                      std::uint64_t epoch,
                                                      const OneShotArguments& call,
                                                      std::uint64_t& started) {
  constexpr std::uint32_t kPollsBetweenLooks =
      64;  // at the clock and at the abort word, which are slow to read on CUDA
  for (std::uint32_t polls = 1;; ++polls) {
    if (load_acquire_system(flag) >= epoch) return kOneShotFine;
    relax(polls);
    if (polls % kPollsBetweenLooks != 0) continue;
    if (load_relaxed_system(&call.control->abort) != 0) return kOneShotAborted;
    const std::uint32_t failing = load_relaxed_system(&call.state->failing);
    if (failing != kOneShotFine) return static_cast<OneShotFailure>(failing);
    const std::uint64_t now = now_ns();
    if (started == 0) started = now;
    if (now - started > call.deadline_ns) return kOneShotTimedOut;
  }
}

template <typename T>
TUTTI_HOST_DEVICE int elements_of_pack(std::uint64_t pack, std::uint64_t count) {
  const std::uint64_t left = count - pack * Pack<T>::size;
  return left < Pack<T>::size ? static_cast<int>(left) : Pack<T>::size;
}

// Reduces one pack of all ranks' slots, in the order of ranks.
template <typename T, typename Reduction>
TUTTI_HOST_DEVICE Pack<T> reduce_pack(const OneShotArguments& call, std::uint64_t slot,
                                      std::uint64_t pack, int elements) {
  const bool whole = elements == Pack<T>::size;
  decltype(widen(T{})) sums[Pack<T>::size];
  for (int rank = 0; rank < call.world; ++rank) {
    const T* staged =
        reinterpret_cast<const T*>(call.regions[rank]->staging[slot]) + pack * Pack<T>::size;
    const Pack<T> loaded = load_pack(staged, elements, whole);
    for (int i = 0; i < Pack<T>::size; ++i) {
      sums[i] =
          rank == 0 ? widen(loaded.values[i]) : Reduction::apply(sums[i], widen(loaded.values[i]));
    }
  }
  Pack<T> result;
  for (int i = 0; i < Pack<T>::size; ++i) narrow(sums[i], &result.values[i]);
  return result;
}

// What one block does. `shared` is one object for all its lanes.
template <typename T, typename Reduction, typename Protocol = OneShotProtocol, typename Block>
TUTTI_HOST_DEVICE void one_shot_block(const Block& block, OneShotShared& shared,
                                      const OneShotArguments& call) {
  const std::uint64_t packs = (call.count + Pack<T>::size - 1) / Pack<T>::size;
  const std::uint64_t first = packs * block.index() / block.blocks();
  const std::uint64_t last = packs * (block.index() + 1) / block.blocks();
  // Both change only when the last block finishes, so after every lane has read them.
  const std::uint64_t epoch = call.state->epoch + 1;
  const bool failed_before = call.state->failed != kOneShotFine;
  const std::uint64_t slot = epoch % Protocol::slots;
  OneShotRegion* own = call.regions[call.rank];
  std::uint64_t started = 0;

  block.phase([&](int lane) {  // copy
    if (lane == 0) shared.failed = kOneShotFine;
    if (failed_before) return;
    const T* send = static_cast<const T*>(call.send);
    T* staged = reinterpret_cast<T*>(own->staging[slot]);
    const bool aligned = is_aligned(send);
    block.each(first, last, lane, [&](std::uint64_t pack) {
      const int elements = elements_of_pack<T>(pack, call.count);
      const bool whole = elements == Pack<T>::size;
      const std::uint64_t at = pack * Pack<T>::size;
      store_pack(staged + at, load_pack(send + at, elements, whole && aligned), elements, whole);
    });
  });
  Protocol::between_phases();
  block.phase([&](int lane) {  // signal
    if (failed_before) return;
    for (int peer = lane; peer < call.world; peer += block.lanes()) {
      store_release_system(&call.regions[peer]->flags[block.index()][call.rank], epoch);
    }
  });
  Protocol::between_phases();
  block.phase([&](int lane) {  // wait
    if (failed_before) return;
    for (int peer = lane; peer < call.world; peer += block.lanes()) {
      const OneShotFailure failure =
          wait_for_flag(&own->flags[block.index()][peer], epoch, call, started);
      if (failure == kOneShotFine) continue;
      store_relaxed_system(&call.state->failing, failure);
      store_relaxed_system(&call.control->status, failure);
      shared.failed = failure;
      return;
    }
  });
  Protocol::between_phases();
  block.phase([&](int lane) {  // reduce
    if (failed_before || shared.failed != kOneShotFine) return;
    T* recv = static_cast<T*>(call.recv);
    const bool aligned = is_aligned(recv);
    block.each(first, last, lane, [&](std::uint64_t pack) {
      const int elements = elements_of_pack<T>(pack, call.count);
      const Pack<T> result = reduce_pack<T, Reduction>(call, slot, pack, elements);
      store_pack(recv + pack * Pack<T>::size, result, elements,
                 aligned && elements == Pack<T>::size);
    });
  });
  block.phase([&](int lane) {  // finish
    if (lane != 0) return;
    if (add_device(&call.state->blocks_finished, 1) + 1 !=
        static_cast<std::uint32_t>(block.blocks()))
      return;
    call.state->blocks_finished = 0;
    call.state->failed = load_relaxed_system(&call.state->failing);
    call.state->epoch = epoch;
  });
}

// The whole call on the host.
template <typename T, typename Reduction, typename Protocol = OneShotProtocol>
void one_shot_on_host(const OneShotArguments& call, int blocks, int lanes) {
  for (int index = 0; index < blocks; ++index) {
    OneShotShared shared{};
    one_shot_block<T, Reduction, Protocol>(HostBlock(index, blocks, lanes), shared, call);
  }
}

#if defined(__CUDACC__)
template <typename T, typename Reduction>
__global__ void __launch_bounds__(512) one_shot_on_cuda(OneShotArguments call) {
  __shared__ OneShotShared shared;
  one_shot_block<T, Reduction>(CudaBlock(), shared, call);
}
#endif

}  // namespace tutti
