// One-shot allreduce: every rank lays its input open to its peers and reduces all of them by
// itself. One round a call, and W times the reading: for small messages.
//
// Each rank owns a region that its peers map: flags, then two staging slots. Call number e (from 1)
// does, in each block, which handles one share of the packs, the same on all ranks:
//   1 copy    own input into slot e % 2 of the own region
//   2 meet    round e (kernels/rounds.h)
//   3 reduce  the slots of ranks 0, 1, ... W-1, in this order on every rank: the same bits for all
//
// Why two slots do without a second round at the end. Slot e % 2 is written again by call e+2. Rank
// r begins call e+2 only when its call e+1 is over (both are on one stream), and in that one it has
// seen a flag e+1 of each peer p. Rank p stored that flag in its call e+1, so after its call e was
// over, and with it all its reading of r's slot. This asks for at least one block in call e+1, not
// for the same number of blocks in e, e+1 and e+2: a call that is over is over in all its blocks.
// With one slot only, call e+1 of a fast rank overwrites what a slow one still reads.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/pack.h"
#include "kernels/rounds.h"

namespace tutti {

struct OneShotProtocol : RoundProtocol {
  static constexpr std::uint64_t slots = 2;
};

template <typename Protocol = OneShotProtocol>
struct OneShot {
  static constexpr std::size_t most_bytes = 1 << 20;  // of the message of one call

  struct Region {
    RoundFlags flags;
    alignas(256) unsigned char staging[2][most_bytes];  // written by the owner
  };

  template <typename T, typename Block>
  TUTTI_HOST_DEVICE static void run(const Block& block, RoundShared& shared,
                                    const PeerCall<Region>& call) {
    Rounds<Protocol, Block, Region> rounds(block, shared, call);
    const std::uint64_t slot = (rounds.before() + 1) % Protocol::slots;
    const auto staging = [&](int rank) {
      return reinterpret_cast<Pack<T>*>(call.regions[rank]->staging[slot]);
    };
    const std::uint64_t packs = packs_of<T>(call.count);
    const std::uint64_t first = packs * block.index() / block.blocks();
    const std::uint64_t last = packs * (block.index() + 1) / block.blocks();

    rounds.phase([&](int lane) {
      const PackedBuffer<T> send(const_cast<void*>(call.send), call.count);
      Pack<T>* own = staging(call.rank);
      block.each(first, last, lane, [&](std::uint64_t pack) { own[pack] = send.load(pack); });
    });
    rounds.meet(1);
    rounds.phase([&](int lane) {
      const PackedBuffer<T> recv(call.recv, call.count);
      block.each(first, last, lane, [&](std::uint64_t pack) {
        constexpr int kAtOnce = sizeof(T) == 1 ? 2 : 8;  // more takes too many registers
        recv.store(pack, reduce_packs<T, kAtOnce>(call.op, call.world,
                                                  [&](int rank) { return staging(rank) + pack; }));
      });
    });
    rounds.finish(1);
  }
};

}  // namespace tutti
