#include "backends/worker/buffers.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#include "backends/worker/backend_call.h"
#include "fixtures/device/device.h"

namespace tutti {

namespace {

constexpr std::uint64_t kGuardBytes = 4096;
constexpr std::uint64_t kAlignment = 256;

// Differs from byte to byte, so that no fill value passes for it.
const std::array<char, kGuardBytes>& guard_pattern() {
  static const auto pattern = [] {
    std::array<char, kGuardBytes> bytes{};
    std::uint32_t state = 0x9e3779b9u;
    for (char& byte : bytes) {
      state = state * 1664525u + 1013904223u;
      byte = static_cast<char>(state >> 24);
    }
    return bytes;
  }();
  return pattern;
}

// Where they begin, in bytes from the data.
std::array<std::int64_t, 2> guards_of(const Buffer& buffer) {
  return {-static_cast<std::int64_t>(kGuardBytes), static_cast<std::int64_t>(buffer.bytes)};
}

struct Damage {
  std::uint64_t bytes = 0;
  std::int64_t nearest = 0;  // to the data, in bytes from its edge
};

// `edge_at_end`: the data begin where the guard ends.
Damage compare_guard(const char* guard, std::uint64_t length, bool edge_at_end) {
  Damage damage;
  const auto& pattern = guard_pattern();
  if (std::memcmp(guard, pattern.data(), length) == 0) return damage;
  for (std::uint64_t i = 0; i < length; ++i) {
    if (guard[i] == pattern[i]) continue;
    if (edge_at_end || damage.bytes == 0) {
      damage.nearest = edge_at_end
                           ? static_cast<std::int64_t>(i) - static_cast<std::int64_t>(length)
                           : static_cast<std::int64_t>(i);
    }
    ++damage.bytes;
  }
  return damage;
}

}  // namespace

std::uint64_t Buffer::extent() const { return offset + bytes + kGuardBytes; }

Buffers::Buffers(const tutti_backend& backend, void* communicator, const tutti_device& device,
                 bool staged)
    : backend_(backend),
      communicator_(communicator),
      device_(device),
      staged_(staged),
      own_memory_(backend.allocate != nullptr) {}

Buffers::~Buffers() {
  for (const auto& region : regions_) {
    if (device_.kind == TUTTI_MEMORY_CUDA) device_.release_staging(device_.self, region->mirror);
  }
  for (char* memory : backend_memory_) {
    if (own_memory_) {
      free_of_backend(memory);
    } else {
      device_.release(device_.self, memory);
    }
  }
}

void Buffers::check(int code, const char* what) const {
  if (code == 0) return;
  throw DeviceError(fmt::format("{} failed: {}", what, device_.error_name(device_.self, code)));
}

// An exception cannot leave a destructor; `destroy` shows what state the backend is in.
void Buffers::free_of_backend(void* memory) const {
  try {
    backend_call(backend_.free_buffer, communicator_, memory);
  } catch (const BackendThrew& error) {
    fmt::print(stderr, "an exception left free_buffer: {}\n", error.what());
  }
}

void* Buffers::allocate(std::uint64_t bytes) const {
  void* memory = nullptr;
  if (!own_memory_) {
    check(device_.allocate(device_.self, bytes, &memory), "allocating a buffer");
    return memory;
  }
  const auto decline_unless_ok = [&](tutti_status status, const char* what) {
    if (status == TUTTI_OK) return;
    const std::string reason = reason_of(backend_, communicator_);
    if (memory) free_of_backend(memory);
    throw BackendDeclined(status, fmt::format("{} of {} bytes: {}", what, bytes, reason));
  };
  void* made = nullptr;
  decline_unless_ok(backend_call(backend_.allocate, communicator_, bytes, &made), "allocate");
  memory = made;
  decline_unless_ok(backend_call(backend_.register_buffer, communicator_, memory, bytes),
                    "register_buffer");
  return memory;
}

Region* Buffers::new_region(std::uint64_t bytes) {
  const std::uint64_t rounded = std::max<std::uint64_t>(std::bit_ceil(bytes), 64u << 10);
  void* memory = allocate(rounded);
  backend_memory_.push_back(static_cast<char*>(memory));
  auto region = std::make_unique<Region>();
  region->memory = static_cast<char*>(memory);
  region->bytes = rounded;
  region->mirror = region->memory;
  if (device_.kind == TUTTI_MEMORY_CUDA) {
    void* mirror = nullptr;
    check(device_.allocate_staging(device_.self, rounded, &mirror),
          "allocating page-locked memory");
    region->mirror = static_cast<char*>(mirror);
  }
  regions_.push_back(std::move(region));
  return regions_.back().get();
}

Buffer Buffers::acquire(std::uint64_t bytes, std::uint64_t offset) {
  const std::uint64_t needed = kAlignment + kGuardBytes + offset + bytes + kGuardBytes;
  Region* best = nullptr;
  for (const auto& region : regions_) {
    if (region->in_use || region->bytes < needed) continue;
    if (!best || region->bytes < best->bytes) best = region.get();
  }
  if (!best) best = new_region(needed);
  best->in_use = true;
  const auto address = reinterpret_cast<std::uintptr_t>(for_backend({best, 0, 0}));
  const std::uint64_t to_aligned = (kAlignment - address % kAlignment) % kAlignment;
  Buffer buffer{best, to_aligned + kGuardBytes + offset, bytes};
  const auto& pattern = guard_pattern();
  std::memcpy(buffer.mirror() - kGuardBytes, pattern.data(), kGuardBytes);
  std::memcpy(buffer.mirror() + bytes, pattern.data(), kGuardBytes);
  return buffer;
}

void Buffers::release_all() {
  for (const auto& region : regions_) region->in_use = false;
}

char* Buffers::for_backend(const Buffer& buffer) const {
  return (staged_ ? buffer.region->mirror : buffer.region->memory) + buffer.offset;
}

void Buffers::to_device(const Buffer& buffer) const {
  if (device_.kind != TUTTI_MEMORY_CUDA) return;
  check(device_.copy(device_.self, buffer.region->memory, buffer.region->mirror, buffer.extent(),
                     nullptr),
        "copying to the device");
}

void Buffers::from_device(const Buffer& buffer) const {
  if (device_.kind != TUTTI_MEMORY_CUDA) return;
  check(device_.copy(device_.self, buffer.region->mirror, buffer.region->memory, buffer.extent(),
                     nullptr),
        "copying from the device");
}

void Buffers::from_device(const Buffer& buffer, std::uint64_t first, std::uint64_t bytes) const {
  check(device_.copy(device_.self, buffer.mirror() + first, on_device(buffer) + first, bytes,
                     nullptr),
        "copying a part from the device");
}

void Buffers::guards_to_device(const Buffer& buffer) const {
  for (const std::int64_t at : guards_of(buffer))
    check(device_.copy(device_.self, on_device(buffer) + at, buffer.mirror() + at, kGuardBytes,
                       nullptr),
          "copying a guard to the device");
}

void Buffers::guards_from_device(const Buffer& buffer) const {
  for (const std::int64_t at : guards_of(buffer))
    check(device_.copy(device_.self, buffer.mirror() + at, on_device(buffer) + at, kGuardBytes,
                       nullptr),
          "copying a guard from the device");
}

void Buffers::stage_in(const Buffer& buffer, void* stream) const {
  if (!staged_) return;
  check(device_.copy(device_.self, buffer.region->mirror, buffer.region->memory, buffer.extent(),
                     stream),
        "staging an input");
}

void Buffers::stage_out(const Buffer& buffer, void* stream) const {
  if (!staged_) return;
  check(device_.copy(device_.self, buffer.region->memory, buffer.region->mirror, buffer.extent(),
                     stream),
        "staging an output");
}

std::string Buffers::damage(const Buffer& buffer) {
  const Damage before = compare_guard(buffer.mirror() - kGuardBytes, kGuardBytes, true);
  const Damage behind = compare_guard(buffer.mirror() + buffer.bytes, kGuardBytes, false);
  std::string text;
  if (before.bytes) {
    text = fmt::format("{} bytes written before the start, nearest at {}", before.bytes,
                       before.nearest);
  }
  if (behind.bytes) {
    text += fmt::format("{}{} bytes written behind the end, nearest at +{}",
                        text.empty() ? "" : "; ", behind.bytes, behind.nearest);
  }
  return text;
}

}  // namespace tutti
