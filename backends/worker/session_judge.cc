// What a rank can say by itself about its calls: guards, inputs, its share of the numbers, hashes
// of all shares.
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "backends/worker/session.h"

namespace tutti {

using nlohmann::json;

namespace {

json to_json(const Check& check) {
  json told{{"max", check.max_error}};
  if (check.bound_hides_contribution) told["hides"] = true;
  if (check.answers) told["answers"] = check.answers;
  if (check.wrong) {
    told["wrong"] = check.wrong;
    told["first"] = check.first_wrong;
    told["last"] = check.last_wrong;
    told["why"] = check.explanation;
  }
  return told;
}

}  // namespace

json Session::judge(CallState& state, bool all_shares) {
  json told = judge_memory(state);
  if (state.status != TUTTI_OK) return told;
  unscale(state);
  told.update(judge_output(state, all_shares));
  return told;
}

// What is judged of a scaled call, and hashed, is the result divided by the scale.
void Session::unscale(CallState& state) const {
  if (state.call.scale == 0 || state.is_unscaled) return;
  if (state.on_device) buffers_->from_device(state.recv);
  unscale_numbers(state.call.dtype, state.call.count, state.call.scale, state.recv.mirror());
  buffers_->to_device(state.recv);
  state.is_unscaled = true;
}

json Session::judge_memory(const CallState& state) {
  json told{{"status", state.status}, {"path", state.path}, {"planned", state.planned}};
  if (!state.reason.empty()) told["reason"] = state.reason;
  fetch(state, state.recv);
  const bool in_place = state.call.place == Place::in;
  if (!in_place) fetch(state, state.send);

  std::string corrupt = Buffers::damage(state.recv);
  if (!corrupt.empty()) corrupt = "output: " + corrupt;
  if (!in_place) {
    const std::string damage = Buffers::damage(state.send);
    if (!damage.empty()) corrupt += fmt::format("{}input: {}", corrupt.empty() ? "" : "; ", damage);
  }
  const bool is_untouched = state.status != TUTTI_OK && !state.is_partly_done;
  const bool input_must_be_unchanged = !in_place || is_untouched;
  if (input_must_be_unchanged && input_hash(state) != state.input_hash) {
    corrupt += fmt::format("{}the input was changed", corrupt.empty() ? "" : "; ");
  }
  if (!in_place && is_untouched && !is_poisoned(state)) {
    corrupt += fmt::format("{}the output of a call that was not carried out was changed",
                           corrupt.empty() ? "" : "; ");
  }
  if (!corrupt.empty()) told["corrupt"] = corrupt;
  return told;
}

json Session::judge_output(const CallState& state, bool all_shares) {
  std::optional<Check> check;
  const json hashes = hashes_of(state, all_shares, check);
  if (!check) {
    History history{earlier_calls_, options_.rank};
    for (const CallState& other : calls_) {
      if (&other == &state) break;
      history.earlier_calls.push_back(other.key);
    }
    Share mine = share_of(options_.rank, options_.world, state.call.count);
    if (all_shares) mine = {0, state.call.count};
    check = check_result(state.key, options_.numerics, history, mine.first, mine.last - mine.first,
                         state.recv.mirror() + mine.first * bytes_of(state.call.dtype));
    if (state.call.rotate && !check->explanation.empty())
      check->explanation += fmt::format(
          "; rank r has the input of rank (r + {}) mod {}: contributions are named by the latter",
          state.call.rotate, options_.world);
  }
  return {{"hashes", hashes}, {"check", to_json(*check)}};
}

// A call's place in the shared memory: whether it was published, then this rank's share of its
// output.
void Session::compare(const CallState& state, RunMode mode, std::uint64_t& position,
                      json& told) const {
  constexpr std::uint64_t kLine = 64;
  const std::uint64_t element = bytes_of(state.call.dtype);
  const Share share = share_of(options_.rank, options_.world, state.call.count);
  const std::uint64_t bytes = (share.last - share.first) * element;
  const std::uint64_t start = position;
  position += kLine + (bytes + kLine - 1) / kLine * kLine;
  if (!links_.compare || position > kCompareBytes || state.call.data == DataClass::bytes) return;
  if (state.on_device && state.status == TUTTI_OK)
    buffers_->from_device(state.recv, share.first * element, bytes);
  char& is_published = links_.compare[start];
  char* shared = links_.compare + start + kLine;
  const char* output = state.recv.mirror() + share.first * element;
  if (mode == RunMode::publish) {
    is_published = state.status == TUTTI_OK;
    if (is_published) std::memcpy(shared, output, bytes);
  } else if (is_published && state.status == TUTTI_OK) {
    // Largest where a number stands against a NaN; read back as a signed number.
    const std::uint64_t distance =
        max_ulp_distance(state.call.dtype, share.last - share.first, shared, output);
    told["ulp"] = std::min<std::uint64_t>(distance, INT64_MAX);
  }
}

}  // namespace tutti
