// NCCL as it is found at run time: no header and no library of it are needed to build tutti. The
// declarations below are those of NCCL's public interface that are used here; they have not changed
// since the versions named.
#pragma once

#include <cstddef>
#include <string>

namespace tutti::nccl {

struct Comm;
struct Window;
struct UniqueId {
  char bytes[128];
};

// ncclResult_t
enum Result : int {
  kSuccess = 0,
  kInvalidArgument = 4,
  kInvalidUsage = 5,
  kRemoteError = 6,
  kInProgress = 7,
};

constexpr int kWindowSymmetric = 1;  // NCCL_WIN_COLL_SYMMETRIC

struct Library {
  std::string problem;  // why there is no NCCL here and how to get it; empty when it is loaded
  int version = 0;      // as NCCL counts: 22809 is 2.28.9

  Result (*get_unique_id)(UniqueId* id) = nullptr;
  Result (*comm_init_rank)(Comm** comm, int world, UniqueId id, int rank) = nullptr;
  Result (*comm_destroy)(Comm* comm) = nullptr;
  Result (*comm_abort)(Comm* comm) = nullptr;
  Result (*comm_get_async_error)(Comm* comm, Result* error) = nullptr;
  const char* (*get_error_string)(Result result) = nullptr;
  const char* (*get_last_error)(Comm* comm) = nullptr;
  Result (*all_reduce)(const void* send, void* recv, size_t count, int dtype, int op, Comm* comm,
                       void* stream) = nullptr;

  // From NCCL 2.14, null in older ones.
  Result (*comm_init_rank_config)(Comm** comm, int world, UniqueId id, int rank,
                                  void* config) = nullptr;
  Result (*comm_finalize)(Comm* comm) = nullptr;
  // From NCCL 2.19, null in older ones.
  Result (*mem_alloc)(void** memory, size_t bytes) = nullptr;
  Result (*mem_free)(void* memory) = nullptr;
  // From NCCL 2.27, null in older ones.
  Result (*window_register)(Comm* comm, void* memory, size_t bytes, Window** window,
                            int flags) = nullptr;
  Result (*window_deregister)(Comm* comm, Window* window) = nullptr;

  bool has_non_blocking() const { return comm_init_rank_config && comm_finalize; }
  bool has_windows() const { return mem_alloc && mem_free && window_register && window_deregister; }

  // "2.28.9", or "" when there is no NCCL.
  std::string version_text() const;

  // What a result means, with NCCL's last words about it.
  std::string explain(const char* call, Result result) const;
};

// Loads libnccl.so.2, or what TUTTI_NCCL_LIBRARY names, once.
const Library& library();

}  // namespace tutti::nccl
