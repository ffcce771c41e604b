// The table of the one_shot backend.
#include <algorithm>
#include <cstring>
#include <memory>
#include <mutex>
#include <string>

#include "backends/one_shot/communicator.h"
#include "backends/one_shot/decide.h"

namespace tutti::one_shot {
namespace {

// Of this process. Guarded, because communicators of several threads may fail at the same time.
std::mutex create_reason_mutex;
std::string create_reason = "no create has failed";

void keep_create_reason(const Communicator& communicator) {
  const std::lock_guard lock(create_reason_mutex);
  create_reason = communicator.reason();
}

const char* version() { return "1"; }

tutti_status plan(const tutti_facts* facts, int32_t, const tutti_request* request,
                  tutti_plan* plan) {
  std::string text = refusal_of_world(*facts);
  if (text.empty()) text = refusal_of_request(*request);
  plan->answer = text.empty() ? TUTTI_PLAN_PATH : TUTTI_PLAN_REFUSED;
  if (text.empty()) text = kPath;
  const std::size_t length = std::min(text.size(), sizeof plan->text - 1);
  std::memcpy(plan->text, text.data(), length);
  plan->text[length] = '\0';
  return TUTTI_OK;
}

tutti_status create(const tutti_world* world, void** communicator) {
  auto made = std::make_unique<Communicator>(*world);
  const tutti_status status = made->create();
  if (status == TUTTI_OK) {
    *communicator = made.release();
  } else {
    keep_create_reason(*made);
  }
  return status;
}

Communicator* of(void* communicator) { return static_cast<Communicator*>(communicator); }

tutti_status run(void* communicator, const tutti_request* request, const char** path) {
  const std::string refusal = refusal_of_request(*request);
  if (!refusal.empty()) return of(communicator)->fail(TUTTI_UNSUPPORTED, refusal);
  const tutti_status status = of(communicator)->run(*request);
  if (status == TUTTI_OK) *path = kPath;
  return status;
}

tutti_status poll_error(void* communicator) { return of(communicator)->poll_error(); }

tutti_status abort(void* communicator) {
  of(communicator)->abort();
  return TUTTI_OK;
}

tutti_status destroy(void* communicator) {
  const std::unique_ptr<Communicator> owned(of(communicator));
  const tutti_status status = owned->destroy();
  if (status != TUTTI_OK) keep_create_reason(*owned);
  return status;
}

const char* reason(void* communicator) {
  return communicator == nullptr ? create_reason.c_str() : of(communicator)->reason().c_str();
}

#if defined(ONE_SHOT_CUDA)
constexpr std::uint32_t kMemory = TUTTI_MEMORY_HOST | TUTTI_MEMORY_CUDA;
#else
constexpr std::uint32_t kMemory = TUTTI_MEMORY_HOST;
#endif
const char* const kPaths[] = {kPath, nullptr};

const tutti_backend kTable{sizeof(tutti_backend),
                           TUTTI_ABI_VERSION,
                           "one_shot",
                           kMemory,
                           kPaths,
                           version,
                           plan,
                           create,
                           run,
                           poll_error,
                           abort,
                           destroy,
                           reason,
                           nullptr,
                           nullptr,
                           nullptr};

}  // namespace
}  // namespace tutti::one_shot

extern "C" __attribute__((visibility("default"))) const tutti_backend* tutti_plugin(void) {
  return &tutti::one_shot::kTable;
}
