// NCCL's allreduce on registered windows: buffers from ncclMemAlloc, ncclCommWindowRegister with
// the symmetric flag. Path "window" means that both buffers lie in such windows; which kernel NCCL
// then takes is its own choice.
#include <map>
#include <memory>
#include <string>

#include "backends/nccl/communicator.h"

namespace tutti::nccl {
namespace {

const char* const kPath = "window";

struct Buffer {
  size_t bytes = 0;
  Window* window = nullptr;  // null until registered
};

struct WindowCommunicator : Communicator {
  std::map<const char*, Buffer> buffers;  // by first address

  bool has_window(const void* memory, size_t bytes) const {
    const char* first = static_cast<const char*>(memory);
    auto next = buffers.upper_bound(first);
    if (next == buffers.begin()) return false;
    const auto& [start, buffer] = *--next;
    return buffer.window && first + bytes <= start + buffer.bytes;
  }
};

std::string create_reason = "no create has failed";

WindowCommunicator& of(void* self) {
  return *static_cast<WindowCommunicator*>(static_cast<Communicator*>(self));
}

tutti_status plan(const tutti_facts* facts, int32_t, const tutti_request* request,
                  tutti_plan* plan) {
  answer(refuses(*facts, request), kPath, plan);
  return TUTTI_OK;
}

tutti_status create(const tutti_world* world, void** result) {
  auto communicator = std::make_unique<WindowCommunicator>();
  const Library& nccl = library();
  tutti_status mine = TUTTI_OK;
  if (nccl.problem.empty() && !nccl.has_windows()) {
    mine = TUTTI_NOT_INSTALLED;  // what is under test is not in this library
    communicator->reason = "NCCL " + nccl.version_text() + " has no windows; they came with 2.27";
  }
  const tutti_status status = open(*world, mine, communicator.get());
  if (status != TUTTI_OK) {
    create_reason = communicator->reason;
    return status;
  }
  *result = static_cast<Communicator*>(communicator.release());
  return TUTTI_OK;
}

tutti_status allocate(void* self, size_t bytes, void** memory) {
  WindowCommunicator& communicator = of(self);
  const Result result = library().mem_alloc(memory, bytes);
  if (result != kSuccess) {
    communicator.reason = library().explain("ncclMemAlloc", result);
    return TUTTI_ERROR;
  }
  communicator.buffers[static_cast<const char*>(*memory)] = {bytes, nullptr};
  return TUTTI_OK;
}

tutti_status register_buffer(void* self, void* memory, size_t bytes) {
  WindowCommunicator& communicator = of(self);
  tutti_status mine = TUTTI_OK;
  Buffer buffer{bytes, nullptr};
  const Result result =
      library().window_register(communicator.comm, memory, bytes, &buffer.window, kWindowSymmetric);
  if (result != kSuccess) {
    mine = TUTTI_ERROR;
    communicator.reason = library().explain("ncclCommWindowRegister", result);
  } else if (!buffer.window) {
    mine = TUTTI_UNSUPPORTED;
    communicator.reason =
        "ncclCommWindowRegister said success and gave no window: no symmetric memory here";
  }
  communicator.buffers[static_cast<const char*>(memory)] = buffer;
  return agree(communicator.world, mine, &communicator.reason);
}

tutti_status free_buffer(void* self, void* memory) {
  WindowCommunicator& communicator = of(self);
  const auto found = communicator.buffers.find(static_cast<const char*>(memory));
  if (found == communicator.buffers.end()) {
    communicator.reason = "free_buffer of memory that is not from allocate";
    return TUTTI_ERROR;
  }
  Result result = kSuccess;
  // An aborted communicator has taken its windows with it.
  if (found->second.window && !communicator.aborted) {
    result = library().window_deregister(communicator.comm, found->second.window);
  }
  communicator.buffers.erase(found);
  if (result == kSuccess) result = library().mem_free(memory);
  if (result == kSuccess) return TUTTI_OK;
  communicator.reason = library().explain("ncclCommWindowDeregister or ncclMemFree", result);
  return TUTTI_ERROR;
}

tutti_status run(void* self, const tutti_request* request, const char** path) {
  WindowCommunicator& communicator = of(self);
  const char* refusal = refuses(*communicator.world.facts, request);
  // One byte is enough to know the buffer; NCCL itself would quietly take another path for memory
  // without a window.
  if (!refusal && request->count > 0 && !communicator.aborted &&
      !(communicator.has_window(request->send, 1) && communicator.has_window(request->recv, 1))) {
    refusal = "send or recv does not lie in a registered window";
  }
  if (refusal) {
    communicator.reason = refusal;
    return TUTTI_UNSUPPORTED;
  }
  *path = kPath;
  return all_reduce(communicator, *request);
}

tutti_status destroy(void* self) {
  const std::unique_ptr<WindowCommunicator> communicator(&of(self));
  while (!communicator->buffers.empty()) {
    free_buffer(self, const_cast<char*>(communicator->buffers.begin()->first));
  }
  return close(*communicator);
}

const char* reason(void* self) { return self ? of(self).reason.c_str() : create_reason.c_str(); }

const char* version() {
  static const std::string text = library().version_text();
  return text.c_str();
}

}  // namespace
}  // namespace tutti::nccl

extern "C" __attribute__((visibility("default"))) const tutti_backend* tutti_plugin(void) {
  using namespace tutti::nccl;
  static const char* const paths[] = {kPath, nullptr};
  static const tutti_backend table = {
      .size = sizeof(tutti_backend),
      .abi_version = TUTTI_ABI_VERSION,
      .name = "nccl_window",
      .memory = TUTTI_MEMORY_CUDA,
      .paths = paths,
      .version = version,
      .plan = plan,
      .create = create,
      .run = run,
      .poll_error = poll_error,
      .abort = abort_pending,
      .destroy = destroy,
      .reason = reason,
      .allocate = allocate,
      .free_buffer = free_buffer,
      .register_buffer = register_buffer,
  };
  return &table;
}
