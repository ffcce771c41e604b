#include "suites/judge.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <map>
#include <set>

#include "suites/judge_parts.h"

namespace tutti {

using nlohmann::json;

namespace {

std::string evidence_of(std::size_t rank, const json& evidence) {
  std::string text = fmt::format("rank {}: during: {}", rank, text_of(evidence, "phase"));
  for (const char* key : {"end", "fired", "last_words", "backtrace"}) {
    if (evidence.contains(key)) text += fmt::format("\n{}: {}", key, text_of(evidence, key));
  }
  return text;
}

// Deaths, exceptions and hangs of one phase; `missing` when there were none.
Outcome judge_survival(const Replies& replies, const char* phase) {
  Outcome outcome;
  for (std::size_t rank = 0; rank < replies.size(); ++rank) {
    const Reply& reply = replies[rank];
    if (reply.state == Reply::State::died) {
      outcome = red(Verdict::crash,
                    fmt::format("rank {}'s worker died during {} ({}): {}", rank, phase,
                                text_of(reply.evidence, "phase"), text_of(reply.evidence, "end")));
      break;
    }
    if (reply.body.is_object() && reply.body.contains("threw")) {
      outcome =
          red(Verdict::crash, fmt::format("rank {}: an exception left the backend during {}: {}",
                                          rank, phase, text_of(reply.body, "threw")));
      break;
    }
  }
  if (outcome.verdict == Verdict::missing) {
    std::vector<std::string> waits;
    for (std::size_t rank = 0; rank < replies.size(); ++rank) {
      const Reply& reply = replies[rank];
      if (reply.state == Reply::State::hung) {
        waits.push_back(fmt::format("rank {} in {}", rank, text_of(reply.evidence, "phase")));
      } else if (reply.body.is_object() && reply.body.contains("stuck")) {
        waits.push_back(fmt::format("rank {}: {}", rank, text_of(reply.body, "error")));
      }
    }
    if (!waits.empty()) {
      outcome = red(Verdict::hang, fmt::format("the deadline passed during {}; {}", phase,
                                               fmt::join(waits, ", ")));
    }
  }
  if (outcome.verdict != Verdict::missing) keep_evidence(replies, outcome);
  return outcome;
}

ClaimState first_claim(const Case& one_case, const BackendEntry& backend, const Node& node) {
  const auto calls = calls_of(one_case);
  if (calls.empty()) return ClaimState::unspecified;
  return backend.claims.state_of(situation_of(one_case, calls.front(), node)).first;
}

Outcome judge_create(const Case& one_case, const BackendEntry& backend, const Node& node,
                     const Replies& create) {
  for (const Reply& reply : create) {
    const std::string text = text_of(reply.body, "suite_error");
    if (!text.empty()) return red(Verdict::missing, "the suite could not make a session: " + text);
  }
  const auto statuses = by_rank(
      create, [](const json& body) { return std::string(status_name(body.value("status", -1))); });
  const std::string reason = text_of(create.front().body, "reason");
  const int status = create.front().body.value("status", -1);
  Outcome outcome;
  if (!all_equal(statuses)) {
    outcome = red(Verdict::split, "create: " + grouped(statuses));
    for (std::size_t rank = 0; rank < create.size(); ++rank) {
      outcome.evidence.push_back(fmt::format("rank {}: {} {}", rank, statuses[rank],
                                             text_of(create[rank].body, "reason")));
    }
  } else if (status == TUTTI_NOT_INSTALLED) {
    outcome.verdict = Verdict::skip;
    outcome.skip_cause = SkipCause::not_installed;
    outcome.reason = reason;
    if (!backend.claims.install_hint.empty()) outcome.reason += "; " + backend.claims.install_hint;
  } else if (status != TUTTI_OK) {
    outcome = judge_declined(status, reason, first_claim(one_case, backend, node), "create");
  }
  outcome.at_create = outcome.verdict != Verdict::missing;
  return outcome;
}

Outcome judge_destroy(const Replies& destroy) {
  for (std::size_t rank = 0; rank < destroy.size(); ++rank) {
    const json& body = destroy[rank].body;
    if (const std::string leaks = text_of(body, "leaks"); !leaks.empty()) {
      return red(Verdict::leak, fmt::format("rank {} left behind after destroy: {}", rank, leaks));
    }
    if (const int status = body.value("status", -1)) {
      return red(Verdict::lost_path,
                 fmt::format("rank {}: destroy said {}", rank, status_name(status)));
    }
  }
  return {};
}

// Planned faults that never fired. Workers tell what fired in every answer and in every piece of
// evidence.
std::string unfired(const Case& one_case, const Observation& seen) {
  for (const Fault& fault : one_case.faults) {
    const std::string mark = fmt::format("{}@{}#{} ", fault.kind, fault.when, fault.occurrence);
    for (const int rank : fault.ranks) {
      bool fired = false;
      for (const Replies* replies : {&seen.create, &seen.run, &seen.destroy}) {
        if (static_cast<std::size_t>(rank) >= replies->size()) continue;
        const Reply& reply = (*replies)[static_cast<std::size_t>(rank)];
        for (const json* told : {&reply.body, &reply.evidence}) {
          if (told->is_object() && text_of(*told, "fired").find(mark) != std::string::npos)
            fired = true;
        }
      }
      if (!fired) return fmt::format("{} on rank {} never fired", mark, rank);
    }
  }
  return "";
}

Outcome judge_phases(const Case& one_case, const BackendEntry& backend, const Node& node,
                     const Observation& seen) {
  Outcome outcome = judge_survival(seen.start, "start");
  if (outcome.verdict == Verdict::missing) outcome = judge_survival(seen.create, "create");
  if (outcome.verdict == Verdict::missing && !seen.create.empty()) {
    outcome = judge_create(one_case, backend, node, seen.create);
  }
  if (outcome.verdict == Verdict::missing) outcome = judge_survival(seen.run, "run");
  if (outcome.verdict == Verdict::missing && !seen.run.empty())
    outcome = judge_run(one_case, backend, node, seen.run);
  if (outcome.is_red() && outcome.verdict != Verdict::missing) return outcome;
  Outcome ending = judge_survival(seen.destroy, "destroy");
  if (ending.verdict == Verdict::missing && !seen.destroy.empty())
    ending = judge_destroy(seen.destroy);
  return ending.verdict == Verdict::missing ? outcome : ending;
}

}  // namespace

const char* status_name(int status) {
  constexpr const char* kNames[] = {"ok",        "unsupported", "error",        "peer_failed",
                                    "timed_out", "aborted",     "not_installed"};
  return status >= 0 && status < 7 ? kNames[status] : "an unknown status";
}

std::string text_of(const json& body, const char* key) { return body.value(key, std::string()); }

Outcome red(Verdict verdict, std::string reason) {
  Outcome outcome;
  outcome.verdict = verdict;
  outcome.reason = std::move(reason);
  return outcome;
}

std::vector<std::string> by_rank(const Replies& replies,
                                 const std::function<std::string(const json&)>& value) {
  std::vector<std::string> values;
  for (const Reply& reply : replies) values.push_back(value(reply.body));
  return values;
}

bool all_equal(const std::vector<std::string>& values) {
  return std::all_of(values.begin(), values.end(),
                     [&](const std::string& value) { return value == values.front(); });
}

std::string grouped(const std::vector<std::string>& by_rank) {
  std::map<std::string, std::vector<std::size_t>> groups;
  for (std::size_t rank = 0; rank < by_rank.size(); ++rank) groups[by_rank[rank]].push_back(rank);
  std::vector<std::string> parts;
  for (const auto& [value, ranks] : groups)
    parts.push_back(fmt::format("{} on rank {}", value, fmt::join(ranks, " ")));
  return fmt::format("{}", fmt::join(parts, ", "));
}

Outcome judge_declined(int status, const std::string& reason, ClaimState claimed,
                       const char* where) {
  const std::string text = fmt::format("{} said {}: {}", where, status_name(status),
                                       reason.empty() ? "no reason" : reason);
  if (status == TUTTI_TIMED_OUT) return red(Verdict::hang, text);
  if (claimed == ClaimState::claimed) return red(Verdict::lost_path, "claimed, but " + text);
  if (status != TUTTI_UNSUPPORTED || reason.empty()) return red(Verdict::lost_path, text);
  Outcome outcome;
  outcome.verdict = Verdict::refused;
  outcome.reason = text;
  return outcome;
}

bool is_worse(Verdict left, Verdict right) {
  // From the mildest to the worst.
  constexpr Verdict kOrder[] = {
      Verdict::skip,    Verdict::refused, Verdict::pass,      Verdict::fell_back, Verdict::flaky,
      Verdict::missing, Verdict::unfired, Verdict::lost_path, Verdict::leak,      Verdict::wrong,
      Verdict::split,   Verdict::corrupt, Verdict::hang,      Verdict::crash};
  const auto place = [&](Verdict verdict) {
    return std::find(std::begin(kOrder), std::end(kOrder), verdict);
  };
  return place(left) > place(right);
}

void keep_evidence(const Replies& replies, Outcome& outcome) {
  for (std::size_t rank = 0; rank < replies.size(); ++rank) {
    if (!replies[rank].evidence.empty())
      outcome.evidence.push_back(evidence_of(rank, replies[rank].evidence));
  }
}

bool hashes_differ(const Replies& run) {
  for (const Reply& reply : run) {
    if (!reply.body.is_object() || !reply.body.contains("calls")) return false;
    const json& first = run.front().body["calls"];
    const json& mine = reply.body["calls"];
    for (std::size_t call = 0; call < std::min(first.size(), mine.size()); ++call) {
      if (first[call].value("hashes", json()) != mine[call].value("hashes", json())) return true;
    }
  }
  return false;
}

Outcome judge(const Case& one_case, const BackendEntry& backend, const Node& node,
              const Observation& observation) {
  Outcome outcome = judge_phases(one_case, backend, node, observation);
  if (!outcome.is_red()) {
    const std::string missing = unfired(one_case, observation);
    if (!missing.empty()) return red(Verdict::unfired, missing);
  }
  keep_results(observation.run, outcome);
  return outcome;
}

}  // namespace tutti
