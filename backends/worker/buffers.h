// Buffers with guards: what a backend reads and writes, and proof that it touched nothing else.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "backends/backend.h"

namespace tutti {

// Memory of the device (or the backend's own), reused from case to case. On the host device
// `mirror` is the memory itself; on CUDA it is page-locked host memory that is copied to and fro.
struct Region {
  char* memory = nullptr;
  char* mirror = nullptr;
  std::uint64_t bytes = 0;
  bool in_use = false;
};

// `bytes` of data inside a region, with a guard before and behind.
struct Buffer {
  Region* region = nullptr;
  std::uint64_t offset = 0;  // of the data in the region
  std::uint64_t bytes = 0;
  char* mirror() const { return region->mirror + offset; }
  // One past the last guard byte, from the region's start: what has to be copied.
  std::uint64_t extent() const;
};

class Buffers {
 public:
  // `staged`: the backend takes host memory only on a CUDA device, so it is given the mirror.
  Buffers(const tutti_backend& backend, void* communicator, const tutti_device& device,
          bool staged);
  ~Buffers();
  Buffers(const Buffers&) = delete;
  Buffers& operator=(const Buffers&) = delete;

  // Data at `offset` bytes behind a 256-byte aligned address, guards written. All ranks acquire the
  // same sizes in the same order, so that collective registration lines up. Throws
  // BackendDeclined when the backend says so (backend_call.h), DeviceError when the device does.
  Buffer acquire(std::uint64_t bytes, std::uint64_t offset);
  void release_all();

  bool is_staged() const { return staged_; }
  char* for_backend(const Buffer& buffer) const;
  // Mirror to device and back; nothing on the host device. Done when they return.
  void to_device(const Buffer& buffer) const;
  void from_device(const Buffer& buffer) const;
  // So many bytes of the data only, from `first` on; the guards only; and where the data are there.
  void from_device(const Buffer& buffer, std::uint64_t first, std::uint64_t bytes) const;
  void guards_to_device(const Buffer& buffer) const;
  void guards_from_device(const Buffer& buffer) const;
  char* on_device(const Buffer& buffer) const { return buffer.region->memory + buffer.offset; }
  // The same on the stream, around a staged call.
  void stage_in(const Buffer& buffer, void* stream) const;
  void stage_out(const Buffer& buffer, void* stream) const;

  // Empty when both guards are whole, else where they were overwritten: "3 bytes written behind the
  // end, first at +1".
  static std::string damage(const Buffer& buffer);

 private:
  Region* new_region(std::uint64_t bytes);
  void* allocate(std::uint64_t bytes) const;
  void free_of_backend(void* memory) const;
  void check(int code, const char* what) const;

  const tutti_backend& backend_;
  void* communicator_;
  const tutti_device& device_;
  bool staged_;
  bool own_memory_;  // the backend allocates
  std::vector<std::unique_ptr<Region>> regions_;
  std::vector<char*> backend_memory_;
};

}  // namespace tutti
