#include "backends/one_shot/decide.h"

#include <fmt/format.h>

#include <cstring>
#include <string>
#include <string_view>

#include "kernels/one_shot.h"

namespace tutti::one_shot {
namespace {

// Why a world cannot be served, whatever the request; empty when it can.
std::string refusal_of_world(const tutti_facts& facts) {
  if (facts.world > kOneShotWorld) {
    return fmt::format("{} ranks, but one_shot has room for {}", facts.world, kOneShotWorld);
  }
  for (int rank = 0; rank < facts.world; ++rank) {
    const tutti_rank_facts& own = facts.ranks[rank];
    if (std::string_view(own.host) != facts.ranks[0].host) {
      return fmt::format("rank {} is on host {} and rank 0 on {}, but one_shot needs one host",
                         rank, own.host, facts.ranks[0].host);
    }
    const void* denied = std::memchr(own.peer_access, 0, static_cast<std::size_t>(facts.world));
    if (denied != nullptr) {
      return fmt::format(
          "rank {} has no peer access to rank {}, and one_shot needs it between all ranks", rank,
          static_cast<const std::uint8_t*>(denied) - own.peer_access);
    }
  }
  return "";
}

// Why a request cannot be served in a world that can; empty when it can.
std::string refusal_of_request(const tutti_request& request) {
  if (request.collective != TUTTI_ALLREDUCE) return "one_shot has allreduce only";
  if (request.extension != nullptr) return "one_shot has no fused forms";
  if (request.path != nullptr && std::string_view(request.path) != kPath) {
    return fmt::format("one_shot has no path {}, only {}", request.path, kPath);
  }
  const tutti_dtype dtype = request.dtype;
  if (dtype != TUTTI_FLOAT32 && dtype != TUTTI_BFLOAT16 && dtype != TUTTI_INT32) {
    return "one_shot has fp32, bf16 and int32 only";
  }
  if (request.op != TUTTI_SUM && request.op != TUTTI_MAX) return "one_shot has sum and max only";
  return "";
}

}  // namespace

plugin::Decision decide(const tutti_facts& facts, const tutti_request* request) {
  std::string refusal = refusal_of_world(facts);
  if (refusal.empty() && request) refusal = refusal_of_request(*request);
  return refusal.empty() ? plugin::take(kPath) : plugin::refuse(refusal);
}

}  // namespace tutti::one_shot
