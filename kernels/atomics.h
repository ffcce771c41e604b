// Loads and stores that order memory between ranks, for both compilers. "System" reaches peer
// devices and the host, "device" the blocks of one kernel. Ordering is carried by these alone,
// never by separate fences, so that ThreadSanitizer can follow it on the host.
#pragma once

#include <cstdint>

#include "fixtures/data/narrow_float.h"  // TUTTI_HOST_DEVICE

#if !defined(__CUDA_ARCH__)
#include <sched.h>
#include <time.h>

#include <atomic>
#endif

namespace tutti {

TUTTI_HOST_DEVICE inline std::uint64_t load_acquire_system(const std::uint64_t* address) {
#if defined(__CUDA_ARCH__)
  std::uint64_t value;
  asm volatile("ld.acquire.sys.u64 %0, [%1];" : "=l"(value) : "l"(address) : "memory");
  return value;
#else
  return std::atomic_ref(*const_cast<std::uint64_t*>(address)).load(std::memory_order_acquire);
#endif
}

TUTTI_HOST_DEVICE inline void store_release_system(std::uint64_t* address, std::uint64_t value) {
#if defined(__CUDA_ARCH__)
  asm volatile("st.release.sys.u64 [%0], %1;" ::"l"(address), "l"(value) : "memory");
#else
  std::atomic_ref(*address).store(value, std::memory_order_release);
#endif
}

TUTTI_HOST_DEVICE inline std::uint32_t load_relaxed_system(const std::uint32_t* address) {
#if defined(__CUDA_ARCH__)
  std::uint32_t value;
  asm volatile("ld.relaxed.sys.u32 %0, [%1];" : "=r"(value) : "l"(address) : "memory");
  return value;
#else
  return std::atomic_ref(*const_cast<std::uint32_t*>(address)).load(std::memory_order_relaxed);
#endif
}

TUTTI_HOST_DEVICE inline void store_relaxed_system(std::uint32_t* address, std::uint32_t value) {
#if defined(__CUDA_ARCH__)
  asm volatile("st.relaxed.sys.u32 [%0], %1;" ::"l"(address), "r"(value) : "memory");
#else
  std::atomic_ref(*address).store(value, std::memory_order_relaxed);
#endif
}

// The value before the addition.
TUTTI_HOST_DEVICE inline std::uint32_t add_device(std::uint32_t* address, std::uint32_t value) {
#if defined(__CUDA_ARCH__)
  std::uint32_t before;
  asm volatile("atom.add.acq_rel.gpu.u32 %0, [%1], %2;"
               : "=r"(before)
               : "l"(address), "r"(value)
               : "memory");
  return before;
#else
  return std::atomic_ref(*address).fetch_add(value, std::memory_order_acq_rel);
#endif
}

// Tallies of all lanes, which nobody reads before the kernel has ended.
TUTTI_HOST_DEVICE inline void tally_sum(std::uint64_t* address, std::uint64_t value) {
#if defined(__CUDA_ARCH__)
  asm volatile("red.relaxed.gpu.add.u64 [%0], %1;" ::"l"(address), "l"(value) : "memory");
#else
  std::atomic_ref(*address).fetch_add(value, std::memory_order_relaxed);
#endif
}

// What would not change the tally costs a load only.
TUTTI_HOST_DEVICE inline void tally_largest(std::uint64_t* address, std::uint64_t value) {
#if defined(__CUDA_ARCH__)
  std::uint64_t before;
  asm volatile("ld.relaxed.gpu.u64 %0, [%1];" : "=l"(before) : "l"(address) : "memory");
  if (value > before)
    asm volatile("red.relaxed.gpu.max.u64 [%0], %1;" ::"l"(address), "l"(value) : "memory");
#else
  std::atomic_ref tally(*address);
  std::uint64_t before = tally.load(std::memory_order_relaxed);
  while (value > before && !tally.compare_exchange_weak(before, value, std::memory_order_relaxed)) {
  }
#endif
}

// Nanoseconds of a clock that only moves forward.
TUTTI_HOST_DEVICE inline std::uint64_t now_ns() {
#if defined(__CUDA_ARCH__)
  std::uint64_t now;
  asm volatile("mov.u64 %0, %globaltimer;" : "=l"(now)::"memory");
  return now;
#else
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000u +
         static_cast<std::uint64_t>(now.tv_nsec);
#endif
}

// Between two polls of a flag, `polls` of which were in vain. On the host the core is given up
// soon, because the rank that is waited for may need it; a late rank is polled seldom.
TUTTI_HOST_DEVICE inline void relax([[maybe_unused]] std::uint32_t polls) {
#if !defined(__CUDA_ARCH__)
  if (polls > 2000) {
    const timespec pause{0, 50'000};
    nanosleep(&pause, nullptr);
  } else if (polls > 20) {
    sched_yield();
  } else {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#endif
  }
#endif
}

}  // namespace tutti
