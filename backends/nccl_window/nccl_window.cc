// NCCL's allreduce on registered windows: buffers from ncclMemAlloc, ncclCommWindowRegister with
// the symmetric flag. Path "window" means that both buffers lie in such windows; which kernel NCCL
// then takes is its own choice.
#include <map>
#include <string>

#include "backends/nccl/communicator.h"

namespace tutti::nccl {
namespace {

struct Buffer {
  size_t bytes = 0;
  Window* window = nullptr;  // null until registered
};

class NcclWindow : public Communicator {
 public:
  static constexpr const char* kName = "nccl_window";
  static constexpr const char* kPaths[] = {"window", nullptr};
  static plugin::Decision decide(const tutti_facts& facts, const tutti_request* request) {
    return Communicator::decide(kPaths, facts, request);
  }

  using Communicator::Communicator;
  tutti_status create();
  tutti_status run(const tutti_request& request, const char* path);
  tutti_status destroy();
  tutti_status allocate(size_t bytes, void** memory);
  tutti_status free_buffer(void* memory);
  tutti_status register_buffer(void* memory, size_t bytes);

 private:
  bool has_window(const void* memory, size_t bytes) const;

  std::map<const char*, Buffer> buffers_;  // by first address
};

bool NcclWindow::has_window(const void* memory, size_t bytes) const {
  const char* first = static_cast<const char*>(memory);
  auto next = buffers_.upper_bound(first);
  if (next == buffers_.begin()) return false;
  const auto& [start, buffer] = *--next;
  return buffer.window && first + bytes <= start + buffer.bytes;
}

tutti_status NcclWindow::create() {
  const Library& nccl = library();
  if (!nccl.problem.empty() || nccl.has_windows()) return open(TUTTI_OK);
  // What is under test is not in this library.
  return open(say(TUTTI_NOT_INSTALLED,
                  "NCCL " + nccl.version_text() + " has no windows; they came with 2.27"));
}

tutti_status NcclWindow::allocate(size_t bytes, void** memory) {
  const Result result = library().mem_alloc(memory, bytes);
  if (result != kSuccess) return say(TUTTI_ERROR, library().explain("ncclMemAlloc", result));
  buffers_[static_cast<const char*>(*memory)] = {bytes, nullptr};
  return TUTTI_OK;
}

tutti_status NcclWindow::register_buffer(void* memory, size_t bytes) {
  tutti_status mine = TUTTI_OK;
  Buffer buffer{bytes, nullptr};
  const Result result =
      library().window_register(comm_, memory, bytes, &buffer.window, kWindowSymmetric);
  if (result != kSuccess) {
    mine = say(TUTTI_ERROR, library().explain("ncclCommWindowRegister", result));
  } else if (!buffer.window) {
    mine = say(TUTTI_UNSUPPORTED,
               "ncclCommWindowRegister said success and gave no window: no symmetric memory here");
  }
  buffers_[static_cast<const char*>(memory)] = buffer;
  return agree_by_rank(mine);
}

tutti_status NcclWindow::free_buffer(void* memory) {
  const auto found = buffers_.find(static_cast<const char*>(memory));
  if (found == buffers_.end())
    return say(TUTTI_ERROR, "free_buffer of memory that is not from allocate");
  Result result = kSuccess;
  // An aborted communicator has taken its windows with it.
  if (found->second.window && !aborted_)
    result = library().window_deregister(comm_, found->second.window);
  buffers_.erase(found);
  if (result == kSuccess) result = library().mem_free(memory);
  if (result == kSuccess) return TUTTI_OK;
  return say(TUTTI_ERROR, library().explain("ncclCommWindowDeregister or ncclMemFree", result));
}

tutti_status NcclWindow::run(const tutti_request& request, const char* path) {
  // One byte is enough to know the buffer; NCCL itself would quietly take another path for memory
  // without a window.
  if (request.count > 0 && !aborted_ &&
      !(has_window(request.send, 1) && has_window(request.recv, 1))) {
    return say(TUTTI_UNSUPPORTED, "send or recv does not lie in a registered window");
  }
  return Communicator::run(request, path);
}

tutti_status NcclWindow::destroy() {
  while (!buffers_.empty()) free_buffer(const_cast<char*>(buffers_.begin()->first));
  return Communicator::destroy();
}

}  // namespace
}  // namespace tutti::nccl

TUTTI_PLUGIN(tutti::nccl::NcclWindow)
