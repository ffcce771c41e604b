// Kernels on the simulated device: compiles all dtypes and ops of a kernel.
#pragma once

#include "backends/peer_kernels/launch.h"
#include "backends/peer_kernels/types.h"
#include "backends/plugin.h"
#include "kernels/grid.h"

namespace tutti::peer_kernels {

template <typename Kernel>
int launch_on_host(const tutti_device& device, void* stream, tutti_dtype dtype, tutti_op op,
                   const PeerCall<typename Kernel::Region>& call) {
  static constexpr std::uint64_t kBytesPerBlock = 1 << 16;  // a block costs a round with every peer
  static constexpr int kLanes = 4;
  const int blocks = blocks_for(call.count * bytes_of(dtype), kBytesPerBlock);
  return with_types(dtype, op, [&](auto element, auto reduction) {
    auto* run = run_on_host<Kernel, decltype(element), decltype(reduction)>;
    return plugin::enqueue(device, stream, [run, call, blocks] { run(call, blocks, kLanes); });
  });
}

}  // namespace tutti::peer_kernels
