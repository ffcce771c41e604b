#include "backends/worker/session.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <thread>

#include "fixtures/faults/fault.h"

namespace tutti {

using nlohmann::json;

namespace {

constexpr std::size_t kEarlierCallsMax = 16;
constexpr int kNotReady = 600;  // cudaErrorNotReady

bool is_staged(const tutti_backend& backend, const tutti_device& device) {
  return device.kind == TUTTI_MEMORY_CUDA && !(backend.memory & TUTTI_MEMORY_CUDA);
}

// An exception is an answer, too; so is what fired.
template <typename Body>
json told(const WorkerPage* page, Body body) {
  json answer;
  try {
    answer = body();
  } catch (const std::exception& error) {
    answer = {{"threw", error.what()}};
  } catch (...) {
    answer = {{"threw", "an exception that is no std::exception"}};
  }
  if (page->fired[0]) answer["fired"] = page->fired;
  return answer;
}

}  // namespace

Session::Session(const tutti_backend& backend, SessionLinks links, SessionOptions options)
    : backend_(backend),
      links_(links),
      options_(std::move(options)),
      facts_(options_.node, options_.world) {}

// The process is about to end or the rank was told; nothing is freed that `destroy` did not free.
Session::~Session() = default;

void Session::phase(const std::string& text) { set_phase(links_.page, text.c_str()); }

void Session::moment(const char* when) {
  if (options_.faults.empty()) return;
  const int count = ++moments_[when];
  for (const Fault& fault : options_.faults) {
    const bool here =
        std::find(fault.ranks.begin(), fault.ranks.end(), options_.rank) != fault.ranks.end();
    if (!here || fault.when != when || fault.occurrence != count) continue;
    add_fired(links_.page, fmt::format("{}@{}", fault.kind, fault.when).c_str());
    fault_kind(fault).strike(fault);
  }
}

tutti_status Session::exchange(const void* sent, void* received, std::size_t bytes) {
  const std::string before = links_.page->phase;
  phase("exchange with all ranks, during " + before);
  links_.channel.send(
      {Kind::exchange, links_.world, std::string(static_cast<const char*>(sent), bytes)});
  const auto until =
      std::chrono::steady_clock::now() + std::chrono::milliseconds(options_.deadline_ms);
  const auto reply = links_.channel.receive(until);
  phase(before);
  if (!reply) return TUTTI_TIMED_OUT;
  if (reply->kind != Kind::exchange_reply || reply->payload.empty()) return TUTTI_ERROR;
  const auto status = static_cast<tutti_status>(reply->payload[0]);
  if (status != TUTTI_OK) return status;
  if (reply->payload.size() != 1 + bytes * static_cast<std::size_t>(options_.world))
    return TUTTI_ERROR;
  std::memcpy(received, reply->payload.data() + 1, reply->payload.size() - 1);
  return TUTTI_OK;
}

json Session::create() {
  return told(links_.page, [this]() -> json {
    phase("opening the device");
    const std::string kind = options_.node.device_kind;
    device_ = open_device(kind, facts_.abi(), options_.rank, options_.library_folder);
    const tutti_device& device = device_->services();
    world_.size = sizeof world_;
    world_.rank = options_.rank;
    world_.world = options_.world;
    world_.local_rank = facts_.local_rank(options_.rank);
    world_.local_size = facts_.local_size(options_.rank);
    world_.facts = &facts_.abi();
    world_.device = &device;
    world_.deadline_ms = options_.deadline_ms;
    world_.self = this;
    world_.exchange = [](void* self, const void* sent, void* received, std::size_t bytes) {
      return static_cast<Session*>(self)->exchange(sent, received, bytes);
    };
    world_.log = [](void*, const char* line) { fmt::print(stderr, "{}\n", line); };
    if (const int code = device.stream_create(device.self, &stream_)) {
      throw std::runtime_error(fmt::format("no stream: {}", device.error_name(device.self, code)));
    }
    moment("create");
    phase("create");
    const tutti_status status = backend_.create(&world_, &communicator_);
    json answer{{"status", status}};
    if (status != TUTTI_OK) answer["reason"] = backend_.reason(nullptr);
    if (status == TUTTI_OK) {
      buffers_ =
          std::make_unique<Buffers>(backend_, communicator_, device, is_staged(backend_, device));
    }
    phase("idle");
    return answer;
  });
}

json Session::run(RunMode mode, const Case& one_case) {
  return told(links_.page, [&]() -> json {
    if (!buffers_) throw std::runtime_error("run without a communicator");
    device_->set_delays(one_case.delays);
    return run_steps(mode, one_case);
  });
}

json Session::verify_all() {
  return told(links_.page, [this]() -> json {
    json answer = json::array();
    for (const CallState& state : calls_) answer.push_back(judge(state, true));
    return {{"calls", answer}};
  });
}

json Session::destroy() {
  return told(links_.page, [this]() -> json {
    moment("destroy");
    phase("destroy");
    buffers_.reset();
    json answer{{"status", TUTTI_OK}};
    if (communicator_) {
      answer["status"] = backend_.destroy(communicator_);
      communicator_ = nullptr;
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

void Session::prepare(CallState& state) {
  const Allreduce& call = state.call;
  const std::uint64_t element = bytes_of(call.dtype);
  const std::uint64_t bytes = call.count * element;
  state.send = buffers_->acquire(bytes, call.send_offset * element);
  state.recv =
      call.place == Place::in ? state.send : buffers_->acquire(bytes, call.recv_offset * element);
  generate_input(state.key, options_.rank, 0, call.count, state.send.mirror());
  state.input_hash = hash_bytes(state.send.mirror(), bytes);
  if (call.place == Place::out) {
    std::memset(state.recv.mirror(), poison_byte(state.key.call), bytes);
    buffers_->to_device(state.recv);
  }
  buffers_->to_device(state.send);
}

void Session::launch(CallState& state, std::size_t number, std::uint32_t skew_us) {
  moment("run");
  if (skew_us) std::this_thread::sleep_for(std::chrono::microseconds(skew_us));
  phase(fmt::format("call {}: run", number));
  const Allreduce& call = state.call;
  buffers_->stage_in(state.send, stream_);
  if (call.place == Place::out) buffers_->stage_in(state.recv, stream_);
  tutti_request request{};
  request.size = sizeof request;
  request.collective = TUTTI_ALLREDUCE;
  request.send = buffers_->for_backend(state.send);
  request.recv = buffers_->for_backend(state.recv);
  request.count = call.count;
  request.dtype = call.dtype;
  request.op = call.op;
  request.stream = stream_;
  request.path = state.path.empty() ? nullptr : state.path.c_str();
  const std::string asked = state.path;
  const char* taken = nullptr;
  state.status = backend_.run(communicator_, &request, &taken);
  state.path = state.status == TUTTI_OK ? (taken ? taken : "") : asked;
  if (state.status != TUTTI_OK) state.reason = backend_.reason(communicator_);
  buffers_->stage_out(state.recv, stream_);
  if (call.place == Place::out) buffers_->stage_out(state.send, stream_);
}

// False when the deadline passed; then the backend was told to abort, and `error` says whether that
// helped.
bool Session::wait_for_stream(std::string& error) {
  const tutti_device& device = device_->services();
  phase("waiting for the stream");
  const auto start = std::chrono::steady_clock::now();
  const auto limit = std::chrono::milliseconds(options_.deadline_ms + 1000);
  // A queue that is short gives back soon; one that is not is asked now and then, so that the wait
  // stays bounded.
  for (int asked = 0; device.stream_query(device.self, stream_) == kNotReady; ++asked) {
    if (asked > 50) std::this_thread::sleep_for(std::chrono::microseconds(asked > 500 ? 500 : 20));
    if (std::chrono::steady_clock::now() - start < limit) {
      if (asked <= 50) std::this_thread::yield();
      continue;
    }
    phase("waiting for the stream, deadline passed, aborting");
    backend_.abort(communicator_);
    std::this_thread::sleep_for(std::chrono::milliseconds(500));
    const bool freed = device.stream_query(device.self, stream_) != kNotReady;
    error = fmt::format("the stream was not idle {} ms after the calls; abort {} it", limit.count(),
                        freed ? "freed" : "did not free");
    return false;
  }
  if (const int code = device.stream_synchronize(device.self, stream_)) {
    error = fmt::format("the stream failed: {}", device.error_name(device.self, code));
  }
  return true;
}

json Session::run_steps(RunMode mode, const Case& one_case) {
  buffers_->release_all();
  for (const CallState& state : calls_) earlier_calls_.push_back(state.key);
  if (earlier_calls_.size() > kEarlierCallsMax) {
    earlier_calls_.erase(earlier_calls_.begin(), earlier_calls_.end() - kEarlierCallsMax);
  }
  calls_.clear();
  const std::string asked = one_case.path == "auto" ? "" : one_case.path;
  std::uint32_t number = 0;
  for (const Allreduce& call : calls_of(one_case)) {
    const InputKey key{one_case.seed, number++, one_case.world, call.dtype, call.op, call.data};
    calls_.push_back({call, key, {}, {}, 0, TUTTI_OK, asked, ""});
  }
  phase("writing inputs");
  for (CallState& state : calls_) prepare(state);

  const std::uint32_t skew = one_case.skews_us.empty() ? 0 : one_case.skews_us.at(options_.rank);
  std::vector<Step> steps = one_case.steps;
  steps.emplace_back(Sync{});
  std::size_t next = 0;
  json answer;
  bool pending = false;
  for (const Step& step : steps) {
    if (std::holds_alternative<Allreduce>(step)) {
      launch(calls_[next], next, skew);
      ++next;
      pending = true;
      continue;
    }
    if (!pending) continue;
    pending = false;
    std::string error;
    const bool done = wait_for_stream(error);
    const tutti_status polled = backend_.poll_error(communicator_);
    if (polled != TUTTI_OK) {
      error += fmt::format("{}{}", error.empty() ? "" : "; ", backend_.reason(communicator_));
      answer["poll"] = polled;
    }
    if (!error.empty()) answer["error"] = error;
    if (!done) answer["stuck"] = true;
    if (!done || polled != TUTTI_OK) break;
    moment("between");
  }
  phase("verifying");
  answer["calls"] = json::array();
  std::uint64_t position = 0;
  for (std::size_t i = 0; i < next && !answer.contains("stuck"); ++i) {
    json call =
        answer.contains("error") ? json{{"status", calls_[i].status}} : judge(calls_[i], false);
    if (mode != RunMode::plain && !answer.contains("error"))
      compare(calls_[i], mode, position, call);
    answer["calls"].push_back(std::move(call));
  }
  phase("idle");
  return answer;
}

}  // namespace tutti
