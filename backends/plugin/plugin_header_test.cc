// backends/plugin.h: what it makes of a class, with ranks as threads on simulated devices.
#include <gtest/gtest.h>

#include <atomic>
#include <barrier>
#include <chrono>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "backends/plugin.h"
#include "fixtures/device/device.h"
#include "fixtures/device/host_test_world.h"

namespace {

using namespace tutti::plugin;

// What a rank of the backend below does.
struct Script {
  tutti_status create = TUTTI_OK;
  bool throws = false;
  std::atomic<bool> goes_on{true};  // what is enqueued waits for it
  std::atomic<bool> begun{false};
  std::atomic<bool> ended{false};
  tutti_status destroy = TUTTI_OK;
  std::string logged;
};
std::vector<Script> scripts(3);

class Mine : public Communicator {
 public:
  static constexpr const char* kName = "mine";
  static constexpr uint32_t kMemory = TUTTI_MEMORY_HOST;
  static constexpr const char* kPaths[] = {"path", nullptr};
  static const char* version() { return "1"; }
  static Decision decide(const tutti_facts& facts, const tutti_request* request) {
    if (!can_share_memory(facts)) return refuse(std::string(300, 'x'));
    return request && request->dtype != TUTTI_FLOAT32 ? refuse("only fp32") : take("path");
  }

  using Communicator::Communicator;
  tutti_status create() {
    Script& script = scripts[world().rank];
    return agree(script.create ? say(script.create, "of " + std::to_string(world().rank))
                               : TUTTI_OK);
  }
  tutti_status run(const tutti_request& request, const char*) {
    Script& script = scripts[world().rank];
    if (script.throws) throw std::runtime_error("a bug");
    return enqueue(request.stream, [&script] {
      script.begun = true;
      while (!script.goes_on) std::this_thread::yield();
      script.ended = true;
    });
  }
  tutti_status destroy() {
    EXPECT_TRUE(scripts[world().rank].ended || scripts[world().rank].throws);
    const tutti_status status = scripts[world().rank].destroy;
    return status ? say(status, "would not go") : Communicator::destroy();
  }
};

const tutti_backend kTable = Table<Mine>::make();

// Ranks are threads, which meet in `exchange`.
class World {
 public:
  explicit World(int world) : facts(world), parts_(world), barrier_(world) {
    scripts = std::vector<Script>(world);
    for (int rank = 0; rank < world; ++rank) {
      devices_.push_back(tutti::open_device("host", facts.facts(), rank, ""));
      links_.push_back({this, rank});
    }
  }
  template <typename Body>
  void on_all(const Body& body) {
    std::vector<std::thread> threads;
    for (int rank = 0; rank < facts.facts().world; ++rank)
      threads.emplace_back([&, rank] { body(rank, world_of(rank)); });
    for (std::thread& thread : threads) thread.join();
  }
  tutti_world world_of(int rank) {
    const int size = facts.facts().world;
    return {sizeof(tutti_world),         rank,   size,     rank, size,         &facts.facts(),
            &devices_[rank]->services(), 10'000, exchange, log,  &links_[rank]};
  }
  tutti::TestWorld facts;

 private:
  struct Link {
    World* world;
    int rank;
  };
  static tutti_status exchange(void* self, const void* sent, void* received, size_t bytes) {
    auto [world, rank] = *static_cast<Link*>(self);
    world->parts_[rank].assign(static_cast<const char*>(sent), bytes);
    world->barrier_.arrive_and_wait();
    char* to = static_cast<char*>(received);
    for (const std::string& part : world->parts_) to += part.copy(to, bytes);
    world->barrier_.arrive_and_wait();
    return TUTTI_OK;
  }
  static void log(void* self, const char* line) {
    scripts[static_cast<Link*>(self)->rank].logged = line;
  }

  std::vector<std::string> parts_;
  std::barrier<> barrier_;
  std::vector<std::unique_ptr<tutti::Device>> devices_;
  std::vector<Link> links_;
};

tutti_request request_on(void* stream) {
  tutti_request request{};
  request.dtype = TUTTI_FLOAT32;
  request.stream = stream;
  return request;
}

TEST(PluginHeader, ALongReasonIsCutAndTerminated) {
  tutti::TestWorld world(2);
  world.deny(1, 0);
  tutti_plan plan{};
  const tutti_request request = request_on(nullptr);
  EXPECT_EQ(kTable.plan(&world.facts(), 0, &request, &plan), TUTTI_OK);
  EXPECT_EQ(plan.answer, TUTTI_PLAN_REFUSED);
  EXPECT_EQ(plan.text, std::string(sizeof plan.text - 1, 'x'));
}

TEST(PluginHeader, ARefusalGoesBeforeFailuresAndIsEveryRanksAnswer) {
  World world(3);
  scripts[0].create = TUTTI_ERROR;
  scripts[2].create = TUTTI_UNSUPPORTED;
  world.on_all([](int, const tutti_world& world) {
    void* communicator = nullptr;
    EXPECT_EQ(kTable.create(&world, &communicator), TUTTI_UNSUPPORTED);
  });
  EXPECT_STREQ(kTable.reason(nullptr), "of 2");
}

TEST(PluginHeader, WorkEndsBeforeDestroyEvenIfItWasAborted) {
  World world(1);
  world.on_all([](int rank, const tutti_world& world) {
    const tutti_device& device = *world.device;
    void* stream = nullptr;
    device.stream_create(device.self, &stream);
    void* communicator = nullptr;
    ASSERT_EQ(kTable.create(&world, &communicator), TUTTI_OK);
    scripts[rank].goes_on = false;
    scripts[rank].destroy = TUTTI_ERROR;
    const tutti_request request = request_on(stream);
    const char* path = nullptr;
    EXPECT_EQ(kTable.run(communicator, &request, &path), TUTTI_OK);
    EXPECT_STREQ(path, "path");
    while (!scripts[rank].begun) std::this_thread::yield();
    EXPECT_EQ(kTable.abort(communicator), TUTTI_OK);
    static_cast<Mine*>(communicator)->fail(TUTTI_TIMED_OUT, "a consequence");
    EXPECT_EQ(kTable.poll_error(communicator), TUTTI_ABORTED);
    EXPECT_STREQ(kTable.reason(communicator), "abort was called");
    std::thread later([&] {
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
      scripts[rank].goes_on = true;
    });
    EXPECT_EQ(kTable.destroy(communicator), TUTTI_ERROR);
    EXPECT_EQ(scripts[rank].logged, "destroy: would not go");
    later.join();
    device.stream_destroy(device.self, stream);
  });
}

TEST(PluginHeader, AnExceptionOfTheBackendIsNotHidden) {
  World world(1);
  world.on_all([](int rank, const tutti_world& world) {
    void* communicator = nullptr;
    ASSERT_EQ(kTable.create(&world, &communicator), TUTTI_OK);
    scripts[rank].throws = true;
    const tutti_request request = request_on(nullptr);
    const char* path = nullptr;
    EXPECT_THROW(kTable.run(communicator, &request, &path), std::runtime_error);
    EXPECT_EQ(kTable.destroy(communicator), TUTTI_OK);
  });
}

}  // namespace
