#include "backends/one_shot/communicator.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <new>
#include <string_view>
#include <utility>

#include "backends/one_shot/decide.h"
#include "backends/one_shot/launch.h"

namespace tutti::one_shot {
namespace {

constexpr int kPeerAccessUnsupported = 217;  // cudaErrorPeerAccessUnsupported

}  // namespace

struct Communicator::Report {
  std::int32_t status = TUTTI_OK;
  tutti_memory_handle handle{};
  char reason[200] = "";
};

tutti_status Communicator::fail(tutti_status status, std::string reason) {
  reason_ = std::move(reason);
  return status;
}

tutti_status Communicator::fail_in_device(const std::string& operation, int error) {
  const tutti_status status = error == kPeerAccessUnsupported ? TUTTI_UNSUPPORTED : TUTTI_ERROR;
  return fail(status, fmt::format("{} failed on rank {} with {} ({})", operation, world_.rank,
                                  device_.error_name(device_.self, error), error));
}

// Tells the peers how it went here. The first rank that failed decides for all.
tutti_status Communicator::agree(tutti_status own, Report& report, std::vector<Report>& reports) {
  report.status = own;
  if (own != TUTTI_OK) {
    const std::size_t length = std::min(reason_.size(), sizeof report.reason - 1);
    std::memcpy(report.reason, reason_.data(), length);
    report.reason[length] = '\0';
  }
  const tutti_status exchanged =
      world_.exchange(world_.self, &report, reports.data(), sizeof report);
  if (exchanged != TUTTI_OK) return fail(exchanged, "a peer left during create");
  for (const Report& peer : reports) {
    if (peer.status != TUTTI_OK) return fail(static_cast<tutti_status>(peer.status), peer.reason);
  }
  return TUTTI_OK;
}

tutti_status Communicator::create() {
  Report report;
  std::vector<Report> reports(static_cast<std::size_t>(world_.world));
  const std::string refusal = refusal_of_world(facts());
  const tutti_status allocated =
      refusal.empty() ? allocate(report) : fail(TUTTI_UNSUPPORTED, refusal);
  tutti_status status = agree(allocated, report, reports);
  if (status != TUTTI_OK) {
    release();
    return status;
  }
  status = agree(import_peers(reports), report, reports);
  if (status != TUTTI_OK) leave();
  return status;
}

tutti_status Communicator::allocate(Report& report) {
  void* memory = nullptr;
  int error = device_.allocate(device_.self, sizeof(Memory), &memory);
  if (error != 0) return fail_in_device("allocating the region", error);
  memory_ = static_cast<Memory*>(memory);
  void* control = nullptr;
  error = device_.allocate_staging(device_.self, sizeof(OneShotControl), &control);
  if (error != 0) return fail_in_device("allocating the control words", error);
  control_ = new (control) OneShotControl{};
  error = device_.event_create(device_.self, &event_);
  if (error != 0) return fail_in_device("creating an event", error);
  error = device_.export_memory(device_.self, memory_, &report.handle);
  return error == 0 ? TUTTI_OK : fail_in_device("exporting the region", error);
}

tutti_status Communicator::import_peers(const std::vector<Report>& reports) {
  imports_.resize(reports.size());
  for (int peer = 0; peer < world_.world; ++peer) {
    if (peer == world_.rank) continue;
    const int error =
        device_.import_memory(device_.self, &reports[peer].handle, peer, &imports_[peer]);
    if (error != 0) {
      return fail_in_device(fmt::format("importing the region of rank {}", peer), error);
    }
  }
  return TUTTI_OK;
}

void Communicator::release() {
  if (event_ != nullptr) device_.event_destroy(device_.self, event_);
  if (control_ != nullptr) device_.release_staging(device_.self, control_);
  if (memory_ != nullptr) device_.release(device_.self, memory_);
  event_ = nullptr;
  control_ = nullptr;
  memory_ = nullptr;
}

// Nobody frees memory that a peer still maps: on CUDA that is undefined.
tutti_status Communicator::leave() {
  for (void* import : imports_) {
    if (import != nullptr) device_.close_memory(device_.self, import);
  }
  imports_.clear();
  const char sent = 0;
  std::vector<char> received(static_cast<std::size_t>(world_.world));
  const tutti_status exchanged = world_.exchange(world_.self, &sent, received.data(), sizeof sent);
  release();
  return exchanged;
}

tutti_status Communicator::destroy() {
  // After an abort the kernel may still be about to notice it, and needs its memory until then.
  if (ran_ && std::atomic_ref(control_->abort).load() != 0) {
    device_.stream_synchronize(device_.self, last_stream_);
  }
  const tutti_status left = leave();
  return left == TUTTI_OK ? TUTTI_OK : fail(left, "a peer left before destroy");
}

tutti_status Communicator::poll_error() {
  const std::uint32_t status = std::atomic_ref(control_->status).load();
  if (status == kOneShotAborted || std::atomic_ref(control_->abort).load() != 0) {
    return fail(TUTTI_ABORTED, "abort was called");
  }
  if (status == kOneShotFine) return TUTTI_OK;
  return fail(TUTTI_TIMED_OUT, fmt::format("rank {} waited {} ms for a peer's flag", world_.rank,
                                           world_.deadline_ms));
}

void Communicator::abort() { std::atomic_ref(control_->abort).store(1); }

OneShotArguments Communicator::arguments() const {
  OneShotArguments call{};
  for (int peer = 0; peer < world_.world; ++peer) {
    Memory* memory = peer == world_.rank ? memory_ : static_cast<Memory*>(imports_[peer]);
    call.regions[peer] = &memory->region;
  }
  call.state = &memory_->state;
  call.control = control_;
  call.deadline_ns = world_.deadline_ms * 1'000'000;
  call.rank = world_.rank;
  call.world = world_.world;
  return call;
}

int Communicator::launch_chunk(const tutti_request& request, const OneShotArguments& call) const {
#if defined(ONE_SHOT_CUDA)
  if (device_.kind == TUTTI_MEMORY_CUDA) {
    return launch_on_cuda(device_index(), request.stream, request.dtype, request.op, call);
  }
#endif
  return launch_on_host(device_, request.stream, request.dtype, request.op, call);
}

int Communicator::is_captured([[maybe_unused]] void* stream, bool* captured) const {
  *captured = false;
#if defined(ONE_SHOT_CUDA)
  if (device_.kind == TUTTI_MEMORY_CUDA) return is_capturing(device_index(), stream, captured);
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
    error = device_.event_wait(device_.self, event_, request.stream);
  }
  if (error == 0) error = launch(request);
  if (error != 0 || captured) return error;
  ran_ = true;
  last_stream_ = request.stream;
  return device_.event_record(device_.self, event_, request.stream);
}

tutti_status Communicator::run(const tutti_request& request) {
  const tutti_status earlier = poll_error();
  if (earlier != TUTTI_OK || request.count == 0) return earlier;
  const int error = launch_in_order(request);
  return error == 0 ? TUTTI_OK : fail_in_device("enqueuing the kernel", error);
}

}  // namespace tutti::one_shot
