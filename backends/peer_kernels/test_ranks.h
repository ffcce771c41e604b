// For tests of a backend on simulated devices, with ranks as threads of this process.
#pragma once

#include <gtest/gtest.h>

#include <barrier>
#include <cstring>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "backends/backend.h"
#include "fixtures/device/device.h"
#include "fixtures/device/host_test_world.h"

namespace tutti {

// The out-of-band channel: an allgather between threads.
class ThreadExchange {
 public:
  explicit ThreadExchange(int world) : barrier_(world), parts_(world) {}
  tutti_status gather(int rank, const void* sent, void* received, std::size_t bytes) {
    const char* from = static_cast<const char*>(sent);
    parts_[rank].assign(from, from + bytes);
    barrier_.arrive_and_wait();
    for (std::size_t peer = 0; peer < parts_.size(); ++peer) {
      std::memcpy(static_cast<char*>(received) + peer * bytes, parts_[peer].data(), bytes);
    }
    barrier_.arrive_and_wait();
    return TUTTI_OK;
  }

 private:
  std::barrier<> barrier_;
  std::vector<std::vector<char>> parts_;
};

struct TestRank {
  std::unique_ptr<Device> device;
  tutti_device services;  // a copy that tests may break
  tutti_world world;
  ThreadExchange* exchange;
  void* communicator = nullptr;
  void* stream = nullptr;

  tutti_status run(const tutti_request& request) {
    const char* path = "";
    const tutti_status status = tutti_plugin()->run(communicator, &request, &path);
    EXPECT_STREQ(path, status == TUTTI_OK ? tutti_plugin()->name : "");
    return status;
  }
  void synchronize() { services.stream_synchronize(services.self, stream); }
};

class TestRanks {
 public:
  TestRanks(TestWorld& facts, std::uint64_t deadline_ms)
      : exchange_(facts.facts().world), ranks_(static_cast<std::size_t>(facts.facts().world)) {
    for (int i = 0; i < size(); ++i) {
      TestRank& rank = ranks_[i];
      rank.device = open_device("host", facts.facts(), i, "");
      rank.services = rank.device->services();
      rank.exchange = &exchange_;
      rank.world = {sizeof(tutti_world),
                    i,
                    size(),
                    i,
                    size(),
                    &facts.facts(),
                    &rank.services,
                    deadline_ms,
                    [](void* self, const void* sent, void* received, std::size_t bytes) {
                      auto* rank = static_cast<TestRank*>(self);
                      return rank->exchange->gather(rank->world.rank, sent, received, bytes);
                    },
                    [](void*, const char*) {},
                    &rank};
      EXPECT_EQ(rank.services.stream_create(rank.services.self, &rank.stream), 0);
    }
  }
  int size() const { return static_cast<int>(ranks_.size()); }
  TestRank& operator[](int rank) { return ranks_[rank]; }

  // body(rank) on a thread each; what they returned, by rank.
  template <typename Body>
  std::vector<tutti_status> on_all(const Body& body) {
    std::vector<tutti_status> statuses(ranks_.size());
    std::vector<std::thread> threads;
    for (int i = 0; i < size(); ++i)
      threads.emplace_back([&, i] { statuses[i] = body(ranks_[i]); });
    for (std::thread& thread : threads) thread.join();
    return statuses;
  }
  std::vector<tutti_status> create() {
    return on_all(
        [](TestRank& rank) { return tutti_plugin()->create(&rank.world, &rank.communicator); });
  }
  std::vector<tutti_status> destroy() {
    return on_all([](TestRank& rank) { return tutti_plugin()->destroy(rank.communicator); });
  }
  // Of what the tests did not open themselves.
  std::string leaks() {
    std::string all;
    for (TestRank& rank : ranks_) {
      const std::string leaks = rank.device->leaks();
      if (leaks != "1 stream") all += leaks + "; ";
    }
    return all;
  }
  std::vector<tutti_status> all(tutti_status status) const {
    return std::vector(ranks_.size(), status);
  }

 private:
  ThreadExchange exchange_;
  std::vector<TestRank> ranks_;
};

// Of a sum of fp32; tests change what they need.
inline tutti_request request_of(const void* send, void* recv, std::uint64_t count, void* stream) {
  return {sizeof(tutti_request), TUTTI_ALLREDUCE, send,   recv,    count,
          TUTTI_FLOAT32,         TUTTI_SUM,       stream, nullptr, nullptr};
}

}  // namespace tutti
