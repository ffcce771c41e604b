#include "backends/gloo/exchange_store.h"

#include <gtest/gtest.h>

#include <barrier>
#include <cstring>
#include <functional>
#include <string>
#include <thread>
#include <vector>

namespace tutti {
namespace {

// Threads as ranks, and an exchange between them.
class Ranks {
 public:
  explicit Ranks(int world) : world_(world), barrier_(world) {}

  void run(const std::function<void(ExchangeStore&, int rank)>& body) {
    std::vector<std::thread> threads;
    for (int rank = 0; rank < world_; ++rank) {
      threads.emplace_back([&, rank] {
        Own own{this, rank};
        tutti_world world{};
        world.rank = rank;
        world.world = world_;
        world.exchange = exchange;
        world.self = &own;
        ExchangeStore store(world);
        body(store, rank);
      });
    }
    for (std::thread& thread : threads) thread.join();
  }

 private:
  struct Own {
    Ranks* ranks;
    int rank;
  };

  static tutti_status exchange(void* self, const void* sent, void* received, std::size_t bytes) {
    const Own& own = *static_cast<Own*>(self);
    Ranks& ranks = *own.ranks;
    if (own.rank == 0) ranks.board_.assign(bytes * ranks.world_, 0);
    ranks.barrier_.arrive_and_wait();
    std::memcpy(ranks.board_.data() + own.rank * bytes, sent, bytes);
    ranks.barrier_.arrive_and_wait();
    std::memcpy(received, ranks.board_.data(), ranks.board_.size());
    ranks.barrier_.arrive_and_wait();
    return TUTTI_OK;
  }

  int world_;
  std::barrier<> barrier_;
  std::vector<char> board_;
};

std::vector<char> value_of(int rank, int round) {
  return std::vector<char>(3 + 5 * rank, static_cast<char>(round));
}

TEST(ExchangeStore, EveryRankGetsWhatEveryRankPublished) {
  Ranks(4).run([](ExchangeStore& store, int rank) {
    for (int round = 0; round < 2; ++round) {
      const std::string prefix = round == 0 ? "host_" : "";
      store.set(prefix + std::to_string(rank), value_of(rank, round));
      for (int peer = 0; peer < 4; ++peer) {
        EXPECT_EQ(store.get(prefix + std::to_string(peer)), value_of(peer, round));
      }
    }
    EXPECT_THROW(store.get("nobody"), std::logic_error);
    EXPECT_EQ(store.agree(true), -1);
  });
}

// A rank may fail before, between and after what it publishes; the others are at most one step
// further.
TEST(ExchangeStore, AllRanksAgreeOnAFailureAtAnyPoint) {
  for (int fails_after = 0; fails_after <= 2; ++fails_after) {
    Ranks(3).run([fails_after](ExchangeStore& store, int rank) {
      bool connected = true;
      for (int round = 0; round < 2 && connected; ++round) {
        if (rank == 1 && round == fails_after) connected = false;
        if (!connected) break;
        try {
          store.set(std::to_string(round) + std::to_string(rank), value_of(rank, round));
        } catch (const std::exception& error) {
          EXPECT_STREQ(error.what(), "rank 1 gave up while Gloo connected");
          connected = false;
        }
      }
      if (rank == 1 && fails_after == 2) connected = false;
      EXPECT_EQ(store.agree(connected), 1) << "rank " << rank << ", failing after " << fails_after;
    });
  }
}

}  // namespace
}  // namespace tutti
