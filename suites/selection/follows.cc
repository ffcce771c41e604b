// What `plan` says is what `run` does, on this node: the judge compares the two in every case. Here
// the node is what varies, and where the backend refuses, another one has to be able to take over:
// a refusal is graceful only when the caller still gets its result.
#include <fmt/format.h>

#include <algorithm>

#include "suites/agreement/draw.h"

namespace tutti {

namespace {

constexpr std::uint64_t kCountMost = 5000;  // sizes are what `sweep` varies

// A backend whose claims look at no fact of the node is not expected to do anything else on another
// one. Of one without claims nothing is known.
SkipCause where_it_can_matter(const Cell& cell) {
  const Claims& claims = cell.backend->claims;
  return claims.claims.empty() || claims.look_at_node() ? SkipCause::none : SkipCause::not_claimed;
}

Case draw_case(const Cell& cell, const Profile& profile) {
  Case one_case = draw::surroundings(case_of(cell));
  one_case.steps = draw::program([&] {
    Allreduce call = draw::call(cell, profile, DataClass::exact, false);
    call.count = std::min(call.count, kCountMost);
    return call;
  });
  return one_case;
}

// The same case on the first of the references that is there.
Outcome taken_over(Runner& runner, const Case& one_case, const Cell& cell, const Outcome& refused) {
  if (cell.references.empty()) return refused;
  const BackendEntry& reference = *cell.references.front();
  Outcome other = runner.run(on_backend(one_case, reference), reference, *cell.node);
  if (!other.is_red()) return refused;
  other.reason = fmt::format("{} refused ({}), and {}, which could have taken over, came to: {}",
                             cell.backend->name, refused.reason, reference.name, other.reason);
  return other;
}

Outcome check(Runner& runner, const Case& one_case, const Cell& cell, bool fresh) {
  Runner::Want want;
  want.fresh = fresh;
  const Outcome outcome = runner.run(one_case, *cell.backend, *cell.node, want);
  if (outcome.verdict != Verdict::refused) return outcome;
  return taken_over(runner, one_case, cell, outcome);
}

const PropertyRegistration registration{{
    .suite = "selection",
    .name = "follows",
    .law = "what plan says is what run does on this node: the right result by that path, or a "
           "refusal after which another backend takes over",
    .not_applicable = where_it_can_matter,
    .draw = draw_case,
    .check = check,
    .scope = Scope::each_node,
}};

}  // namespace

}  // namespace tutti
