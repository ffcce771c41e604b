// What the parts of judging share: text out of answers, values by rank, and the verdicts of one
// phase.
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "fixtures/cases/case.h"
#include "suites/catalog.h"
#include "suites/outcome.h"

namespace tutti {

const char* status_name(int status);
std::string text_of(const nlohmann::json& body, const char* key);  // "" when it is not there
Outcome red(Verdict verdict, std::string reason);

std::vector<std::string> by_rank(const Replies& replies,
                                 const std::function<std::string(const nlohmann::json&)>& value);
bool all_equal(const std::vector<std::string>& values);
// "ok on rank 0 1, unsupported (reason) on rank 2", from one value a rank.
std::string grouped(const std::vector<std::string>& by_rank);

// One answer, not ok, given alike by all ranks. Only `unsupported` with a reason is graceful, and
// only where no claim is broken; an error is none, whatever is claimed.
Outcome judge_declined(int status, const std::string& reason, ClaimState claimed,
                       const char* where);

// The calls of a case that every worker survived. Verdict::missing with a reason when a rank did
// not tell enough.
Outcome judge_run(const Case& one_case, const BackendEntry& backend, const Node& node,
                  const Replies& run);

}  // namespace tutti
