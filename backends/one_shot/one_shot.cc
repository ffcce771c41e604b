#include "kernels/one_shot.h"

#include "backends/peer_kernels/communicator.h"

namespace tutti {

class OneShotBackend : public peer_kernels::Communicator<OneShot<>> {
 public:
  static constexpr const char* kName = "one_shot";
  static constexpr const char* kPaths[] = {kName, nullptr};
  static const char* version() { return "2"; }
  static plugin::Decision decide(const tutti_facts& facts, const tutti_request* request) {
    return peer_kernels::decide(kName, facts, request);
  }
  using peer_kernels::Communicator<OneShot<>>::Communicator;
};

}  // namespace tutti

TUTTI_PLUGIN(tutti::OneShotBackend)
