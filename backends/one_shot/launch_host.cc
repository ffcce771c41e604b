#include "backends/one_shot/launch.h"
#include "backends/plugin.h"

namespace tutti::one_shot {
namespace {

constexpr std::uint64_t kBytesPerBlock = 1 << 16;  // a block costs a hand-over with every peer
constexpr int kLanes = 4;

}  // namespace

std::size_t bytes_of(tutti_dtype dtype) { return dtype == TUTTI_BFLOAT16 ? 2 : 4; }

int launch_on_host(const tutti_device& device, void* stream, tutti_dtype dtype, tutti_op op,
                   const OneShotArguments& call) {
  return with_types(dtype, op, [&](auto element, auto reduction) {
    const int blocks = blocks_for(call.count * sizeof element, kBytesPerBlock);
    return plugin::enqueue(device, stream, [call, blocks] {
      one_shot_on_host<decltype(element), decltype(reduction)>(call, blocks, kLanes);
    });
  });
}

}  // namespace tutti::one_shot
