#include "backends/worker/session.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <thread>
#include <utility>

#include "backends/worker/told.h"
#include "fixtures/faults/fault.h"

namespace tutti {

using nlohmann::json;

namespace {

constexpr auto kBeforeTheDirector = std::chrono::seconds(2);  // to answer before it gives up

bool is_staged(const tutti_backend& backend, const tutti_device& device) {
  return device.kind == TUTTI_MEMORY_CUDA && !(backend.memory & TUTTI_MEMORY_CUDA);
}

}  // namespace

Session::Session(const tutti_backend& backend, SessionLinks links, SessionOptions options)
    : backend_(backend),
      links_(links),
      options_(std::move(options)),
      facts_(options_.node, options_.world) {}

// Without `destroy` the process is about to end, and a backend that may be broken still holds both:
// they are left to that end, since buffers are freed through the backend.
Session::~Session() {
  if (!communicator_) return;
  static_cast<void>(buffers_.release());
  static_cast<void>(device_.release());
}

void Session::phase(const std::string& text) { set_phase(links_.page, text.c_str()); }

void Session::moment(const char* when) {
  if (options_.faults.empty()) return;
  const int count = ++moments_[when];
  for (const Fault& fault : options_.faults) {
    const bool here =
        std::find(fault.ranks.begin(), fault.ranks.end(), options_.rank) != fault.ranks.end();
    if (!here || fault.when != when || fault.occurrence != count) continue;
    add_fired(links_.page, fmt::format("{}@{}#{}", fault.kind, fault.when, count).c_str());
    fault_kind(fault).strike(fault);
  }
}

tutti_status Session::exchange(const void* sent, void* received, std::size_t bytes) {
  ExchangeHeader header{++round_, 0};
  const std::size_t all_bytes = bytes * static_cast<std::size_t>(options_.world);
  if (bytes > kPayloadBytesMax || all_bytes + sizeof header > kPayloadBytesMax) {
    fmt::print(stderr,
               "an exchange of {} bytes from each of {} ranks is more than the {} it may be\n",
               bytes, options_.world, kPayloadBytesMax);
    return TUTTI_ERROR;
  }
  const std::string before = links_.page->phase;
  phase("exchange with all ranks, during " + before);
  std::string payload(reinterpret_cast<const char*>(&header), sizeof header);
  links_.channel.send(
      {Kind::exchange, links_.world, payload.append(static_cast<const char*>(sent), bytes)});
  const auto until = is_creating_ ? exchange_until_
                                  : std::chrono::steady_clock::now() +
                                        std::chrono::milliseconds(options_.deadline_ms);
  tutti_status status = TUTTI_TIMED_OUT;
  while (const auto reply = links_.channel.receive(until)) {
    status = TUTTI_ERROR;
    if (reply->kind != Kind::exchange_reply || reply->payload.size() < sizeof header) break;
    std::memcpy(&header, reply->payload.data(), sizeof header);
    if (header.round != round_) {  // late: its round has timed out
      status = TUTTI_TIMED_OUT;
      continue;
    }
    status = static_cast<tutti_status>(header.status);
    if (status != TUTTI_OK) break;
    if (reply->payload.size() != sizeof header + all_bytes) return TUTTI_ERROR;
    std::memcpy(received, reply->payload.data() + sizeof header, all_bytes);
    break;
  }
  phase(before);
  return status;
}

// What a dead worker left on the device is seen here, before a backend is blamed for it.
void Session::open_and_check_device() {
  phase("opening the device");
  device_ =
      open_device(options_.node.device_kind, facts_.abi(), options_.rank, options_.library_folder);
  const tutti_device& device = device_->services();
  const auto check = [&](int code, const char* what) {
    if (code == 0) return;
    throw DeviceError(fmt::format("the device does not work, {}: {}", what,
                                  device.error_name(device.self, code)));
  };
  constexpr std::size_t kBytes = 4096;
  constexpr char kByte = 0x5a;
  void* memory = nullptr;
  check(device.allocate(device.self, kBytes, &memory), "allocating");
  check(device.fill(device.self, memory, kByte, kBytes, nullptr), "filling");
  std::string back(kBytes, '\0');
  check(device.copy(device.self, back.data(), memory, kBytes, nullptr), "copying back");
  check(device.release(device.self, memory), "releasing");
  if (back != std::string(kBytes, kByte))
    throw DeviceError("the device does not work: what was written does not come back");
  check(device.stream_create(device.self, &stream_), "creating a stream");
}

void Session::fill_in_world() {
  world_.size = sizeof world_;
  world_.rank = options_.rank;
  world_.world = options_.world;
  world_.local_rank = facts_.local_rank(options_.rank);
  world_.local_size = facts_.local_size(options_.rank);
  world_.facts = &facts_.abi();
  world_.device = &device_->services();
  world_.deadline_ms = options_.deadline_ms;
  world_.self = this;
  world_.exchange = [](void* self, const void* sent, void* received, std::size_t bytes) {
    return static_cast<Session*>(self)->exchange(sent, received, bytes);
  };
  world_.log = [](void*, const char* line) { fmt::print(stderr, "{}\n", line ? line : ""); };
}

json Session::create() {
  return told(links_.page, [this]() -> json {
    // Peers may be slow to open their devices, so a wait for them has the time that `create` has.
    exchange_until_ = std::chrono::steady_clock::now() +
                      std::chrono::milliseconds(options_.create_timeout_ms) - kBeforeTheDirector;
    open_and_check_device();
    fill_in_world();
    moment("create");
    phase("create");
    round_ = 0;
    is_creating_ = true;
    const tutti_status status = backend_call(backend_.create, &world_, &communicator_);
    is_creating_ = false;
    json answer{{"status", status}};
    if (status == TUTTI_OK) {
      buffers_ = std::make_unique<Buffers>(backend_, communicator_, device_->services(),
                                           is_staged(backend_, device_->services()));
    } else {
      communicator_ = nullptr;
      answer["reason"] = reason_of(backend_, nullptr);
    }
    phase("idle");
    return answer;
  });
}

json Session::run(RunMode mode, const Case& one_case) {
  return told(links_.page, [&]() -> json {
    if (!buffers_) throw std::runtime_error("run without a communicator");
    device_->set_delays(one_case.delays);
    round_ = 0;
    try {
      return run_steps(mode, one_case);
    } catch (const BackendDeclined& answer) {
      return declined(answer);
    }
  });
}

json Session::verify_all() {
  return told(links_.page, [this]() -> json {
    json answer = json::array();
    for (CallState& state : calls_) {
      if (!is_stuck_ && !has_failed_) answer.push_back(judge(state, true));
    }
    return {{"calls", answer}};
  });
}

json Session::destroy() {
  return told(links_.page, [this]() -> json {
    moment("destroy");
    phase("destroy");
    round_ = 0;
    buffers_.reset();
    json answer{{"status", TUTTI_OK}};
    if (communicator_) {
      answer["status"] = backend_call(backend_.destroy, std::exchange(communicator_, nullptr));
    }
    if (device_) {
      const tutti_device& device = device_->services();
      if (stream_) device.stream_destroy(device.self, stream_);
      stream_ = nullptr;
      answer["leaks"] = device_->leaks();
      device_.reset();
    }
    phase("idle");
    return answer;
  });
}

}  // namespace tutti
