// What kernels over peer memory have in common: the blocks of equal index of all ranks meet, once
// or more in a call, by flags that they store into each other's memory.
//
// Rounds are counted over all calls, from 1, in 64 bits, and never wrap. In round n
//   signal  lane p stores n into the flag [block][own rank] of rank p (release, system)
//   wait    lane p waits until the own flag [block][p] is n or more (acquire, system; bounded)
// so what the blocks of an index wrote before round n, all of them may read after it. Within a
// block, the barrier between phases orders what other lanes wrote before the signal, and the
// release is cumulative over it; likewise with the wait.
//
// "Or more": a peer may be in a later round already. A block that earlier calls did not use still
// has an old flag, which is less. The last block of a call to finish advances the count in device
// memory, so replayed graphs count on. Calls of a rank are on one stream, or else ordered, and all
// ranks make the same calls.
//
// Failure. A wait that runs into its deadline or an abort sets control->status, for good; the
// output is then not meaningful, the kernel ends, and later calls end at once and touch nothing
// that peers read, so one that comes late still finds what it expects. Peers run into their own
// deadlines. Whether an earlier call failed (state->failed) does not change during a call:
// otherwise the lanes of a block could disagree, and signal what they had written in part.
#pragma once

#include <cstdint>

#include "backends/backend.h"
#include "kernels/atomics.h"
#include "kernels/block.h"

namespace tutti {

inline constexpr int kMostRanks = 32;
inline constexpr int kMostBlocks = 64;

// In peer-visible device memory, zero at first.
struct RoundFlags {
  // Written by the rank of the second index.
  alignas(256) std::uint64_t of[kMostBlocks][kMostRanks];
};

// In device memory of the rank alone, zero at first.
struct RoundState {
  std::uint64_t rounds;           // of all calls that are over
  std::uint32_t blocks_finished;  // in the current call
  std::uint32_t failing;          // RoundFailure of some block, at once
  std::uint32_t failed;           // the same, known from the next call on
};

// In host memory that the device can reach, zero at first.
struct RoundControl {
  std::uint32_t status;  // RoundFailure, written by the kernel
  std::uint32_t abort;   // set to 1 by the host
};

enum RoundFailure : std::uint32_t { kRoundFine = 0, kRoundTimedOut = 1, kRoundAborted = 2 };

// One call. `send` and `recv` hold `count` elements; they are equal or do not overlap, and are
// aligned to the element. Count, number of blocks, dtype and op are the same on all ranks.
template <typename Region>
struct PeerCall {
  const void* send;
  void* recv;
  std::uint64_t count;
  Region* regions[kMostRanks];  // by rank, as mapped here; the own one included. Each has `flags`
  RoundState* state;
  RoundControl* control;
  std::uint64_t deadline_ns;  // of all waits of a call
  tutti_op op;
  int rank;
  int world;
};

// Shared by the lanes of a block, zero before the first phase ends.
struct RoundShared {
  std::uint32_t failed;  // a wait of this block
};

// What tests of a protocol vary: what a rank does between two phases, and which round of a call is
// not waited for.
struct RoundProtocol {
  static constexpr int skipped_wait = 0;
  TUTTI_HOST_DEVICE static void between_phases() {}
};

// One block in one call, as each of its lanes sees it.
template <typename Protocol, typename Block, typename Region>
class Rounds {
 public:
  // The state that is read here changes only when the last block finishes, so after every lane has.
  TUTTI_HOST_DEVICE Rounds(const Block& block, RoundShared& shared, const PeerCall<Region>& call)
      : block_(block),
        shared_(shared),
        call_(call),
        before_(call.state->rounds),
        failed_before_(call.state->failed != kRoundFine),
        failed_(failed_before_) {}

  // How many rounds earlier calls took.
  TUTTI_HOST_DEVICE std::uint64_t before() const { return before_; }

  // body(lane) for all lanes, and then a barrier; nothing once this or an earlier call has failed.
  template <typename Body>
  TUTTI_HOST_DEVICE void phase(const Body& body) const {
    block_.phase([&](int lane) {
      if (!failed_) body(lane);
    });
    Protocol::between_phases();
  }

  // Round number `round` of this call, from 1. A call begins with a phase, not with this.
  TUTTI_HOST_DEVICE void meet(int round) {
    phase([&](int lane) { signal(lane, before_ + static_cast<std::uint64_t>(round)); });
    if (round != Protocol::skipped_wait)
      phase([&](int lane) { wait(lane, before_ + static_cast<std::uint64_t>(round)); });
    failed_ = failed_before_ || shared_.failed != kRoundFine;
  }

  // The end of a call of so many rounds.
  TUTTI_HOST_DEVICE void finish(int rounds) const {
    block_.phase([&](int lane) {
      if (lane != 0) return;
      RoundState& state = *call_.state;
      const auto blocks = static_cast<std::uint32_t>(block_.blocks());
      if (add_device(&state.blocks_finished, 1) + 1 != blocks) return;
      state.blocks_finished = 0;
      state.failed = load_relaxed_system(&state.failing);
      state.rounds = before_ + static_cast<std::uint64_t>(rounds);
    });
  }

 private:
  TUTTI_HOST_DEVICE void signal(int lane, std::uint64_t round) const {
    for (int peer = lane; peer < call_.world; peer += block_.lanes()) {
      store_release_system(&call_.regions[peer]->flags.of[block_.index()][call_.rank], round);
    }
  }

  TUTTI_HOST_DEVICE void wait(int lane, std::uint64_t round) {
    const RoundFlags& own = call_.regions[call_.rank]->flags;
    for (int peer = lane; peer < call_.world; peer += block_.lanes()) {
      const RoundFailure failure = wait_for_flag(&own.of[block_.index()][peer], round);
      if (failure == kRoundFine) continue;
      store_relaxed_system(&call_.state->failing, failure);
      store_relaxed_system(&call_.control->status, failure);
      shared_.failed = failure;
      return;
    }
  }

  // kRoundFine once the flag has reached the round. The clock is slow to read, so that is seldom
  // done. The abort word lies with the host, and is read at intervals that no call between healthy
  // ranks reaches: each block that reads it delays its rank, the peers then wait so much longer
  // that theirs read it, too, and so on call after call (two H200, 64 blocks: 58 us instead of 9).
  // The deadline runs from the first wait of a lane.
  TUTTI_HOST_DEVICE RoundFailure wait_for_flag(const std::uint64_t* flag, std::uint64_t round) {
    constexpr std::uint32_t kPollsBetweenTimes = 64;
    constexpr std::uint64_t kLookNs = 1'000'000;
    std::uint64_t looked = 0;
    for (std::uint32_t polls = 1;; ++polls) {
      if (load_acquire_system(flag) >= round) return kRoundFine;
      relax(polls);
      if (polls % kPollsBetweenTimes != 0) continue;
      const std::uint64_t now = now_ns();
      if (started_ == 0) started_ = now;
      if (looked == 0) looked = now;
      if (now - looked < kLookNs) continue;
      looked = now;
      if (load_relaxed_system(&call_.control->abort) != 0) return kRoundAborted;
      const std::uint32_t failing = load_relaxed_system(&call_.state->failing);
      if (failing != kRoundFine) return static_cast<RoundFailure>(failing);
      if (now - started_ > call_.deadline_ns) return kRoundTimedOut;
    }
  }

  const Block& block_;
  RoundShared& shared_;
  const PeerCall<Region>& call_;
  const std::uint64_t before_;
  const bool failed_before_;
  bool failed_;                // this call or an earlier one, as of the last round
  std::uint64_t started_ = 0;  // when the first wait began; 0: none has
};

}  // namespace tutti
