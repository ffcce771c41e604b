// Carries out cases: keeps sets of workers alive from case to case, and makes fresh ones when asked
// or needed.
#pragma once

#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "fixtures/cases/case.h"
#include "fixtures/nodes/node.h"
#include "suites/catalog.h"
#include "suites/outcome.h"

namespace tutti {

struct RunnerOptions {
  std::uint64_t deadline_ms =
      10'000;            // of every wait inside a backend; the suite's own deadlines follow from it
  bool in_rank = false;  // --isolation none
  int hosts = 1;         // that the ranks are on
};

// What a backend says of itself once it is loaded.
struct BackendIdentity {
  std::string version;
  unsigned memory = 0;
  std::vector<std::string> paths;
};

// A worker that was found dead, though all that it was asked had come to something green.
struct LateDeath {
  std::string purpose;  // of the last case: see Runner::set_purpose
  Case last;            // with a few cases before it
  Outcome outcome;      // crash
};

class Runner {
 public:
  Runner(Director& director, Places places, RunnerOptions options)
      : director_(director), places_(std::move(places)), options_(options) {}
  ~Runner();

  struct Want {
    RunMode mode = RunMode::plain;
    bool fresh = false;    // in workers that have carried out nothing before
    bool destroy = false;  // end with destroy, and report what it left behind
  };
  // Carries out a case on a backend and judges it; the earlier cases of a case only in fresh
  // workers, and the first red one of them is the outcome. Sets of workers that were part of
  // anything red are ended. Where create was refused before, for this node and world, what it said
  // then is judged again, unless fresh workers are wanted.
  Outcome run(const Case& one_case, const BackendEntry& backend, const Node& node,
              const Want& want);
  Outcome run(const Case& one_case, const BackendEntry& backend, const Node& node) {
    return run(one_case, backend, node, Want{});
  }
  // Adds what is known of the workers of the case that was carried out last to an outcome that only
  // a comparison turned red: what they had carried out before, and what the backend logged.
  void blame(const Case& one_case, Outcome& outcome);
  // Hashes of all shares of all calls of the last case that was not red, an entry a rank.
  const std::vector<nlohmann::json>& last_hashes() const { return last_hashes_; }

  // Loads a backend in a worker of its own and asks it. Throws CatalogError with what the worker
  // said when it cannot be.
  const BackendIdentity& identity(const BackendEntry& backend);
  // Asks one thing of a worker of its own, which is not part of any world, and ends it. Throws
  // CatalogError when it cannot be started.
  Reply ask_alone(const BackendEntry& backend, Kind kind, const std::string& payload,
                  std::chrono::milliseconds timeout);
  void close_all();
  // What cases are carried out for from here on; a late death names what its last case was for.
  void set_purpose(std::string purpose) { purpose_ = std::move(purpose); }
  // The late deaths that were found since this was asked last.
  std::vector<LateDeath> take_late_deaths() { return std::exchange(late_deaths_, {}); }
  Director& director() { return director_; }
  const RunnerOptions& options() const { return options_; }

 private:
  struct Live {
    std::uint32_t id = 0;
    std::uint64_t used = 0;
    bool is_reference = false;  // was compared with
    std::vector<EarlierCase> cases;
    std::optional<Case> last_green;  // none after anything else
    std::string purpose;             // of that
  };
  static std::string key_of(const Case& one_case);
  Replies start_alone(const BackendEntry& backend, std::uint32_t& id);
  bool open(const Case& one_case, const BackendEntry& backend, const Node& node, Observation& seen);
  // Ends the sets that were not used for longest, until there are no more than `most`.
  void close_unused(bool references, std::size_t most);
  void close(const std::string& key);
  void note_late_death(const Live& live);
  void remember(const Case& one_case, const Observation& seen, Outcome& outcome);
  void keep_last_words(std::uint32_t id, Outcome& outcome);
  std::chrono::milliseconds limit(const Case& one_case) const;
  Observation carry_out(const Case& one_case, const BackendEntry& backend, const Node& node,
                        const Want& want);
  void run_in(Live& live, const Case& one_case, const Want& want, Observation& seen);
  Outcome run_earlier(const Case& one_case, const BackendEntry& backend, const Node& node);
  Outcome run_one(const Case& one_case, const BackendEntry& backend, const Node& node,
                  const Want& want);

  Director& director_;
  Places places_;
  RunnerOptions options_;
  std::map<std::string, Live> live_;
  std::map<std::string, BackendIdentity> identities_;
  std::map<std::string, Observation> not_created_;  // refused before, or not installed
  std::vector<nlohmann::json> last_hashes_;
  std::vector<LateDeath> late_deaths_;
  std::string purpose_;
  std::uint64_t clock_ = 0;
};

// Other backends that can be the reference on this node, the largest priority first. The pointers
// are into `candidates`.
std::vector<const BackendEntry*> references_for(Runner& runner,
                                                const std::vector<BackendEntry>& candidates,
                                                const BackendEntry& backend, const Node& node);

}  // namespace tutti
