// Starts a kernel for one dtype on either kind of device.
#pragma once

#include "backends/backend.h"
#include "kernels/rounds.h"

namespace tutti::peer_kernels {

// Each enqueues one call, of at most Kernel::most_bytes, on the stream and returns 0 or the
// device's error code. They are defined in launch_host.h and launch_cuda.h.
template <typename Kernel>
int launch_on_host(const tutti_device& device, void* stream, tutti_dtype dtype,
                   const PeerCall<typename Kernel::Region>& call);
template <typename Kernel>
int launch_on_cuda(int device_index, void* stream, tutti_dtype dtype,
                   const PeerCall<typename Kernel::Region>& call);

// Sets *capturing when the stream of a CUDA device is being captured into a graph.
int is_capturing(int device_index, void* stream, bool* capturing);

// How many blocks share `bytes`: one for each `bytes_per_block`, as far as there are flags. The
// same on all ranks.
inline int blocks_for(std::uint64_t bytes, std::uint64_t bytes_per_block) {
  const std::uint64_t wanted = (bytes + bytes_per_block - 1) / bytes_per_block;
  return wanted > kMostBlocks ? kMostBlocks : static_cast<int>(wanted);
}

}  // namespace tutti::peer_kernels
