// Calls back to back, timed where they are made: in the worker. What they come to is checked, so
// that nothing fast and wrong is told.
#include <chrono>

#include "backends/worker/session.h"
#include "backends/worker/told.h"

namespace tutti {

using nlohmann::json;

namespace {

constexpr std::uint32_t kBurstCall = 0;

}  // namespace

// Begins when all ranks are here.
void Session::meet() {
  const char here = 1;
  std::string all(static_cast<std::size_t>(options_.world), '\0');
  if (exchange(&here, all.data(), 1) != TUTTI_OK) throw DeviceError("a rank did not come");
}

void Session::run_once(const CallState& state) {
  tutti_request request = request_of(state, {0, state.call.count});
  const char* taken = nullptr;
  const tutti_status status = backend_call(backend_.run, communicator_, &request, &taken);
  if (status != TUTTI_OK) throw BackendDeclined(status, reason_of(backend_, communicator_));
}

void Session::finish_burst() {
  const tutti_device& device = device_->services();
  if (const int code = device.stream_synchronize(device.self, stream_))
    throw DeviceError(device.error_name(device.self, code));
  const tutti_status polled = backend_call(backend_.poll_error, communicator_);
  if (polled != TUTTI_OK) throw BackendDeclined(polled, reason_of(backend_, communicator_));
}

double Session::micros_a_call(Recording& recording, const Burst& burst) {
  meet();
  const auto start = std::chrono::steady_clock::now();
  for (int replay = 0; replay < burst.replays; ++replay) recording.replay();
  finish_burst();
  const std::chrono::duration<double, std::micro> took = std::chrono::steady_clock::now() - start;
  return took.count() / burst.replays / burst.calls;
}

// The first call is made by itself: libraries connect their ranks in it.
json Session::time_burst(const Burst& burst) {
  if (buffers_->is_staged())
    throw BackendDeclined(TUTTI_UNSUPPORTED,
                          "it takes host memory only, and copies would be timed");
  buffers_->release_all();
  calls_.clear();
  CallState& state = calls_.emplace_back();
  state.call.count = burst.bytes / sizeof(float);
  state.call.data = DataClass::exact;
  state.key = {1, kBurstCall, options_.world, state.call.dtype, state.call.op, state.call.data};
  prepare(state);
  phase("the first call of a burst");
  run_once(state);
  finish_burst();
  phase("recording a burst");
  const auto recording = device_->record(stream_, [&] {
    for (int call = 0; call < burst.calls; ++call) run_once(state);
  });
  phase("a burst");
  json micros = json::array();
  for (int sample = -1; sample < burst.samples; ++sample) {
    const double taken = micros_a_call(*recording, burst);
    if (sample >= 0) micros.push_back(taken);  // the one before warms up
  }
  const json told = judge(state, false);
  phase("idle");
  if (told.contains("corrupt")) throw DeviceError(told["corrupt"].get<std::string>());
  if (told["check"].contains("wrong")) throw DeviceError(told["check"]["why"].get<std::string>());
  return {{"micros", micros}};
}

json Session::burst(const Burst& burst) {
  return told(links_.page, [&]() -> json {
    if (!buffers_) throw std::runtime_error("a burst without a communicator");
    device_->set_delays(0);
    round_ = 0;
    try {
      return time_burst(burst);
    } catch (const BackendDeclined& answer) {
      return {{"declined", name_of(answer.status) + ": " + answer.what()}};
    }
  });
}

}  // namespace tutti
