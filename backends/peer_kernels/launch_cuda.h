// Kernels on CUDA: compiles a kernel for all dtypes.
#pragma once

#include <cuda_runtime.h>

#include "backends/peer_kernels/launch.h"
#include "backends/peer_kernels/types.h"
#include "kernels/grid.h"

namespace tutti::peer_kernels {

template <typename Kernel>
int launch_on_cuda(int device_index, void* stream, tutti_dtype dtype,
                   const PeerCall<typename Kernel::Region>& call) {
  constexpr std::uint64_t kBytesPerBlock = kCudaLanes * 16;  // one pack a lane
  const cudaError_t error = cudaSetDevice(device_index);  // this plugin's CUDA runtime is its own
  if (error != cudaSuccess) return error;
  const int blocks = blocks_for(call.count * bytes_of(dtype), kBytesPerBlock);
  return with_type(dtype, [&](auto element) -> int {
    auto* kernel = run_on_cuda<Kernel, decltype(element)>;
    auto arguments = call;
    void* parameters[] = {&arguments};
    return cudaLaunchKernel(reinterpret_cast<const void*>(kernel),
                            dim3(static_cast<unsigned>(blocks)), dim3(kCudaLanes), parameters, 0,
                            static_cast<cudaStream_t>(stream));
  });
}

}  // namespace tutti::peer_kernels
