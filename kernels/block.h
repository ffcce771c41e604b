// What a kernel sees of its block. A kernel is written as phases; between two phases lies a barrier
// of the block. Within a phase the lanes run in no order, and none may wait for another.
//
// On CUDA a lane is a thread and the barrier is __syncthreads(). On the host a block is one thread
// that runs each phase for all its lanes, and the blocks of a grid run one after another. So the
// host shows errors between ranks, but not a missing barrier inside a block, nor orders of memory
// that are weaker than the processor's.
#pragma once

#include <cstdint>

#include "fixtures/data/narrow_float.h"  // TUTTI_HOST_DEVICE

namespace tutti {

class HostBlock {
 public:
  HostBlock(int index, int blocks, int lanes) : index_(index), blocks_(blocks), lanes_(lanes) {}
  int index() const { return index_; }
  int blocks() const { return blocks_; }
  int lanes() const { return lanes_; }

  template <typename Body>
  void phase(const Body& body) const {
    for (int lane = 0; lane < lanes_; ++lane) body(lane);
  }

  // Calls body(i) for this lane's share of [first, last): a contiguous one, which suits caches.
  template <typename Body>
  void each(std::uint64_t first, std::uint64_t last, int lane, const Body& body) const {
    const std::uint64_t length = last - first;
    const std::uint64_t end = first + length * static_cast<std::uint64_t>(lane + 1) / lanes_;
    for (std::uint64_t i = first + length * static_cast<std::uint64_t>(lane) / lanes_; i < end; ++i)
      body(i);
  }

 private:
  int index_;
  int blocks_;
  int lanes_;
};

#if defined(__CUDACC__)
class CudaBlock {
 public:
  __device__ int index() const { return static_cast<int>(blockIdx.x); }
  __device__ int blocks() const { return static_cast<int>(gridDim.x); }
  __device__ int lanes() const { return static_cast<int>(blockDim.x); }

  template <typename Body>
  __device__ void phase(const Body& body) const {
    body(static_cast<int>(threadIdx.x));
    __syncthreads();
  }

  // Neighbouring lanes take neighbouring elements, so that their accesses coalesce.
  template <typename Body>
  __device__ void each(std::uint64_t first, std::uint64_t last, int lane, const Body& body) const {
    for (std::uint64_t i = first + lane; i < last; i += blockDim.x) body(i);
  }
};
#endif

}  // namespace tutti
