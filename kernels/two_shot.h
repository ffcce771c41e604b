// Two-shot allreduce: a reduce-scatter, then an all-gather. Two rounds a call, and each rank sends
// 2 (W-1) / W of the message, whatever W: for large messages.
//
// The message is cut into W parts of equally many packs, the last ones shorter or empty; part p is
// the business of rank p. Each rank owns a region that its peers map and write into: a store to a
// peer goes its way, a load from one would be waited for. Each block does the same share of every
// part, the same on all ranks:
//   1 scatter  part p of the own input into the inbox of rank p, at the place of the own rank
//   2 meet     first round (kernels/rounds.h): the own inbox is full
//   3 reduce   the own inbox in the order of ranks, into the results of every rank: an element is
//              reduced once, so all ranks have the same bits
//   4 meet     second round: the own results are complete
//   5 gather   the own results into the output, which may be the input: phase 1 was done with that
//
// Why neither inbox nor results need a second slot. Take what rank r writes to peer p in call e+1.
//   inbox    r's call e is over, and so each block of it has seen p's flag of the second round. p's
//            blocks, as many as r's, stored those after they had read their shares of the inbox.
//   results  r writes them after it has seen p's flag of the first round of call e+1. p stored that
//            in call e+1, so after its call e was over, and with it all its reading of results.
// The number of blocks may differ between e and e+1: a call that is over is over in all its blocks.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/pack.h"
#include "kernels/rounds.h"

namespace tutti {

// The packs of a message of which one block does its share.
class TwoShotParts {
 public:
  template <typename Block>
  TUTTI_HOST_DEVICE TwoShotParts(const Block& block, std::uint64_t packs, int rank, int world)
      : packs_(static_cast<std::uint32_t>(packs)),
        rank_(static_cast<std::uint32_t>(rank)),
        world_(static_cast<std::uint32_t>(world)),
        part_((packs_ + world_ - 1) / world_),
        first_(share(block.index(), block.blocks())),
        length_(share(block.index() + 1, block.blocks()) - first_) {}

  // In a rank's inbox, part after part by sender: pack `pack` of the message, sent by `sender`.
  TUTTI_HOST_DEVICE std::uint32_t place(std::uint32_t pack, std::uint32_t sender) const {
    return pack % part_ + sender * part_;
  }

  // This lane's packs of all parts: body(pack, whose). Each rank begins with its own part, so that
  // they do not all write to one at once.
  template <typename Block, typename Body>
  TUTTI_HOST_DEVICE void each(const Block& block, int lane, const Body& body) const {
    block.each(0, std::uint64_t{length_} * world_, lane, [&](std::uint64_t i) {
      const std::uint32_t turn = static_cast<std::uint32_t>(i) / length_;
      const std::uint32_t whose = (rank_ + turn) % world_;
      const std::uint32_t pack =
          whose * part_ + first_ + (static_cast<std::uint32_t>(i) - turn * length_);
      if (pack < packs_) body(pack, whose);
    });
  }
  // Those of the own part: body(pack).
  template <typename Block, typename Body>
  TUTTI_HOST_DEVICE void each_own(const Block& block, int lane, const Body& body) const {
    block.each(first_, first_ + length_, lane, [&](std::uint64_t within) {
      const std::uint32_t pack = rank_ * part_ + static_cast<std::uint32_t>(within);
      if (pack < packs_) body(pack);
    });
  }

 private:
  TUTTI_HOST_DEVICE std::uint32_t share(int index, int blocks) const {
    return static_cast<std::uint32_t>(std::uint64_t{part_} * static_cast<std::uint32_t>(index) /
                                      static_cast<std::uint32_t>(blocks));
  }

  std::uint32_t packs_, rank_, world_;
  std::uint32_t part_;            // packs of each
  std::uint32_t first_, length_;  // of the block, within each part
};

template <typename Protocol = RoundProtocol>
struct TwoShot {
  static constexpr std::size_t most_bytes = 8 << 20;  // of the message of one call

  struct Region {
    RoundFlags flags;
    // Written by all ranks; parts are rounded up to packs.
    alignas(256) unsigned char inbox[most_bytes + 16 * kMostRanks];
    alignas(256) unsigned char results[most_bytes];
  };

  template <typename T, typename Block>
  TUTTI_HOST_DEVICE static void run(const Block& block, RoundShared& shared,
                                    const PeerCall<Region>& call) {
    Rounds<Protocol, Block, Region> rounds(block, shared, call);
    const TwoShotParts parts(block, packs_of<T>(call.count), call.rank, call.world);
    const auto inbox = [&](int rank) {
      return reinterpret_cast<Pack<T>*>(call.regions[rank]->inbox);
    };
    const auto results = [&](int rank) {
      return reinterpret_cast<Pack<T>*>(call.regions[rank]->results);
    };

    rounds.phase([&](int lane) {
      const PackedBuffer<T> send(const_cast<void*>(call.send), call.count);
      parts.each(block, lane, [&](std::uint32_t pack, std::uint32_t whose) {
        inbox(whose)[parts.place(pack, call.rank)] = send.load(pack);
      });
    });
    rounds.meet(1);
    rounds.phase([&](int lane) {
      parts.each_own(block, lane, [&](std::uint32_t pack) {
        constexpr int kAtOnce = sizeof(T) == 1 ? 2 : 4;  // the inbox is not far away
        const Pack<T> reduced = reduce_packs<T, kAtOnce>(call.op, call.world, [&](int sender) {
          return inbox(call.rank) + parts.place(pack, sender);
        });
        for (int turn = 0; turn < call.world; ++turn)
          results((call.rank + turn) % call.world)[pack] = reduced;
      });
    });
    rounds.meet(2);
    rounds.phase([&](int lane) {
      const PackedBuffer<T> recv(call.recv, call.count);
      parts.each(block, lane, [&](std::uint32_t pack, std::uint32_t) {
        recv.store(pack, results(call.rank)[pack]);
      });
    });
    rounds.finish(2);
  }
};

}  // namespace tutti
