// NCCL's allreduce among ranks that pass for hosts of their own (NCCL_HOSTID), so over sockets:
// path "sockets", and "nonblocking" through a non-blocking communicator. Ranks may share a GPU
// then, and worlds larger than the number of GPUs reach NCCL.
#include <cstdlib>
#include <cstring>
#include <string>

#include "backends/nccl/communicator.h"

namespace tutti::nccl {
namespace {

// What the user has set stays. NCCL reads these when its first communicator is made.
void pretend_to_be_a_host(const tutti_world& world) {
  const tutti_rank_facts* ranks = world.facts->ranks;
  bool one_host = true;
  for (int rank = 1; rank < world.world; ++rank)
    one_host = one_host && std::strcmp(ranks[0].host, ranks[rank].host) == 0;
  ::setenv("NCCL_HOSTID", ("tutti-rank-" + std::to_string(world.rank)).c_str(), 1);
  ::setenv("NCCL_NET", "Socket", 0);
  ::setenv("NCCL_MNNVL_ENABLE", "0", 0);  // fabric memory between "hosts" would be no network
  if (one_host) ::setenv("NCCL_SOCKET_IFNAME", "lo", 0);
}

class NcclNet : public Communicator {
 public:
  static constexpr const char* kName = "nccl_net";
  static constexpr const char* kPaths[] = {"sockets", kNonBlocking, nullptr};
  static plugin::Decision decide(const tutti_facts& facts, const tutti_request* request) {
    return Communicator::decide(kPaths, facts, request, Sharing::taken);
  }

  explicit NcclNet(const tutti_world& world) : Communicator(world, Sharing::taken) {}
  tutti_status create() {
    pretend_to_be_a_host(world());
    return open(TUTTI_OK);
  }
};

}  // namespace
}  // namespace tutti::nccl

TUTTI_PLUGIN(tutti::nccl::NcclNet)
