// A session: one backend's communicator on this rank, and the cases that it carries out.
#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "backends/backend.h"
#include "backends/worker/backend_call.h"
#include "backends/worker/buffers.h"
#include "fixtures/cases/case.h"
#include "fixtures/device/data_kernels.h"
#include "fixtures/device/device.h"
#include "fixtures/nodes/node.h"
#include "fixtures/world/burst.h"
#include "fixtures/world/channel.h"
#include "fixtures/world/session_options.h"
#include "fixtures/world/worker_page.h"

namespace tutti {

// What the outside of a session is.
struct SessionLinks {
  Channel& channel;
  WorkerPage* page;
  char* compare;        // kCompareBytes, shared by all workers of this rank; may be null
  std::uint32_t world;  // id of the set of workers
};

// Elements of a call.
struct Part {
  std::uint64_t first, count;
};

// A call of the current case, from its preparation to its verification.
struct CallState {
  Allreduce call;
  InputKey key;
  Buffer send, recv;       // in place: equal
  bool on_device = false;  // filled and verified there; the mirrors hold guards only
  std::uint64_t input_hash = 0;
  bool is_partly_done = false;  // of two parts, the first was carried out, and not the second
  bool is_unscaled = false;     // the output is divided by 2^scale already
  tutti_status status = TUTTI_OK;
  std::string path, reason;
  nlohmann::json planned;  // what `plan` said of it
};

class Session {
 public:
  Session(const tutti_backend& backend, SessionLinks links, SessionOptions options);
  ~Session();

  // Each returns what the rank is told. An exception out of the backend is told, too, as "threw";
  // what tutti itself could not do (no memory, a device that fails) as "suite_error".
  nlohmann::json create();
  nlohmann::json run(RunMode mode, const Case& one_case);
  nlohmann::json verify_all();
  // "micros": of each sample, a call; or "declined".
  nlohmann::json burst(const Burst& burst);
  nlohmann::json destroy();

 private:
  tutti_status exchange(const void* sent, void* received, std::size_t bytes);
  void phase(const std::string& text);
  void moment(const char* when);
  void open_and_check_device();
  void fill_in_world();
  nlohmann::json declined(const BackendDeclined& answer) const;
  void remember_calls(const Case& one_case);
  nlohmann::json run_steps(RunMode mode, const Case& one_case);
  std::size_t carry_out(const Case& one_case, nlohmann::json& answer);
  bool finish(nlohmann::json& answer);
  nlohmann::json judge_all(RunMode mode, std::size_t launched);
  void prepare(CallState& state);
  bool is_on_device(const CallState& state);
  void write_buffers(CallState& state);
  void write_input(CallState& state);
  void fetch(const CallState& state, const Buffer& buffer) const;
  std::uint64_t input_hash(const CallState& state);
  bool is_poisoned(const CallState& state) const;
  nlohmann::json hashes_of(const CallState& state, bool all_shares, std::optional<Check>& verdict);
  void launch(CallState& state, std::size_t number, std::uint32_t skew_us);
  void launch_parts(CallState& state, std::size_t number);
  void launch_part(CallState& state, std::size_t number, Part part);
  tutti_request request_of(const CallState& state, Part part) const;
  void meet();
  void run_once(const CallState& state);
  void finish_burst();
  double micros_a_call(Recording& recording, const Burst& burst);
  nlohmann::json time_burst(const Burst& burst);
  nlohmann::json plan(const tutti_request& request) const;
  bool wait_for_stream(std::string& error);
  void show_what_is_stuck();
  nlohmann::json judge_memory(const CallState& state);
  nlohmann::json judge(CallState& state, bool all_shares);
  void unscale(CallState& state) const;
  nlohmann::json judge_output(const CallState& state, bool all_shares);
  void compare(const CallState& state, RunMode mode, std::uint64_t& position,
               nlohmann::json& told) const;

  const tutti_backend& backend_;
  SessionLinks links_;
  SessionOptions options_;
  Facts facts_;
  std::unique_ptr<Device> device_;
  tutti_world world_{};
  void* communicator_ = nullptr;
  void* stream_ = nullptr;
  std::unique_ptr<Buffers> buffers_;
  std::vector<CallState> calls_;                          // of the current case
  std::vector<InputKey> earlier_calls_;                   // of earlier cases, newest last
  std::map<std::string, int> moments_;                    // how often each was reached
  std::uint32_t round_ = 0;                               // of exchanges, in what the rank asks now
  std::chrono::steady_clock::time_point exchange_until_;  // during `create`; else a deadline each
  bool is_creating_ = false;
  bool is_stuck_ = false;    // the stream of the last run did not become idle
  bool has_failed_ = false;  // the last run reported an error
};

}  // namespace tutti
