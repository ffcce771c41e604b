#include "kernels/two_shot.h"

#include "backends/peer_kernels/communicator.h"

namespace tutti {

class TwoShotBackend : public peer_kernels::Communicator<TwoShot<>> {
 public:
  static constexpr const char* kName = "two_shot";
  static constexpr const char* kPaths[] = {kName, nullptr};
  static const char* version() { return "1"; }
  static plugin::Decision decide(const tutti_facts& facts, const tutti_request* request) {
    return peer_kernels::decide(kName, facts, request);
  }
  using peer_kernels::Communicator<TwoShot<>>::Communicator;
};

}  // namespace tutti

TUTTI_PLUGIN(tutti::TwoShotBackend)
