// The calls of a case, from what all ranks said about them.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "fixtures/data/answers.h"
#include "suites/judge_parts.h"

namespace tutti {

using nlohmann::json;

namespace {

// What `plan` had said before, against what `run` did; empty when they agree or it could not be
// asked.
std::string against_plan(const json& call, bool carried_out) {
  if (!call.contains("planned")) return "";
  const int answer = call["planned"].value("answer", static_cast<int>(TUTTI_PLAN_UNKNOWN));
  const std::string text = text_of(call["planned"], "text");
  if (answer == TUTTI_PLAN_REFUSED && carried_out) return "plan had refused it: " + text;
  if (answer == TUTTI_PLAN_PATH && (!carried_out || text != text_of(call, "path"))) {
    return "plan had promised path " + text;
  }
  return "";
}

// The numbers of one call on all ranks.
Outcome judge_numbers(std::size_t number, const Replies& run) {
  Outcome outcome;
  outcome.verdict = Verdict::pass;
  for (const Reply& reply : run) {
    const json& call = reply.body["calls"][number];
    const json& check = call["check"];
    outcome.max_error = std::max(outcome.max_error, check.value("max", 0.0));
    outcome.bound_hides = outcome.bound_hides || check.value("hides", false);
    outcome.max_ulp = std::max(outcome.max_ulp, call.value("ulp", std::int64_t{-1}));
    if (!check.contains("wrong")) continue;
    if (outcome.verdict == Verdict::pass) {
      outcome.verdict = Verdict::wrong;
      outcome.reason = fmt::format("call {}: {}", number, text_of(check, "why"));
    }
    outcome.evidence.push_back(text_of(check, "why"));
  }
  return outcome;
}

// The path that was taken, against the one asked for, claimed and planned.
void judge_path(std::size_t number, const Case& one_case, const json& call,
                const std::pair<ClaimState, std::string>& claim, Outcome& outcome) {
  const std::string path = text_of(call, "path");
  const std::string broken = against_plan(call, true);
  if (path.empty()) {
    outcome = red(Verdict::lost_path, fmt::format("call {}: run named no path", number));
    return;
  }
  if (broken.starts_with("plan had refused")) {
    outcome = red(Verdict::wrong, fmt::format("call {}: carried out, but {}", number, broken));
    return;
  }
  std::string expected = claim.second;
  if (expected.empty() && one_case.path != "auto") expected = one_case.path;
  const bool elsewhere = !expected.empty() && path != expected;
  if (!elsewhere && broken.empty()) return;
  const bool lost = claim.first == ClaimState::claimed && elsewhere;
  outcome.verdict = lost ? Verdict::lost_path : Verdict::fell_back;
  outcome.reason =
      fmt::format("call {}: path {}{}{}{}", number, path,
                  elsewhere ? " instead of " + expected : "", broken.empty() ? "" : ", ", broken);
}

// One call that every rank says it carried out.
Outcome judge_carried_out(std::size_t number, const Case& one_case, const Replies& run,
                          const std::pair<ClaimState, std::string>& claim, const Claims& claims) {
  const auto call_of = [number](const json& body) -> const json& { return body["calls"][number]; };
  if (claim.first == ClaimState::refuses) {
    return red(Verdict::wrong,
               fmt::format("call {}: carried out what its claims say it refuses", number));
  }
  Outcome outcome = judge_numbers(number, run);
  if (outcome.verdict == Verdict::wrong) return outcome;
  const auto paths = by_rank(run, [&](const json& body) { return text_of(call_of(body), "path"); });
  if (!all_equal(paths))
    return red(Verdict::split, fmt::format("call {}: path {}", number, grouped(paths)));
  if (claims.same_bits_on_all_ranks.include(text_of(call_of(run.front().body), "path"))) {
    const auto hashes =
        by_rank(run, [&](const json& body) { return call_of(body)["hashes"].dump(); });
    if (!all_equal(hashes)) {
      return red(
          Verdict::split,
          fmt::format("call {}: same bits on all ranks are claimed, but the outputs differ: {}",
                      number, grouped(hashes)));
    }
  }
  judge_path(number, one_case, call_of(run.front().body), claim, outcome);
  return outcome;
}

Outcome judge_call(std::size_t number, const Case& one_case, const BackendEntry& backend,
                   const Node& node, const Replies& run) {
  const auto claim =
      backend.claims.state_of(situation_of(one_case, calls_of(one_case)[number], node));
  const auto statuses = by_rank(run, [number](const json& body) {
    const json& call = body["calls"][number];
    const std::string reason = text_of(call, "reason");
    return status_name(call.value("status", -1)) + (reason.empty() ? "" : " (" + reason + ")");
  });
  const auto plans = by_rank(run, [number](const json& body) {
    const json& call = body["calls"][number];
    return call.contains("planned") ? call["planned"].dump() : std::string("not asked");
  });
  std::set<int> codes;
  for (const Reply& reply : run) codes.insert(reply.body["calls"][number].value("status", -1));
  if (codes.size() > 1)
    return red(Verdict::split, fmt::format("call {}: {}", number, grouped(statuses)));
  if (!all_equal(plans))
    return red(Verdict::split, fmt::format("call {}: plan: {}", number, grouped(plans)));
  const json& told = run.front().body["calls"][number];
  if (told.contains("planned") && told["planned"].value("answer", 0) < 0) {
    return red(Verdict::lost_path,
               fmt::format("call {}: {}", number, text_of(told["planned"], "text")));
  }
  if (*codes.begin() == TUTTI_OK)
    return judge_carried_out(number, one_case, run, claim, backend.claims);
  const json& first = run.front().body["calls"][number];
  Outcome outcome = judge_declined(*codes.begin(), text_of(first, "reason"), claim.first, "run");
  const std::string broken = against_plan(first, false);
  if (outcome.is_red() || broken.empty()) return outcome;
  return red(Verdict::lost_path,
             fmt::format("call {}: {}; but {}", number, outcome.reason, broken));
}

// Guards, inputs and refused outputs: looked at also when a call failed.
Outcome judge_corruption(const Replies& run) {
  for (std::size_t rank = 0; rank < run.size(); ++rank) {
    if (!run[rank].body.is_object() || !run[rank].body.contains("calls")) continue;
    const json& calls = run[rank].body["calls"];
    for (std::size_t number = 0; number < calls.size(); ++number) {
      const std::string corrupt = text_of(calls[number], "corrupt");
      if (corrupt.empty()) continue;
      Outcome outcome =
          red(Verdict::corrupt, fmt::format("call {} on rank {}: {}", number, rank, corrupt));
      outcome.call = static_cast<int>(number);
      return outcome;
    }
  }
  return {};
}

// Errors that came after the calls were enqueued. A rank that timed out names the cause; its peers
// only saw it fail.
Outcome judge_errors(const Replies& run) {
  const auto errors = by_rank(run, [](const json& body) { return text_of(body, "error"); });
  const auto is_empty = [](const std::string& error) { return error.empty(); };
  if (std::all_of(errors.begin(), errors.end(), is_empty)) return {};
  const std::string text = "after the calls: " + grouped(errors);
  if (std::any_of(errors.begin(), errors.end(), is_empty)) return red(Verdict::split, text);
  const bool timed_out = std::any_of(run.begin(), run.end(), [](const Reply& reply) {
    return reply.body.value("poll", 0) == TUTTI_TIMED_OUT;
  });
  return red(timed_out ? Verdict::hang : Verdict::lost_path, text);
}

// What a worker must have told about each call before it can be judged; empty when it did.
std::string not_told(const Replies& run, std::size_t calls) {
  for (std::size_t rank = 0; rank < run.size(); ++rank) {
    const json& body = run[rank].body;
    if (!body.is_object() || !body.contains("calls") || !body["calls"].is_array() ||
        body["calls"].size() != calls) {
      return fmt::format("rank {} did not report on all {} calls", rank, calls);
    }
    for (const json& call : body["calls"]) {
      const int status = call.value("status", -1);
      if (status < 0 ||
          (status == TUTTI_OK && !(call.contains("check") && call.contains("hashes")))) {
        return fmt::format("rank {} reported on a call without a status or a check", rank);
      }
    }
  }
  return "";
}

// A backend may answer what is left open as it likes, but in one way for a dtype and op.
Outcome judge_answers(const std::vector<Allreduce>& calls, const Replies& run) {
  std::map<std::pair<Dtype, Op>, Answers> answers;
  for (std::size_t number = 0; number < calls.size(); ++number) {
    Answers& of_kind = answers[{calls[number].dtype, calls[number].op}];
    for (const Reply& reply : run) {
      const json& call = reply.body["calls"][number];
      if (call.contains("check"))
        of_kind.merge(Answers(call["check"].value("answers", std::uint32_t{0})));
    }
  }
  for (const auto& [kind, seen] : answers) {
    const std::string contradiction = seen.contradiction();
    if (!contradiction.empty())
      return red(Verdict::wrong, "special values do not follow one rule: " + contradiction);
  }
  Outcome one_rule;
  one_rule.verdict = Verdict::pass;
  return one_rule;
}

}  // namespace

Outcome judge_run(const Case& one_case, const BackendEntry& backend, const Node& node,
                  const Replies& run) {
  for (const Reply& reply : run) {
    const std::string text = text_of(reply.body, "suite_error");
    if (!text.empty())
      return red(Verdict::missing, "the suite could not carry the case out: " + text);
  }
  Outcome worst = judge_corruption(run);
  if (worst.verdict == Verdict::missing) worst = judge_errors(run);
  if (worst.verdict != Verdict::missing) return worst;
  const std::size_t calls = calls_of(one_case).size();
  if (const std::string text = not_told(run, calls); !text.empty())
    return red(Verdict::missing, text);
  for (std::size_t number = 0; number < calls; ++number) {
    Outcome outcome = judge_call(number, one_case, backend, node, run);
    outcome.call = static_cast<int>(number);
    const double error = std::max(worst.max_error, outcome.max_error);
    const std::int64_t ulp = std::max(worst.max_ulp, outcome.max_ulp);
    const bool hides = worst.bound_hides || outcome.bound_hides;
    if (number == 0 || is_worse(outcome.verdict, worst.verdict)) worst = std::move(outcome);
    worst.max_error = error;
    worst.max_ulp = ulp;
    worst.bound_hides = hides;
  }
  if (worst.is_red()) return worst;
  const Outcome answers = judge_answers(calls_of(one_case), run);
  return answers.is_red() ? answers : worst;
}

}  // namespace tutti
