#include "backends/one_shot/communicator.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <new>

#include "backends/one_shot/launch.h"

namespace tutti::one_shot {

tutti_status Communicator::create() {
  tutti_status status = agree(make_control());
  if (status == TUTTI_OK) status = memory_.open("region");
  if (status != TUTTI_OK) release_control();
  return status;
}

tutti_status Communicator::make_control() {
  void* control = nullptr;
  const int error = device().allocate_staging(device().self, sizeof(OneShotControl), &control);
  if (error != 0) return check("allocating the control words", error);
  control_ = new (control) OneShotControl{};
  return check("creating an event", device().event_create(device().self, &event_));
}

void Communicator::release_control() {
  if (event_ != nullptr) device().event_destroy(device().self, event_);
  if (control_ != nullptr) device().release_staging(device().self, control_);
  event_ = nullptr;
  control_ = nullptr;
}

tutti_status Communicator::destroy() {
  // After an abort the kernel may still be about to notice it, and needs its memory until then.
  if (ran_ && std::atomic_ref(control_->abort).load() != 0) {
    device().stream_synchronize(device().self, last_stream_);
  }
  const tutti_status status = memory_.close();
  release_control();
  return status;
}

tutti_status Communicator::poll_error() {
  const std::uint32_t status = std::atomic_ref(control_->status).load();
  if (status == kOneShotAborted || std::atomic_ref(control_->abort).load() != 0) {
    return say(TUTTI_ABORTED, "abort was called");
  }
  if (status == kOneShotFine) return TUTTI_OK;
  return say(TUTTI_TIMED_OUT, fmt::format("rank {} waited {} ms for a peer's flag", world().rank,
                                          world().deadline_ms));
}

tutti_status Communicator::abort() {
  std::atomic_ref(control_->abort).store(1);
  return TUTTI_OK;
}

OneShotArguments Communicator::arguments() const {
  OneShotArguments call{};
  for (int peer = 0; peer < world().world; ++peer) call.regions[peer] = &memory_[peer].region;
  call.state = &memory_[world().rank].state;
  call.control = control_;
  call.deadline_ns = world().deadline_ms * 1'000'000;
  call.rank = world().rank;
  call.world = world().world;
  return call;
}

int Communicator::launch_chunk(const tutti_request& request, const OneShotArguments& call) const {
#if defined(ONE_SHOT_CUDA)
  if (device().kind == TUTTI_MEMORY_CUDA) {
    return launch_on_cuda(device_index(), request.stream, request.dtype, request.op, call);
  }
#endif
  return launch_on_host(device(), request.stream, request.dtype, request.op, call);
}

int Communicator::is_captured([[maybe_unused]] void* stream, bool* captured) const {
  *captured = false;
#if defined(ONE_SHOT_CUDA)
  if (device().kind == TUTTI_MEMORY_CUDA) return is_capturing(device_index(), stream, captured);
#endif
  return 0;
}

int Communicator::launch(const tutti_request& request) {
  const std::size_t element = bytes_of(request.dtype);
  const std::uint64_t most = kOneShotSlotBytes / element;
  OneShotArguments call = arguments();
  for (std::uint64_t first = 0; first < request.count; first += most) {
    call.send = static_cast<const char*>(request.send) + first * element;
    call.recv = static_cast<char*>(request.recv) + first * element;
    call.count = std::min(most, request.count - first);
    const int error = launch_chunk(request, call);
    if (error != 0) return error;
  }
  return 0;
}

// The protocol asks for calls in stream order, so a call on another stream waits for the one before
// it. Not in a stream that is being captured: what a graph may wait for is the business of who
// replays it.
int Communicator::launch_in_order(const tutti_request& request) {
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

tutti_status Communicator::run(const tutti_request& request, const char*) {
  const tutti_status earlier = poll_error();
  if (earlier != TUTTI_OK || request.count == 0) return earlier;
  return check("enqueuing the kernel", launch_in_order(request));
}

}  // namespace tutti::one_shot

TUTTI_PLUGIN(tutti::one_shot::Communicator)
