// Runs all blocks of a kernel over peer memory. A kernel is a struct with
//   Region                                      what each rank shares with its peers, with
//   RoundFlags most_bytes                                  the largest message of one call
//   run<T>(block, shared, call)                 what one block does, for elements of type T
#pragma once

#include "kernels/block.h"
#include "kernels/rounds.h"

namespace tutti {

template <typename Kernel, typename T>
void run_on_host(const PeerCall<typename Kernel::Region>& call, int blocks, int lanes) {
  for (int index = 0; index < blocks; ++index) {
    RoundShared shared{};
    Kernel::template run<T>(HostBlock(index, blocks, lanes), shared, call);
  }
}

#if defined(__CUDACC__)
inline constexpr int kCudaLanes = 512;  // of a block

template <typename Kernel, typename T>
__global__ void __launch_bounds__(kCudaLanes)
    run_on_cuda(const __grid_constant__ PeerCall<typename Kernel::Region> call) {
  __shared__ RoundShared shared;
  if (threadIdx.x == 0) shared = {};
  Kernel::template run<T>(CudaBlock(), shared, call);
}
#endif

}  // namespace tutti
