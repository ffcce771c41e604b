// NCCL's allreduce on CUDA memory, by whatever algorithm NCCL chooses: path "default".
#include <memory>
#include <string>

#include "backends/nccl/communicator.h"

namespace tutti::nccl {
namespace {

const char* const kPath = "default";

std::string create_reason = "no create has failed";

tutti_status plan(const tutti_facts* facts, int32_t, const tutti_request* request,
                  tutti_plan* plan) {
  answer(refuses(*facts, request), kPath, plan);
  return TUTTI_OK;
}

// NCCL is asked also where `refuses` knows its answer: that it refuses gracefully is what is
// checked.
tutti_status create(const tutti_world* world, void** result) {
  auto communicator = std::make_unique<Communicator>();
  const tutti_status status = open(*world, TUTTI_OK, communicator.get());
  if (status != TUTTI_OK) {
    create_reason = communicator->reason;
    return status;
  }
  *result = communicator.release();
  return TUTTI_OK;
}

tutti_status run(void* self, const tutti_request* request, const char** path) {
  auto& communicator = *static_cast<Communicator*>(self);
  if (const char* refusal = refuses(*communicator.world.facts, request)) {
    communicator.reason = refusal;
    return TUTTI_UNSUPPORTED;
  }
  *path = kPath;
  return all_reduce(communicator, *request);
}

tutti_status destroy(void* self) {
  const std::unique_ptr<Communicator> communicator(static_cast<Communicator*>(self));
  return close(*communicator);
}

const char* reason(void* self) {
  return self ? static_cast<Communicator*>(self)->reason.c_str() : create_reason.c_str();
}

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
      .name = "nccl",
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
      .allocate = nullptr,
      .free_buffer = nullptr,
      .register_buffer = nullptr,
  };
  return &table;
}
