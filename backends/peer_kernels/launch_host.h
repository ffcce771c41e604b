// Kernels on the simulated device: compiles a kernel for all dtypes.
#pragma once

#include "backends/peer_kernels/launch.h"
#include "backends/peer_kernels/types.h"
#include "backends/plugin.h"
#include "kernels/grid.h"

namespace tutti::peer_kernels {

inline constexpr std::uint64_t kHostBytesPerBlock = 1 << 16;  // a block costs rounds with all peers
inline constexpr int kHostLanes = 4;

template <typename Kernel>
int launch_on_host(const tutti_device& device, void* stream, tutti_dtype dtype,
                   const PeerCall<typename Kernel::Region>& call) {
  const int blocks = blocks_for(call.count * bytes_of(dtype), kHostBytesPerBlock);
  return with_type(dtype, [&](auto element) {
    return plugin::enqueue(device, stream, [call, blocks] {
      run_on_host<Kernel, decltype(element)>(call, blocks, kHostLanes);
    });
  });
}

}  // namespace tutti::peer_kernels
