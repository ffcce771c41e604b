// The binary: parses the command line, starts an MPI job where it is none, checks that the job is
// sound, and lets rank 0 direct it while the other ranks serve.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <mpi.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <map>
#include <stdexcept>

#include "commands/build_hash.h"
#include "commands/commands.h"
#include "commands/launch.h"
#include "commands/machine.h"
#include "fixtures/cases/case.h"
#include "fixtures/claims/claims.h"
#include "fixtures/world/signals.h"
#include "suites/property.h"

namespace tutti {

namespace {

// The revision is that of the last configuration, so what is run is told by its bytes.
std::string build_id() {
  return fmt::format("{}-{}-{:016x}", TUTTI_VERSION, TUTTI_REVISION,
                     hash_of_files({"/proc/self/exe", places().lib + "/libtutti_worker.so"}));
}

// With --isolation none backends run in this process, so it gets what keeps workers safe. Before
// MPI_Init: its threads may read the environment.
void make_safe(const Options& options) {
  std::map<std::string, std::string> own;
  std::vector<std::string> names = options.backends;
  if (options.command == "replay") names.push_back(parse_case(options.line).plugin);
  for (const std::string& name : names) {
    try {
      const BackendEntry backend = find_backend(places(), name);
      own.insert(backend.claims.environment.begin(), backend.claims.environment.end());
    } catch (const CatalogError&) {
      continue;  // the director tells
    }
  }
  for (const auto& [key, value] : worker_environment(places(), own))
    ::setenv(key.c_str(), value.c_str(), 1);
}

std::vector<std::string> words_of(int count, char** arguments) {
  return {arguments + 1, arguments + count};
}

// Why this job cannot work; empty when it can. All ranks come to the same answer.
std::string problem_of_job(Link& link, const std::string& mine) {
  const int expected = ranks_by_launcher();
  if (link.size() == 1 && expected > 1) {
    return fmt::format(
        "the launcher started {} ranks, but MPI sees a world of 1: each rank is alone. Launch with "
        "the mpirun that belongs "
        "to the MPI library of this binary (Open MPI), or with srun --mpi=pmix",
        expected);
  }
  const std::vector<std::string> all = link.gather_texts(mine);
  if (all.empty())
    return "the ranks could not agree on anything within a minute; is every host reachable?";
  for (std::size_t rank = 0; rank < all.size(); ++rank) {
    if (all[rank] == all[0]) continue;
    return fmt::format("rank {} runs another build or other options than rank 0: '{}' against '{}'",
                       rank, all[rank], all[0]);
  }
  return "";
}

int direct(const Options& options, Link& link, RankService& service,
           const std::string& command_line, const std::string& build, Machine machine,
           std::vector<std::string> pids) {
  Director director(link, service);
  int status = kCannotWork;
  try {
    Job job{options, director, places(), std::move(machine), std::move(pids), command_line, build};
    if (options.command == "run") status = run(job);
    if (options.command == "replay") status = replay(job);
    if (options.command == "bench") status = bench(job);
    if (options.command == "doctor") status = doctor(job);
  } catch (const std::exception& error) {
    // Bad names, bad files, a rank that does not answer: nothing was judged.
    fmt::print(stderr, "tutti: {}\n", error.what());
  }
  director.stop();
  return status;
}

// Ids of the ranks' processes on this host; empty when the ranks do not answer.
std::vector<std::string> pids_here(Link& link) {
  const std::string host = host_name() + " ";
  std::vector<std::string> pids;
  for (const std::string& text : link.gather_texts(host + std::to_string(::getpid()))) {
    if (text.starts_with(host)) pids.push_back(text.substr(host.size()));
  }
  return pids;
}

int as_rank(const Options& options, const std::string& command_line) {
  Link link;
  const std::string build = build_id();
  const std::string problem = problem_of_job(link, build + " " + command_line);
  if (!problem.empty()) {
    if (link.rank() == 0) fmt::print(stderr, "tutti: {}\n", problem);
    return kCannotWork;
  }
  RankService service;
  Machine machine = read_machine(link, places());
  std::vector<std::string> pids = pids_here(link);
  if (link.rank() == 0)
    return direct(options, link, service, command_line, build, std::move(machine), std::move(pids));
  serve_rank(link, service);
  return 0;
}

// Where only plan is asked, the world is nobody's.
int ranks_of_replay(const Case& one_case) {
  const Property* property = find_property(one_case.property);
  return property && property->whole ? 1 : one_case.world;
}

int main_of(int count, char** arguments) {
  Options options;
  int status = 0;
  if (!parse_options(count, arguments, options, status)) return status;
  if (options.command == "list") return list(places());
  if (options.command == "diff") return diff(options);
  const std::vector<std::string> words = words_of(count, arguments);
  if (!started_by_launcher()) {
    int ranks = options.ranks;
    if (options.command == "bench" && options.bench == "verify") ranks = 1;  // it needs no more
    if (options.command == "doctor") ranks = 1;
    if (options.command == "replay") ranks = ranks_of_replay(parse_case(options.line));
    return run_mpirun(ranks, words);
  }
  prepare_for_mpi();
  if (options.isolation == "none" || options.command == "bench") make_safe(options);
  ::prctl(PR_SET_TIMERSLACK, 1);
  MPI_Init(nullptr, nullptr);
  install_signal_notes();
  status = as_rank(options, fmt::format("tutti {}", fmt::join(words, " ")));
  status = told_status(status);  // before mpirun loses its patience
  MPI_Finalize();
  return status;
}

}  // namespace

}  // namespace tutti

int main(int count, char** arguments) {
  try {
    return tutti::main_of(count, arguments);
  } catch (const std::exception& error) {
    fmt::print(stderr, "tutti: {}\n", error.what());
    return 2;
  }
}
