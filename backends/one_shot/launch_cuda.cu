#include <cuda_runtime.h>

#include "backends/one_shot/launch.h"

namespace tutti::one_shot {
namespace {

constexpr unsigned kLanes = 512;
constexpr std::uint64_t kBytesPerBlock = kLanes * 16;  // one pack a lane

}  // namespace

int launch_on_cuda(int device_index, void* stream, tutti_dtype dtype, tutti_op op,
                   const OneShotArguments& call) {
  const cudaError_t error = cudaSetDevice(device_index);  // this plugin's CUDA runtime is its own
  if (error != cudaSuccess) return error;
  return with_types(dtype, op, [&](auto element, auto reduction) -> int {
    const int blocks = blocks_for(call.count * sizeof element, kBytesPerBlock);
    auto* kernel = one_shot_on_cuda<decltype(element), decltype(reduction)>;
    OneShotArguments arguments = call;
    void* parameters[] = {&arguments};
    return cudaLaunchKernel(reinterpret_cast<const void*>(kernel),
                            dim3(static_cast<unsigned>(blocks)), dim3(kLanes), parameters, 0,
                            static_cast<cudaStream_t>(stream));
  });
}

int is_capturing(int device_index, void* stream, bool* capturing) {
  cudaError_t error = cudaSetDevice(device_index);
  if (error != cudaSuccess) return error;
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  error = cudaStreamIsCapturing(static_cast<cudaStream_t>(stream), &status);
  *capturing = status != cudaStreamCaptureStatusNone;
  return error;
}

}  // namespace tutti::one_shot
