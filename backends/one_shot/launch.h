// Starts the kernel for one dtype and op on either kind of device.
#pragma once

#include "backends/backend.h"
#include "kernels/one_shot.h"

namespace tutti::one_shot {

// Bytes of one element of a dtype that the backend takes.
std::size_t bytes_of(tutti_dtype dtype);

// Each enqueues one call on the stream and returns 0 or the device's error code.
int launch_on_host(const tutti_device& device, void* stream, tutti_dtype dtype, tutti_op op,
                   const OneShotArguments& call);
#if defined(ONE_SHOT_CUDA)
int launch_on_cuda(int device_index, void* stream, tutti_dtype dtype, tutti_op op,
                   const OneShotArguments& call);
// Sets *capturing when the stream is being captured into a graph.
int is_capturing(int device_index, void* stream, bool* capturing);
#endif

// Calls body(T{}, Reduction{}) with the types that dtype and op stand for.
template <typename Body>
int with_types(tutti_dtype dtype, tutti_op op, const Body& body) {
  const auto with_dtype = [&](auto reduction) {
    if (dtype == TUTTI_FLOAT32) return body(float{}, reduction);
    if (dtype == TUTTI_BFLOAT16) return body(bfloat16{}, reduction);
    return body(std::int32_t{}, reduction);
  };
  return op == TUTTI_SUM ? with_dtype(Sum{}) : with_dtype(Max{});
}

// How many blocks share `bytes`: one for each `bytes_per_block`, as far as there are flags. The
// same on all ranks.
inline int blocks_for(std::uint64_t bytes, std::uint64_t bytes_per_block) {
  const std::uint64_t wanted = (bytes + bytes_per_block - 1) / bytes_per_block;
  return wanted > kOneShotBlocks ? kOneShotBlocks : static_cast<int>(wanted);
}

}  // namespace tutti::one_shot
