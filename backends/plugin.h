// A backend in C++ without its boilerplate: a class with few functions, of which TUTTI_PLUGIN makes
// the table of backend.h. It needs C++20 and nothing but that header, and is no part of the
// contract: tutti sees the table only, and a backend in C fills that in by itself.
//
//     class Mine : public tutti::plugin::Communicator {
//      public:
//       static constexpr const char* kName = "mine";  // these three: see tutti_backend
//       static constexpr uint32_t kMemory = TUTTI_MEMORY_HOST;
//       static constexpr const char* kPaths[] = {"ring", nullptr};
//       static const char* version();
//       static Decision decide(const tutti_facts& facts, const tutti_request* request);
//       using Communicator::Communicator;
//       tutti_status create();
//       tutti_status run(const tutti_request& request, const char* path);
//     };
//     TUTTI_PLUGIN(Mine)
//
// * decide: take(one of kPaths) or refuse(why), for plan, create (request null) and run. It is
// pure,
//   called from any thread, and not told which rank asks, so that all ranks decide the same. What
//   it refuses never gets to create and run; run is given the path that it took.
// * create: every rank takes every step, and all agree() before any of them gives up. On anything
//   but TUTTI_OK it has undone its steps, and the object goes without destroy().
// * run: enqueue()s the work, and returns.
// * paths(): in place of kPaths, where the library knows them; the same array at every call.
// * A class that needs other than Communicator's destroy(), poll_error() and abort() has its own.
//   allocate(), free_buffer() and register_buffer() are for buffers that must be the backend's.
//
// Threads, ordering, units and bounds are those of backend.h. What is not TUTTI_OK is returned with
// say() when the call itself failed, and given to fail() when work on a stream did.
//
// Exceptions are not caught here, on purpose: one that leaves a backend is a bug, which tutti
// reports as a crash with its text; in work on a stream it ends the process, and is a crash as
// well. As a status it would look like an answer, and on one rank alone it would leave the others
// waiting. A backend whose library throws catches where it calls that, and says what it means.
#pragma once

#include <algorithm>
#include <cstring>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>

#include "backends/backend.h"
#include "backends/plugin/communicator.h"
#include "backends/plugin/peer_memory.h"

namespace tutti::plugin {

struct Decision {
  const char* path;    // null: refused
  std::string reason;  // of a refusal
};
inline Decision take(const char* path) { return {path, {}}; }
inline Decision refuse(std::string reason) { return {nullptr, std::move(reason)}; }

// Whether every rank may import the memory of every other, and can give its own away by the device
// services, which use CUDA IPC.
inline bool can_share_memory(const tutti_facts& facts) {
  return std::none_of(facts.ranks, facts.ranks + facts.world, [&](const tutti_rank_facts& rank) {
    return (rank.handles & TUTTI_HANDLE_CUDA_IPC) == 0 ||
           std::memchr(rank.peer_access, 0, static_cast<size_t>(facts.world)) != nullptr;
  });
}

// The table of a backend. Hidden, or the loader would share it among plugins of one process.
template <typename Backend>
struct __attribute__((visibility("hidden"))) Table {
  static tutti_status plan(const tutti_facts* facts, int32_t, const tutti_request* request,
                           tutti_plan* plan) {
    const Decision decision = Backend::decide(*facts, request);
    plan->answer = decision.path ? TUTTI_PLAN_PATH : TUTTI_PLAN_REFUSED;
    copy_text(decision.path ? std::string_view(decision.path) : decision.reason, plan->text);
    return TUTTI_OK;
  }

  static tutti_status create(const tutti_world* world, void** communicator) {
    auto made = std::make_unique<Backend>(*world);
    const Decision decision = Backend::decide(*world->facts, nullptr);
    const tutti_status status =
        decision.path ? made->create() : made->say(TUTTI_UNSUPPORTED, decision.reason);
    if (status == TUTTI_OK) {
      *communicator = made.release();
      return TUTTI_OK;
    }
    const std::lock_guard lock(create_mutex);
    create_reason = made->reason();
    return status;
  }

  static tutti_status run(void* communicator, const tutti_request* request, const char** path) {
    Backend& self = of(communicator);
    const Decision decision = Backend::decide(*self.world().facts, request);
    if (!decision.path) return self.say(TUTTI_UNSUPPORTED, decision.reason);
    const tutti_status status = self.run(*request, decision.path);
    if (status == TUTTI_OK) *path = decision.path;
    return status;
  }

  static tutti_status destroy(void* communicator) {
    std::unique_ptr<Backend> self(&of(communicator));
    const tutti_world& world = self->world();
    if (!self->wait_for_work()) {
      world.log(world.self, "destroy: work does not end, so what it uses is not freed");
      static_cast<void>(self.release());
      return TUTTI_TIMED_OUT;
    }
    const tutti_status status = self->destroy();
    if (status != TUTTI_OK) world.log(world.self, ("destroy: " + self->reason()).c_str());
    return status;
  }

  static const char* reason(void* communicator) {
    if (communicator) return of(communicator).reason().c_str();
    static thread_local std::string told;  // stays as it is when another thread's create fails
    const std::lock_guard lock(create_mutex);
    told = create_reason;
    return told.c_str();
  }

  static tutti_backend make() {
    tutti_backend table = {
        .size = sizeof(tutti_backend),
        .abi_version = TUTTI_ABI_VERSION,
        .name = Backend::kName,
        .memory = Backend::kMemory,
        .paths = paths(),
        .version = Backend::version,
        .plan = plan,
        .create = create,
        .run = run,
        .poll_error = [](void* self) { return of(self).poll_error(); },
        .abort = [](void* self) { return of(self).abort(); },
        .destroy = destroy,
        .reason = reason,
        .allocate = nullptr,
        .free_buffer = nullptr,
        .register_buffer = nullptr,
    };
    if constexpr (requires { &Backend::register_buffer; }) {
      table.allocate = [](void* self, size_t bytes, void** to) {
        return of(self).allocate(bytes, to);
      };
      table.free_buffer = [](void* self, void* memory) { return of(self).free_buffer(memory); };
      table.register_buffer = [](void* self, void* memory, size_t bytes) {
        return of(self).register_buffer(memory, bytes);
      };
    }
    return table;
  }

 private:
  static const char* const* paths() {
    if constexpr (requires { Backend::paths(); }) {
      return Backend::paths();
    } else {
      return Backend::kPaths;
    }
  }
  static Backend& of(void* communicator) { return *static_cast<Backend*>(communicator); }

  static inline std::mutex create_mutex;  // ranks may be threads of one process
  static inline std::string create_reason = "no create has failed";
};

}  // namespace tutti::plugin

// Exports the table of the class; once, at global scope.
#define TUTTI_PLUGIN(Backend)                                                                 \
  extern "C" __attribute__((visibility("default"))) const tutti_backend* tutti_plugin(void) { \
    static const tutti_backend table = tutti::plugin::Table<Backend>::make();                 \
    return &table;                                                                            \
  }
