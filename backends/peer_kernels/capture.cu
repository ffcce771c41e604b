#include <cuda_runtime.h>

#include "backends/peer_kernels/launch.h"

namespace tutti::peer_kernels {

int is_capturing(int device_index, void* stream, bool* capturing) {
  cudaError_t error = cudaSetDevice(device_index);
  if (error != cudaSuccess) return error;
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  error = cudaStreamIsCapturing(static_cast<cudaStream_t>(stream), &status);
  *capturing = status != cudaStreamCaptureStatusNone;
  return error;
}

}  // namespace tutti::peer_kernels
