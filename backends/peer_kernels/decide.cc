#include "backends/peer_kernels/decide.h"

#include <fmt/format.h>

#include <cstring>
#include <string>
#include <string_view>

#include "backends/peer_kernels/types.h"
#include "kernels/rounds.h"

namespace tutti::peer_kernels {
namespace {

// Why a world cannot be served, whatever the request; empty when it can.
std::string refusal_of_world(std::string_view name, const tutti_facts& facts) {
  if (facts.world > kMostRanks) {
    return fmt::format("{} ranks, but {} has room for {}", facts.world, name, kMostRanks);
  }
  for (int rank = 0; rank < facts.world; ++rank) {
    const tutti_rank_facts& own = facts.ranks[rank];
    if (std::string_view(own.host) != facts.ranks[0].host) {
      return fmt::format("rank {} is on host {} and rank 0 on {}, but {} needs one host", rank,
                         own.host, facts.ranks[0].host, name);
    }
    if ((own.handles & TUTTI_HANDLE_CUDA_IPC) == 0) {
      return fmt::format("rank {} has no CUDA IPC, by which {} shares memory", rank, name);
    }
    const void* denied = std::memchr(own.peer_access, 0, static_cast<std::size_t>(facts.world));
    if (denied != nullptr) {
      return fmt::format("rank {} has no peer access to rank {}, and {} needs it between all ranks",
                         rank, static_cast<const std::uint8_t*>(denied) - own.peer_access, name);
    }
  }
  return "";
}

// Why a request cannot be served in a world that can; empty when it can.
std::string refusal_of_request(std::string_view name, const tutti_request& request) {
  if (request.collective != TUTTI_ALLREDUCE) return fmt::format("{} has allreduce only", name);
  if (request.extension != nullptr) return fmt::format("{} has no fused forms", name);
  if (request.path != nullptr && request.path != name) {
    return fmt::format("{} has no path {}, only {}", name, request.path, name);
  }
  if (!is_dtype(request.dtype) || request.op < TUTTI_SUM || request.op > TUTTI_AVG) {
    return fmt::format("{} has no dtype number {} with op number {}", name,
                       static_cast<int>(request.dtype), static_cast<int>(request.op));
  }
  return "";
}

}  // namespace

plugin::Decision decide(const char* name, const tutti_facts& facts, const tutti_request* request) {
  std::string refusal = refusal_of_world(name, facts);
  if (refusal.empty() && request) refusal = refusal_of_request(name, *request);
  return refusal.empty() ? plugin::take(name) : plugin::refuse(refusal);
}

}  // namespace tutti::peer_kernels
