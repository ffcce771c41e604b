#include "backends/worker/session.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <thread>
#include <utility>

#include "fixtures/faults/fault.h"

namespace tutti {

using nlohmann::json;

namespace {

constexpr std::size_t kEarlierCallsMax = 16;
constexpr int kNotReady = 600;                                // cudaErrorNotReady
constexpr auto kBeforeTheDirector = std::chrono::seconds(2);  // to answer before it gives up
constexpr auto kShowTimeout = std::chrono::seconds(35);       // a backtrace takes its time

bool is_staged(const tutti_backend& backend, const tutti_device& device) {
  return device.kind == TUTTI_MEMORY_CUDA && !(backend.memory & TUTTI_MEMORY_CUDA);
}

// An exception is an answer, too; so is what fired.
template <typename Body>
json told(const WorkerPage* page, Body body) {
  json answer;
  try {
    answer = body();
  } catch (const BackendThrew& error) {
    answer = {{"threw", error.what()}};
  } catch (const std::exception& error) {
    answer = {{"suite_error", error.what()}};
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
    for (const CallState& state : calls_) {
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
  phase(fmt::format("call {}: plan", number));
  state.planned = plan(request);
  phase(fmt::format("call {}: run", number));
  state.status = backend_call(backend_.run, communicator_, &request, &taken);
  state.path = state.status == TUTTI_OK ? (taken ? taken : "") : asked;
  if (state.status != TUTTI_OK) state.reason = reason_of(backend_, communicator_);
  buffers_->stage_out(state.recv, stream_);
  if (call.place == Place::out) buffers_->stage_out(state.send, stream_);
}

json Session::plan(const tutti_request& request) const {
  tutti_plan plan{};
  plan.size = sizeof plan;
  plan.answer = TUTTI_PLAN_UNKNOWN;
  const tutti_status status =
      backend_call(backend_.plan, &facts_.abi(), options_.rank, &request, &plan);
  if (status != TUTTI_OK) return {{"answer", -1}, {"text", "plan said " + name_of(status)}};
  plan.text[sizeof plan.text - 1] = '\0';
  return {{"answer", static_cast<int>(plan.answer)}, {"text", plan.text}};
}

// Holds still until the rank has taken a backtrace: once aborted, nothing shows what it waited for.
void Session::show_what_is_stuck() {
  links_.channel.send({Kind::stuck, links_.world, ""});
  const auto until = std::chrono::steady_clock::now() + kShowTimeout;
  while (const auto message = links_.channel.receive(until)) {
    if (message->kind == Kind::go_on) return;
  }
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
    show_what_is_stuck();
    phase("waiting for the stream, deadline passed, aborting");
    backend_call(backend_.abort, communicator_);
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

void Session::remember_calls(const Case& one_case) {
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
    CallState& state = calls_.emplace_back();
    state.call = call;
    state.key = key;
    state.path = asked;
  }
}

// The backend had no buffers for the calls: that is its answer to all of them.
json Session::declined(const BackendDeclined& answer) const {
  json calls = json::array();
  for (const CallState& state : calls_) {
    calls.push_back({{"status", answer.status},
                     {"reason", answer.what()},
                     {"path", state.path},
                     {"not_run", true}});
  }
  return {{"calls", calls}};
}

// Waits for what was launched; false when the case cannot go on.
bool Session::finish(json& answer) {
  std::string error;
  is_stuck_ = !wait_for_stream(error);
  const tutti_status polled = backend_call(backend_.poll_error, communicator_);
  if (polled != TUTTI_OK) {
    const std::string reason = reason_of(backend_, communicator_);
    error += fmt::format("{}{}{}{}", error.empty() ? "" : "; ", name_of(polled),
                         reason.empty() ? "" : ": ", reason);
    answer["poll"] = polled;
  }
  has_failed_ = !error.empty();
  if (has_failed_) answer["error"] = error;
  if (is_stuck_) answer["stuck"] = true;
  return !has_failed_;
}

// How many calls were launched.
std::size_t Session::carry_out(const Case& one_case, json& answer) {
  const std::uint32_t skew = one_case.skews_us.empty() ? 0 : one_case.skews_us.at(options_.rank);
  std::vector<Step> steps = one_case.steps;
  steps.emplace_back(Sync{});
  std::size_t next = 0;
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
    if (!finish(answer)) break;
    moment("between");
  }
  return next;
}

// After an error the numbers mean nothing, but no guard and no input may have been touched.
json Session::judge_all(RunMode mode, std::size_t launched) {
  json answers = json::array();
  if (is_stuck_) return answers;
  std::uint64_t position = 0;
  for (std::size_t i = 0; i < launched; ++i) {
    if (!has_failed_) {
      json& call = answers.emplace_back(judge(calls_[i], false));
      if (mode != RunMode::plain) compare(calls_[i], mode, position, call);
      continue;
    }
    try {
      answers.push_back(judge_memory(calls_[i]));
    } catch (const DeviceError& error) {  // a context that is lost shows no memory
      answers.push_back({{"status", calls_[i].status}, {"unchecked", error.what()}});
    }
  }
  return answers;
}

json Session::run_steps(RunMode mode, const Case& one_case) {
  is_stuck_ = has_failed_ = false;
  remember_calls(one_case);
  phase("writing inputs");
  for (CallState& state : calls_) prepare(state);
  json answer;
  const std::size_t launched = carry_out(one_case, answer);
  phase("verifying");
  answer["calls"] = judge_all(mode, launched);
  phase("idle");
  return answer;
}

}  // namespace tutti
