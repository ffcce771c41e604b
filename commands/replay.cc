// tutti replay '<line>': carries out one case in fresh workers, as its property does, and says what
// it came to.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <thread>

#include "commands/commands.h"
#include "fixtures/faults/fault.h"
#include "suites/cell_run.h"
#include "suites/expectations.h"

namespace tutti {

namespace {

const Property& property_of(const Case& one_case) {
  if (const Property* found = find_property(one_case.property)) return *found;
  std::vector<std::string> names;
  for (const Property& property : properties()) names.push_back(property.full_name());
  throw CaseError(fmt::format("unknown property '{}'; nearest: {}", one_case.property,
                              nearest(one_case.property, names)));
}

// A worker may die a little after its last answer.
Outcome outcome_of(Runner& runner, const Case& one_case, const Cell& cell) {
  Outcome outcome = check_case(runner, one_case, cell, true);
  if (colour_of(outcome.verdict) == Colour::green)
    std::this_thread::sleep_for(std::chrono::milliseconds(1000));
  runner.close_all();
  const std::vector<LateDeath> late = runner.take_late_deaths();
  return outcome.is_red() || late.empty() ? outcome : late.front().outcome;
}

}  // namespace

int replay(Job& job) {
  const Case one_case = parse_case(job.options.line);
  for (const Fault& fault : one_case.faults) fault_kind(fault);
  const Property& property = property_of(one_case);
  if (!property.whole && one_case.world > job.director.ranks()) {
    throw CaseError(
        fmt::format("the case needs a world of {}, and there are {} ranks; start with -np {}",
                    one_case.world, job.director.ranks(), one_case.world));
  }
  const std::vector<Allreduce> calls = calls_of(one_case);
  if (calls.empty())
    throw CaseError(
        "the case has no call; add a step such as: allreduce dtype=fp32 op=sum count=1");
  const BackendEntry backend =
      find_backend(job.places, one_case.plugin.empty() ? one_case.backend : one_case.plugin);
  const Node node = node_of(job, one_case.node);
  const std::vector<BackendEntry> installed = installed_backends(job.places);
  Cell cell{&property,           &backend,        &node, {}, one_case.world, one_case.path,
            calls.front().dtype, calls.front().op};
  const bool in_rank = job.options.isolation == "none";
  Runner runner(job.director, job.places, {job.options.deadline_ms, in_rank, job.machine.hosts});
  cell.references = references_for(runner, installed, backend, node);
  const Outcome outcome = outcome_of(runner, one_case, cell);
  fmt::print("{}\n{}: {}\n", to_line(one_case), name_of(outcome.verdict), outcome.reason);
  for (const std::string& text : outcome.evidence) fmt::print("{}\n", text);
  if (const Expected* expected = expected_failure(cell, one_case, outcome)) {
    fmt::print("known failure: {} ({})\n", expected->reason, expected->link);
  }
  if (outcome.verdict == Verdict::skip) return 2;
  return outcome.is_red() ? 1 : 0;
}

}  // namespace tutti
