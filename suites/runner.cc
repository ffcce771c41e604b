#include "suites/runner.h"

#include <fmt/format.h>

#include <algorithm>

#include "fixtures/world/command.h"
#include "suites/judge.h"
#include "suites/session_start.h"

namespace tutti {

using nlohmann::json;
using std::chrono::milliseconds;

namespace {

// Sets of workers that are kept: of the backend under test in its last worlds; and of references,
// which every backend needs again in each world.
constexpr std::size_t kLiveMax = 4;
constexpr std::size_t kReferencesMax = 8;
constexpr milliseconds kMargin{3'000};  // by which the suite waits longer than the worker
constexpr std::uint64_t kBytesPerMs =
    50'000;  // of one rank's data: generation and verification on a busy core
constexpr std::size_t kCasesKept = 128;          // of what a set of workers has carried out
constexpr std::ptrdiff_t kCasesOfLateDeath = 8;  // that are told with one: nobody shrinks them

}  // namespace

Runner::~Runner() = default;

std::string Runner::key_of(const Case& one_case) {
  std::string key = fmt::format("{} {} {} {} {}", one_case.backend, one_case.plugin,
                                one_case.device, one_case.node, one_case.world);
  for (const Fault& fault : one_case.faults) {
    key += fmt::format(" {}@{}#{}", fault.kind, fault.when, fault.occurrence);
    for (const int rank : fault.ranks) key += fmt::format(":{}", rank);
  }
  return key;
}

milliseconds Runner::limit(const Case& one_case) const {
  std::uint64_t bytes = 0;
  for (const Allreduce& call : calls_of(one_case)) bytes += call.count * bytes_of(call.dtype);
  const std::uint64_t moved = bytes * static_cast<std::uint64_t>(one_case.world);
  return milliseconds(options_.deadline_ms + 1000 + 500 + moved / kBytesPerMs) + kMargin;
}

Replies Runner::start_alone(const BackendEntry& backend, std::uint32_t& id) {
  WorkerCommand command = worker_command(backend, places_, false);
  command.mpi = {};  // a table can be asked without any world
  if (backend.claims.mpi_world && find_program("mpirun").empty()) {
    throw NotInstalledError(fmt::format("no mpirun on PATH to start its MPI world with; {}",
                                        backend.claims.install_hint));
  }
  if (find_program(command.arguments.front()).empty()) {
    throw NotInstalledError(fmt::format("no program {} on PATH to host it; {}",
                                        command.arguments.front(), backend.claims.install_hint));
  }
  const Replies hello = director_.start(1, command, kStartTimeout, id);
  if (all_answered(hello)) return hello;
  director_.kill(id);
  const json& evidence = hello.front().evidence;
  throw CatalogError(fmt::format("backend {} cannot be hosted: {}\n{}", backend.name,
                                 evidence.value("end", std::string("no answer")),
                                 evidence.value("last_words", std::string())));
}

Reply Runner::ask_alone(const BackendEntry& backend, Kind kind, const std::string& payload,
                        milliseconds timeout) {
  std::uint32_t id = 0;
  start_alone(backend, id);
  Replies replies = director_.ask(id, kind, {payload}, timeout);
  director_.kill(id);
  return std::move(replies.front());
}

const BackendIdentity& Runner::identity(const BackendEntry& backend) {
  const std::string key = backend.plugin + " " + backend.name;
  if (const auto found = identities_.find(key); found != identities_.end()) return found->second;
  std::uint32_t id = 0;
  const Replies hello = start_alone(backend, id);
  director_.kill(id);
  const json& body = hello.front().body;
  BackendIdentity identity{body.at("version"), body.at("memory"),
                           body.at("paths").get<std::vector<std::string>>()};
  return identities_[key] = identity;
}

bool Runner::open(const Case& one_case, const BackendEntry& backend, const Node& node,
                  Observation& seen) {
  close_unused(false, kLiveMax - 1);
  close_unused(true, kReferencesMax - 1);
  const std::string problem = hosting_problem(backend, options_.in_rank, options_.hosts);
  if (!problem.empty()) throw CatalogError(problem);
  const SessionStart started =
      start_session(director_, places_, backend, node, one_case.world, options_.deadline_ms,
                    one_case.faults, options_.in_rank);
  live_[key_of(one_case)].id = started.id;
  seen.start = started.start;
  seen.create = started.create;
  return started.is_created();
}

void Runner::close_unused(bool references, std::size_t most) {
  for (;;) {
    std::size_t count = 0;
    const std::pair<const std::string, Live>* oldest = nullptr;
    for (const auto& one : live_) {
      if (one.second.is_reference != references) continue;
      ++count;
      if (!oldest || one.second.used < oldest->second.used) oldest = &one;
    }
    if (count <= most) return;
    close(std::string(oldest->first));
  }
}

void Runner::close(const std::string& key) {
  const auto found = live_.find(key);
  if (found == live_.end()) return;
  const Live live = std::move(found->second);
  live_.erase(found);
  if (live.last_green) note_late_death(live);
  director_.kill(live.id);
}

// A worker that is about to die is asked, too: its rank answers when the backtrace is taken.
void Runner::note_late_death(const Live& live) {
  const Replies now = director_.evidence(live.id, false);
  for (std::size_t rank = 0; rank < now.size(); ++rank) {
    const json& evidence = now[rank].evidence;
    if (now[rank].state != Reply::State::died && !evidence.contains("end")) continue;
    LateDeath late{live.purpose, *live.last_green, {}};
    const auto last = live.cases.end() - 1;
    late.last.earlier.assign(last - std::min(last - live.cases.begin(), kCasesOfLateDeath), last);
    late.outcome.verdict = Verdict::crash;
    late.outcome.reason =
        fmt::format("rank {}'s worker died after its last answer, when nothing was asked of it: {}",
                    rank, evidence.value("end", std::string("unknown")));
    keep_evidence(now, late.outcome);
    late_deaths_.push_back(std::move(late));
    return;
  }
}

void Runner::close_all() {
  while (!live_.empty()) close(live_.begin()->first);
}

Observation Runner::carry_out(const Case& one_case, const BackendEntry& backend, const Node& node,
                              const Want& want) {
  const std::string key = key_of(one_case);
  if (want.fresh || !one_case.faults.empty()) close(key);
  // Whoever died since the last case is no matter of this one.
  if (const auto used = live_.find(key);
      used != live_.end() && used->second.last_green && director_.has_died(used->second.id))
    close(key);
  if (const auto before = not_created_.find(key); before != not_created_.end() && !want.fresh)
    return before->second;
  Observation seen;
  if (!live_.contains(key) && !open(one_case, backend, node, seen)) {
    close(key);
    return seen;
  }
  Live& live = live_.at(key);
  live.used = ++clock_;
  live.is_reference = live.is_reference || want.mode == RunMode::compare;
  live.last_green.reset();
  run_in(live, one_case, want, seen);
  if (!seen.destroy.empty()) close(key);
  return seen;
}

void Runner::run_in(Live& live, const Case& one_case, const Want& want, Observation& seen) {
  const std::string payload = static_cast<char>(want.mode) + to_line(one_case);
  seen.run = director_.ask(live.id, Kind::run, {payload}, limit(one_case));
  if (all_answered(seen.run) && hashes_differ(seen.run)) {
    const Replies whole =
        director_.ask(live.id, Kind::verify_all, {""}, limit(one_case) * one_case.world);
    for (std::size_t rank = 0; rank < whole.size(); ++rank) {
      if (whole[rank].state != Reply::State::answered || !whole[rank].body.contains("calls")) {
        seen.run[rank] = whole[rank];
        continue;
      }
      for (std::size_t call = 0; call < whole[rank].body["calls"].size(); ++call) {
        seen.run[rank].body["calls"][call].update(whole[rank].body["calls"][call]);
      }
    }
  }
  live.cases.push_back(as_earlier(one_case));
  if (live.cases.size() > kCasesKept) live.cases.erase(live.cases.begin());
  const bool ends =
      want.destroy || std::any_of(one_case.faults.begin(), one_case.faults.end(),
                                  [](const Fault& fault) { return fault.when == "destroy"; });
  if (ends && all_answered(seen.run)) {
    seen.destroy =
        director_.ask(live.id, Kind::destroy, {""}, milliseconds(options_.deadline_ms) + kMargin);
  }
}

// In fresh workers, which stay for the case itself; red when one of them is.
Outcome Runner::run_earlier(const Case& one_case, const BackendEntry& backend, const Node& node) {
  Outcome outcome;
  outcome.verdict = Verdict::pass;
  close(key_of(one_case));
  for (std::size_t i = 0; i < one_case.earlier.size(); ++i) {
    const Case before = alone(one_case, one_case.earlier[i]);
    if (calls_of(before).empty()) continue;
    outcome = run_one(before, backend, node, Want{});
    if (!outcome.is_red()) continue;
    outcome.reason = "already in an earlier case: " + outcome.reason;
    outcome.in_earlier = static_cast<int>(i);
    break;
  }
  return outcome;
}

Outcome Runner::run(const Case& one_case, const BackendEntry& backend, const Node& node,
                    const Want& want) {
  if (one_case.earlier.empty()) return run_one(one_case, backend, node, want);
  Case last = one_case;
  last.earlier.clear();
  Want same_workers = want;
  if (want.fresh || !live_.contains(key_of(one_case))) {
    Outcome outcome = run_earlier(one_case, backend, node);
    if (outcome.is_red()) return outcome;
    same_workers.fresh = false;
  }
  return run_one(last, backend, node, same_workers);
}

Outcome Runner::run_one(const Case& one_case, const BackendEntry& backend, const Node& node,
                        const Want& want) {
  const Observation seen = carry_out(one_case, backend, node, want);
  Outcome outcome = judge(one_case, backend, node, seen);
  last_hashes_.clear();
  if (!outcome.is_red() && all_answered(seen.run)) {
    for (const Reply& reply : seen.run) {
      json hashes = json::array();
      for (const json& call : reply.body["calls"]) hashes.push_back(call.value("hashes", json()));
      last_hashes_.push_back(std::move(hashes));
    }
  }
  remember(one_case, seen, outcome);
  // Workers that only gave wrong numbers go on: what follows from it is confirmed in fresh ones.
  const bool may_go_on = !outcome.is_red() || outcome.verdict == Verdict::wrong;
  if (!may_go_on || !one_case.faults.empty()) close(key_of(one_case));
  return outcome;
}

void Runner::remember(const Case& one_case, const Observation& seen, Outcome& outcome) {
  const std::string key = key_of(one_case);
  if (outcome.at_create && !outcome.is_red() && one_case.faults.empty()) not_created_[key] = seen;
  if (outcome.is_red()) return blame(one_case, outcome);
  const auto live = live_.find(key);
  if (live == live_.end()) return;
  live->second.last_green = one_case;
  live->second.purpose = purpose_;
}

void Runner::blame(const Case& one_case, Outcome& outcome) {
  const auto live = live_.find(key_of(one_case));
  if (live == live_.end()) return;
  live->second.last_green.reset();
  keep_last_words(live->second.id, outcome);
  outcome.before = live->second.cases;
  if (!outcome.before.empty()) outcome.before.pop_back();
}

// What the backend logged, for a red case that left its workers alive.
void Runner::keep_last_words(std::uint32_t id, Outcome& outcome) {
  const Replies replies = director_.evidence(id, false);
  for (std::size_t rank = 0; rank < replies.size(); ++rank) {
    const std::string words = replies[rank].evidence.value("last_words", std::string());
    if (!words.empty())
      outcome.evidence.push_back(fmt::format("rank {}: last words: {}", rank, words));
  }
}

std::vector<const BackendEntry*> references_for(Runner& runner,
                                                const std::vector<BackendEntry>& candidates,
                                                const BackendEntry& backend, const Node& node) {
  const unsigned kind =
      node.device_kind == "cuda" ? TUTTI_MEMORY_HOST | TUTTI_MEMORY_CUDA : TUTTI_MEMORY_HOST;
  std::vector<const BackendEntry*> found;
  for (const BackendEntry& other : candidates) {
    if (other.name == backend.name || other.claims.reference_priority == 0) continue;
    const std::string& library = other.claims.reference_library;
    if (!library.empty() && library == backend.claims.reference_library) continue;
    const RunnerOptions& options = runner.options();
    if (!hosting_problem(other, options.in_rank, options.hosts).empty()) continue;
    try {
      if (runner.identity(other).memory & kind) found.push_back(&other);
    } catch (const CatalogError&) {
      continue;  // not on this machine
    }
  }
  std::stable_sort(found.begin(), found.end(), [](const auto* a, const auto* b) {
    return a->claims.reference_priority > b->claims.reference_priority;
  });
  return found;
}

}  // namespace tutti
