#include <memory>

#include "backends/one_shot/launch.h"

namespace tutti::one_shot {
namespace {

constexpr std::uint64_t kBytesPerBlock = 1 << 16;  // a block costs a hand-over with every peer
constexpr int kLanes = 4;

using Kernel = void (*)(const OneShotArguments&, int blocks, int lanes);

struct Launch {
  OneShotArguments call;
  Kernel kernel;
  int blocks;
};

void carry_out(void* argument) {
  const std::unique_ptr<Launch> launch(static_cast<Launch*>(argument));
  launch->kernel(launch->call, launch->blocks, kLanes);
}

}  // namespace

std::size_t bytes_of(tutti_dtype dtype) { return dtype == TUTTI_BFLOAT16 ? 2 : 4; }

int launch_on_host(const tutti_device& device, void* stream, tutti_dtype dtype, tutti_op op,
                   const OneShotArguments& call) {
  return with_types(dtype, op, [&](auto element, auto reduction) {
    const int blocks = blocks_for(call.count * sizeof element, kBytesPerBlock);
    auto launch = std::make_unique<Launch>(
        Launch{call, one_shot_on_host<decltype(element), decltype(reduction)>, blocks});
    const int error = device.enqueue(device.self, stream, carry_out, launch.get());
    if (error == 0) launch.release();  // carry_out deletes it
    return error;
  });
}

}  // namespace tutti::one_shot
