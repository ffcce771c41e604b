#include "backends/nccl/library.h"

#include <dlfcn.h>

#include <cstdlib>

namespace tutti::nccl {
namespace {

template <typename Function>
bool find(void* handle, const char* name, Function*& function) {
  function = reinterpret_cast<Function*>(::dlsym(handle, name));
  return function != nullptr;
}

Library load() {
  Library nccl;
  // NCCL loads without a driver and then fails in ways that are harder to read.
  if (!::dlopen("libcuda.so.1", RTLD_NOW)) {
    nccl.problem = std::string("there is no GPU driver: ") + ::dlerror();
    return nccl;
  }
  const char* chosen = std::getenv("TUTTI_NCCL_LIBRARY");
  void* handle = ::dlopen(chosen ? chosen : "libnccl.so.2", RTLD_NOW | RTLD_LOCAL);
  if (!handle) {
    nccl.problem = std::string("cannot load NCCL (") + ::dlerror() +
                   "); install NCCL 2 or name its library in TUTTI_NCCL_LIBRARY";
    return nccl;
  }
  Result (*get_version)(int*) = nullptr;
  const bool complete = find(handle, "ncclGetVersion", get_version) &&
                        find(handle, "ncclGetUniqueId", nccl.get_unique_id) &&
                        find(handle, "ncclCommInitRank", nccl.comm_init_rank) &&
                        find(handle, "ncclCommDestroy", nccl.comm_destroy) &&
                        find(handle, "ncclCommAbort", nccl.comm_abort) &&
                        find(handle, "ncclCommGetAsyncError", nccl.comm_get_async_error) &&
                        find(handle, "ncclGetErrorString", nccl.get_error_string) &&
                        find(handle, "ncclGetLastError", nccl.get_last_error) &&
                        find(handle, "ncclAllReduce", nccl.all_reduce);
  if (!complete || get_version(&nccl.version) != kSuccess) {
    nccl.problem =
        std::string(chosen ? chosen : "libnccl.so.2") + " is no NCCL of version 2.13 or later";
    return nccl;
  }
  find(handle, "ncclCommInitRankConfig", nccl.comm_init_rank_config);
  find(handle, "ncclCommFinalize", nccl.comm_finalize);
  find(handle, "ncclMemAlloc", nccl.mem_alloc);
  find(handle, "ncclMemFree", nccl.mem_free);
  find(handle, "ncclCommWindowRegister", nccl.window_register);
  find(handle, "ncclCommWindowDeregister", nccl.window_deregister);
  return nccl;
}

}  // namespace

const Library& library() {
  static const Library nccl = load();
  return nccl;
}

std::string Library::version_text() const {
  if (version == 0) return "";
  const int major = version / 10000, minor = version / 100 % 100, patch = version % 100;
  return std::to_string(major) + "." + std::to_string(minor) + "." + std::to_string(patch);
}

std::string Library::explain(const char* call, Result result) const {
  std::string text = std::string(call) + ": " + get_error_string(result);
  const char* last = get_last_error(nullptr);
  if (last && *last) text += std::string(" (") + last + ")";
  return text;
}

}  // namespace tutti::nccl
