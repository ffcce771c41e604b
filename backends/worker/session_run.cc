// The steps of a case on this rank: buffers, calls, waits.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <thread>

#include "backends/worker/session.h"
#include "fixtures/world/backoff.h"

namespace tutti {

using nlohmann::json;

namespace {

constexpr std::size_t kEarlierCallsMax = 16;
constexpr int kNotReady = 600;                           // cudaErrorNotReady
constexpr auto kShowTimeout = std::chrono::seconds(35);  // a backtrace takes its time

bool is_as_planned(const CallState& state) {
  const json& answer = state.planned["answer"];
  return answer == TUTTI_PLAN_UNKNOWN ||
         (answer == TUTTI_PLAN_PATH && state.planned["text"] == state.path);
}

}  // namespace

void Session::prepare(CallState& state) {
  const Allreduce& call = state.call;
  const std::uint64_t element = bytes_of(call.dtype);
  const std::uint64_t bytes = call.count * element;
  state.send = buffers_->acquire(bytes, call.send_offset * element);
  state.recv =
      call.place == Place::in ? state.send : buffers_->acquire(bytes, call.recv_offset * element);
  write_buffers(state);
}

// It points into the state.
tutti_request Session::request_of(const CallState& state, Part part) const {
  const std::uint64_t skipped = part.first * bytes_of(state.call.dtype);
  tutti_request request{};
  request.size = sizeof request;
  request.collective = TUTTI_ALLREDUCE;
  request.send = buffers_->for_backend(state.send) + skipped;
  request.recv = buffers_->for_backend(state.recv) + skipped;
  request.count = part.count;
  request.dtype = state.call.dtype;
  request.op = state.call.op;
  request.stream = stream_;
  request.path = state.path.empty() ? nullptr : state.path.c_str();
  return request;
}

// One call of the backend.
void Session::launch_part(CallState& state, std::size_t number, Part part) {
  const std::string asked = state.path;
  tutti_request request = request_of(state, part);
  const char* taken = nullptr;
  phase(fmt::format("call {}: plan", number));
  state.planned = plan(request);
  phase(fmt::format("call {}: run", number));
  state.status = backend_call(backend_.run, communicator_, &request, &taken);
  state.path = state.status == TUTTI_OK ? (taken ? taken : "") : asked;
  if (state.status != TUTTI_OK) state.reason = reason_of(backend_, communicator_);
}

// A call in two parts is told of as one: by both paths where they differ, and by the plan that was
// not kept, if there is one.
void Session::launch_parts(CallState& state, std::size_t number) {
  const Allreduce& call = state.call;
  if (call.split == 0 || call.split == call.count)
    return launch_part(state, number, {0, call.count});
  CallState first = state;
  launch_part(first, number, {0, call.split});
  if (first.status == TUTTI_OK) {
    launch_part(state, number, {call.split, call.count - call.split});
    if (!is_as_planned(first)) state.planned = first.planned;
    state.is_partly_done = state.status != TUTTI_OK;
    if (!state.is_partly_done && state.path != first.path)
      state.path = first.path + "+" + state.path;
  } else {
    state = std::move(first);
  }
}

void Session::launch(CallState& state, std::size_t number, std::uint32_t skew_us) {
  moment("run");
  if (skew_us) std::this_thread::sleep_for(std::chrono::microseconds(skew_us));
  const bool is_out = state.call.place == Place::out;
  buffers_->stage_in(state.send, stream_);
  if (is_out) buffers_->stage_in(state.recv, stream_);
  launch_parts(state, number);
  buffers_->stage_out(state.recv, stream_);
  if (is_out) buffers_->stage_out(state.send, stream_);
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
  Backoff backoff;
  while (device.stream_query(device.self, stream_) == kNotReady) {
    if (std::chrono::steady_clock::now() - start < limit) {
      backoff.wait();
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
