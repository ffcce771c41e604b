// What every communicator has: its world, its failure, why it last said no, work on streams. A
// backend derives from it: see backends/plugin.h.
#pragma once

#include <atomic>
#include <chrono>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

#include "backends/backend.h"

namespace tutti::plugin {

// What does not fit is cut off.
template <size_t bytes>
void copy_text(std::string_view text, char (&to)[bytes]) {
  to[text.copy(to, bytes - 1)] = '\0';
}

// Collective, where `exchange` may be called: the values of all ranks, by rank.
template <typename Value>
tutti_status gather(const tutti_world& world, const Value& mine, std::vector<Value>& all) {
  static_assert(std::is_trivially_copyable_v<Value>);
  all.resize(static_cast<size_t>(world.world));
  return world.exchange(world.self, &mine, all.data(), sizeof mine);
}

// Collective: returns when all ranks are here, or with what `exchange` says.
inline tutti_status barrier(const tutti_world& world) {
  std::vector<char> all;
  return gather(world, char{}, all);
}

// False when `limit_ms` ran out before done().
template <typename Done>
bool wait_until(uint64_t limit_ms, const Done& done) {
  const auto start = std::chrono::steady_clock::now();
  while (!done()) {
    if (std::chrono::steady_clock::now() - start > std::chrono::milliseconds(limit_ms))
      return false;
    std::this_thread::yield();
  }
  return true;
}

// Runs work() on the stream and deletes it there: it owns what it needs. 0, or the device's error,
// and then it was deleted at once.
template <typename Work>
int enqueue(const tutti_device& device, void* stream, Work work) {
  auto owned = std::make_unique<Work>(std::move(work));
  const auto call = [](void* argument) noexcept {  // the thread is not ours to throw on
    (*std::unique_ptr<Work>(static_cast<Work*>(argument)))();
  };
  const int error = device.enqueue(device.self, stream, call, owned.get());
  if (error == 0) static_cast<void>(owned.release());
  return error;
}

// What every communicator has: its world, its failure, the reason of the last answer. Unless it
// says otherwise, a function may be called on the thread of the table's functions only.
class Communicator {
 public:
  explicit Communicator(const tutti_world& world) : world_(world) {}
  Communicator(const Communicator&) = delete;
  Communicator& operator=(const Communicator&) = delete;

  const tutti_world& world() const { return world_; }            // any thread
  const tutti_device& device() const { return *world_.device; }  // any thread
  const std::string& reason() const { return reason_; }

  // The answer of a call that is not TUTTI_OK, and why.
  tutti_status say(tutti_status status, std::string reason) {
    reason_ = std::move(reason);
    return status;
  }

  // The same for what a function of the device returned: 0, or an error. What the machine cannot do
  // is a refusal.
  tutti_status check(std::string_view operation, int error) {
    if (error == 0) return TUTTI_OK;
    constexpr int kPeerAccessUnsupported = 217, kNotSupported = 801;
    const bool is_refusal = error == kPeerAccessUnsupported || error == kNotSupported;
    return say(is_refusal ? TUTTI_UNSUPPORTED : TUTTI_ERROR,
               std::string(operation) + " failed on rank " + std::to_string(world_.rank) +
                   " with " + device().error_name(device().self, error) + " (" +
                   std::to_string(error) + ")");
  }

  // Collective, where `exchange` may be called, after a step that can fail on one rank. `mine` is
  // TUTTI_OK or what say() returned here; the answer is the same on all ranks, TUTTI_OK only when
  // all say so. Otherwise one rank's status and reason become those of all: those of the first that
  // refused, as a refusal explains the failures of others, else of the first that failed.
  tutti_status agree(tutti_status mine) {
    struct Opinion {
      tutti_status status;
      char reason[240];
    } opinion{mine, ""};
    copy_text(reason_, opinion.reason);
    std::vector<Opinion> all;
    const tutti_status gathered = gather(world_, opinion, all);
    if (gathered != TUTTI_OK) return say(gathered, "a rank left while the ranks agreed");
    const Opinion* decides = nullptr;
    for (const Opinion& one : all) {
      if (one.status == TUTTI_OK) continue;
      if (!decides || (is_refusal(one.status) && !is_refusal(decides->status))) decides = &one;
    }
    return decides ? say(decides->status, decides->reason) : TUTTI_OK;
  }

  // From any thread: keeps the first failure, since what follows is its consequence. It stays, as
  // the ranks are out of step then.
  void fail(tutti_status status, std::string reason) {
    const std::lock_guard lock(mutex_);
    if (failure_ != TUTTI_OK) return;
    failure_reason_ = std::move(reason);
    failure_ = status;
  }
  tutti_status failure() const { return failure_; }  // any thread

  // Runs work() on the stream, unless the communicator has failed by then. It owns what it needs: a
  // copy of the request, say. destroy() comes after it.
  template <typename Work>
  tutti_status enqueue(void* stream, Work work) {
    ++pending_;
    const int error = plugin::enqueue(device(), stream, [this, work = std::move(work)]() mutable {
      if (Work own = std::move(work); failure() == TUTTI_OK) own();
      --pending_;  // the last that is touched: `own` is gone
    });
    if (error == 0) return TUTTI_OK;
    --pending_;
    return say(TUTTI_ERROR, "the device's stream took no work");
  }

  // From any thread: waits until done(), for as long as the deadline allows. False when the
  // communicator has failed, which it does when that time runs out.
  template <typename Done>
  bool wait(const Done& done) {
    const auto over = [&] { return failure() != TUTTI_OK || done(); };
    if (!wait_until(world_.deadline_ms, over))
      fail(TUTTI_TIMED_OUT, "a peer did not come before the deadline");
    return failure() == TUTTI_OK;
  }

  tutti_status poll_error() {
    if (failure() == TUTTI_OK) return TUTTI_OK;
    const std::lock_guard lock(mutex_);
    return say(failure_, failure_reason_);
  }
  tutti_status abort() {  // any thread
    fail(TUTTI_ABORTED, "abort was called");
    return TUTTI_OK;
  }
  // Ranks leave together: one that closes early looks dead to a peer in its last call.
  tutti_status destroy() {
    const tutti_status status = barrier(world_);
    return status == TUTTI_OK ? TUTTI_OK : say(status, "a peer left before destroy");
  }

  // Aborted work may still be about to end. False when it does not.
  bool wait_for_work() const {
    return wait_until(world_.deadline_ms, [this] { return pending_ == 0; });
  }

 private:
  static bool is_refusal(tutti_status status) {
    return status == TUTTI_UNSUPPORTED || status == TUTTI_NOT_INSTALLED;
  }

  const tutti_world world_;  // a copy: only what it points to is sure to stay
  std::string reason_ = "nothing has failed";
  std::mutex mutex_;  // of the failure and its reason
  std::atomic<tutti_status> failure_{TUTTI_OK};
  std::string failure_reason_;
  std::atomic<int> pending_{0};
};

}  // namespace tutti::plugin
