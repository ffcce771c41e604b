// NCCL's allreduce on CUDA memory, by whatever algorithm NCCL chooses: path "default", and
// "nonblocking" through a non-blocking communicator.
#include "backends/nccl/communicator.h"

namespace tutti::nccl {
namespace {

class Nccl : public Communicator {
 public:
  static constexpr const char* kName = "nccl";
  static constexpr const char* kPaths[] = {"default", kNonBlocking, nullptr};
  static plugin::Decision decide(const tutti_facts& facts, const tutti_request* request) {
    return Communicator::decide(kPaths, facts, request);
  }

  using Communicator::Communicator;
};

}  // namespace
}  // namespace tutti::nccl

TUTTI_PLUGIN(tutti::nccl::Nccl)
