// What the calls of a case gave, so that two runs can be compared.
#include <fmt/format.h>

#include "fixtures/data/data.h"
#include "suites/judge.h"
#include "suites/judge_parts.h"

namespace tutti {

using nlohmann::json;

// The hashes of all shares on all ranks; a call that was refused has none, and counts as that.
void keep_results(const Replies& run, Outcome& outcome) {
  json results = json::array();
  for (const Reply& reply : run) {
    if (!reply.body.is_object() || !reply.body.contains("calls")) return;
    for (const json& call : reply.body["calls"]) {
      if (!call.is_object()) return;
      results.push_back(call.value("hashes", json()));
      if (call.value("status", -1) == TUTTI_OK && !text_of(call, "path").empty())
        outcome.paths.insert(text_of(call, "path"));
    }
  }
  if (results.empty() || outcome.is_red()) return;
  const std::string text = results.dump();
  outcome.bits = fmt::format("{:016x}", hash_bytes(text.data(), text.size()));
}

}  // namespace tutti
