// What goes into a call and what came out of it: on the host, or for large calls on the device,
// where it lies. The host's inputs and verdicts are the device's; it alone explains.
#include <algorithm>
#include <cstring>

#include "backends/worker/session.h"

namespace tutti {

namespace {

constexpr std::uint64_t kDeviceBytesMin = 1u << 20;  // below, launches cost more than they spare

}  // namespace

// From what all ranks know alike, since hashes of one device and of the host differ.
bool Session::is_on_device(const CallState& state) {
  return device_->data_kernels() && state.send.bytes >= kDeviceBytesMin &&
         device_->data_kernels()->covers(state.key);
}

// The device draws what the host would.
void Session::write_input(CallState& state) {
  const Allreduce& call = state.call;
  const auto world = static_cast<std::uint64_t>(options_.world);
  const int rank =
      static_cast<int>((static_cast<std::uint64_t>(options_.rank) + call.rotate) % world);
  if (state.on_device && call.scale == 0) {
    buffers_->guards_to_device(state.send);
    device_->data_kernels()->fill(state.key, rank, 0, call.count, buffers_->on_device(state.send));
    return;
  }
  generate_input(state.key, rank, 0, call.count, state.send.mirror());
  if (call.scale) scale_numbers(call.dtype, call.count, call.scale, state.send.mirror());
  buffers_->to_device(state.send);
}

void Session::write_buffers(CallState& state) {
  state.on_device = is_on_device(state);
  write_input(state);
  state.input_hash = input_hash(state);
  if (state.call.place == Place::in) return;
  const int poison = poison_byte(state.key.call);
  if (state.on_device) {
    const tutti_device& device = device_->services();
    buffers_->guards_to_device(state.recv);
    const int code = device.fill(device.self, buffers_->on_device(state.recv), poison,
                                 state.recv.bytes, nullptr);
    if (code != 0) throw DeviceError("poisoning an output failed");
  } else {
    std::memset(state.recv.mirror(), poison, state.recv.bytes);
    buffers_->to_device(state.recv);
  }
}

// What is judged of memory by the host: the guards, and all where there are no kernels for it.
void Session::fetch(const CallState& state, const Buffer& buffer) const {
  if (state.on_device) {
    buffers_->guards_from_device(buffer);
  } else {
    buffers_->from_device(buffer);
  }
}

std::uint64_t Session::input_hash(const CallState& state) {
  if (!state.on_device) return hash_bytes(state.send.mirror(), state.send.bytes);
  return device_->data_kernels()->hash(buffers_->on_device(state.send), state.send.bytes);
}

bool Session::is_poisoned(const CallState& state) const {
  if (state.on_device) buffers_->from_device(state.recv);
  const char* first = state.recv.mirror();
  const auto poison = static_cast<char>(poison_byte(state.key.call));
  return std::all_of(first, first + state.recv.bytes, [&](char byte) { return byte == poison; });
}

// Hashes of all shares, and what the device says of this rank's: nothing is wrong, or the host has
// to look.
nlohmann::json Session::hashes_of(const CallState& state, bool all_shares,
                                  std::optional<Check>& verdict) {
  if (state.on_device && !all_shares) {
    const DataVerdict told =
        device_->data_kernels()->verify(state.key, options_.numerics, state.call.count,
                                        options_.rank, buffers_->on_device(state.recv));
    if (told.wrong == 0) {
      verdict.emplace();
      verdict->max_error = told.max_error;
      verdict->bound_hides_contribution = told.bound_hides_contribution;
    } else {
      buffers_->from_device(state.recv);
    }
    return told.hashes;
  }
  if (state.on_device) buffers_->from_device(state.recv);
  return hash_shares(state.key, state.call.count, state.recv.mirror());
}

}  // namespace tutti
