// The communicator of a backend that is one kernel over peer memory: the regions of all ranks,
// mapped, and the words by which host and kernel talk. A backend derives from it and adds what
// backends/plugin.h asks for: its name, its path and decide() (see decide.h).
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <new>

#include "backends/peer_kernels/decide.h"
#include "backends/peer_kernels/launch_host.h"
#include "backends/plugin.h"
#include "kernels/rounds.h"

namespace tutti::peer_kernels {

template <typename Kernel>
class Communicator : public plugin::Communicator {
 public:
#if defined(TUTTI_PEER_KERNELS_CUDA)
  static constexpr bool kHasCuda = true;
#else
  static constexpr bool kHasCuda = false;
#endif
  static constexpr std::uint32_t kMemory = TUTTI_MEMORY_HOST | (kHasCuda ? TUTTI_MEMORY_CUDA : 0u);

  using plugin::Communicator::Communicator;

  tutti_status create() {
    tutti_status status = agree(make_control());
    if (status == TUTTI_OK) status = memory_.open("region");
    if (status != TUTTI_OK) release_control();
    return status;
  }

  tutti_status run(const tutti_request& request, const char*) {
    const tutti_status earlier = poll_error();
    if (earlier != TUTTI_OK || request.count == 0) return earlier;
    return check("enqueuing the kernel", launch_in_order(request));
  }

  tutti_status poll_error() {
    const std::uint32_t status = std::atomic_ref(control_->status).load();
    if (status == kRoundAborted || std::atomic_ref(control_->abort).load() != 0) {
      return say(TUTTI_ABORTED, "abort was called");
    }
    if (status == kRoundFine) return TUTTI_OK;
    return say(TUTTI_TIMED_OUT, fmt::format("rank {} waited {} ms for a peer's flag", world().rank,
                                            world().deadline_ms));
  }

  tutti_status abort() {
    std::atomic_ref(control_->abort).store(1);
    return TUTTI_OK;
  }

  tutti_status destroy() {
    // After an abort the kernel may still be about to notice it, and needs its memory until then.
    if (ran_ && std::atomic_ref(control_->abort).load() != 0) {
      device().stream_synchronize(device().self, last_stream_);
    }
    const tutti_status status = memory_.close();
    release_control();
    return status;
  }

 private:
  // What a rank exports: peers reach into the region; the state is for itself only.
  struct Memory {
    typename Kernel::Region region;
    RoundState state;
  };
  using Call = PeerCall<typename Kernel::Region>;

  tutti_status make_control() {
    void* control = nullptr;
    const int error = device().allocate_staging(device().self, sizeof(RoundControl), &control);
    if (error != 0) return check("allocating the control words", error);
    control_ = new (control) RoundControl{};
    return check("creating an event", device().event_create(device().self, &event_));
  }

  void release_control() {
    if (event_ != nullptr) device().event_destroy(device().self, event_);
    if (control_ != nullptr) device().release_staging(device().self, control_);
    event_ = nullptr;
    control_ = nullptr;
  }

  Call arguments() const {
    Call call{};
    for (int peer = 0; peer < world().world; ++peer) call.regions[peer] = &memory_[peer].region;
    call.state = &memory_[world().rank].state;
    call.control = control_;
    call.deadline_ns = world().deadline_ms * 1'000'000;
    call.rank = world().rank;
    call.world = world().world;
    return call;
  }

  // The protocol asks for calls in stream order, so a call on another stream waits for the one
  // before it. Not in a stream that is being captured: what a graph may wait for is the business of
  // who replays it.
  int launch_in_order(const tutti_request& request) {
    bool captured = false;
    int error = is_captured(request.stream, &captured);
    if (error == 0 && ran_ && !captured && request.stream != last_stream_) {
      error = device().event_wait(device().self, event_, request.stream);
    }
    if (error == 0) error = launch(request);
    if (error != 0 || captured) return error;
    ran_ = true;
    last_stream_ = request.stream;
    return device().event_record(device().self, event_, request.stream);
  }

  int launch(const tutti_request& request) {
    const std::size_t element = bytes_of(request.dtype);
    const std::uint64_t most = Kernel::most_bytes / element;
    Call call = arguments();
    call.op = request.op;
    for (std::uint64_t first = 0; first < request.count; first += most) {
      call.send = static_cast<const char*>(request.send) + first * element;
      call.recv = static_cast<char*>(request.recv) + first * element;
      call.count = std::min(most, request.count - first);
      const int error = launch_one(request, call);
      if (error != 0) return error;
    }
    return 0;
  }

  int launch_one(const tutti_request& request, const Call& call) const {
    if constexpr (kHasCuda) {
      if (device().kind == TUTTI_MEMORY_CUDA) {
        return launch_on_cuda<Kernel>(device_index(), request.stream, request.dtype, call);
      }
    }
    return launch_on_host<Kernel>(device(), request.stream, request.dtype, call);
  }

  int is_captured([[maybe_unused]] void* stream, bool* captured) const {
    *captured = false;
    if constexpr (kHasCuda) {
      if (device().kind == TUTTI_MEMORY_CUDA) return is_capturing(device_index(), stream, captured);
    }
    return 0;
  }

  int device_index() const { return world().facts->ranks[world().rank].device_index; }

  plugin::PeerMemory<Memory> memory_{*this};
  RoundControl* control_ = nullptr;
  void* event_ = nullptr;  // after the last call
  void* last_stream_ = nullptr;
  bool ran_ = false;
};

}  // namespace tutti::peer_kernels
