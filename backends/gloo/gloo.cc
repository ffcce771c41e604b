// Gloo (https://github.com/pytorch/gloo) over TCP: gloo::allreduce with its two algorithms, ring
// and bcube, as two paths.
//
// The library blocks, so a call runs on the stream's thread, and its exceptions become what
// poll_error says.
#include <gloo/allreduce.h>
#include <gloo/common/error.h>
#include <gloo/config.h>
#include <gloo/transport/tcp/device.h>

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "backends/backend.h"
#include "backends/gloo/abortable_context.h"
#include "backends/gloo/exchange_store.h"
#include "backends/gloo/reduce.h"

#define TUTTI_TEXT_(x) #x
#define TUTTI_TEXT(x) TUTTI_TEXT_(x)

namespace tutti {
namespace {

using Algorithm = gloo::AllreduceOptions::Algorithm;

const char* const kRing = "ring";
const char* const kBcube = "bcube";

struct Communicator {
  tutti_world world;
  std::shared_ptr<AbortableContext> context;
  uint32_t calls = 0;  // only touched on the stream
  std::atomic<tutti_status> failure{TUTTI_OK};

  // Keeps the first failure; what follows it is its consequence.
  void fail(tutti_status status, const std::string& text) {
    const std::lock_guard lock(mutex_);
    if (failure != TUTTI_OK) return;
    reason_ = text;
    failure = status;
  }
  const char* reason() {
    const std::lock_guard lock(mutex_);
    told_ = reason_;
    return told_.c_str();
  }
  void refuse(const char* text) {
    const std::lock_guard lock(mutex_);
    reason_ = text;
  }

 private:
  std::mutex mutex_;
  std::string reason_ = "nothing has failed";
  std::string told_;  // only the calling thread touches it, so it stays valid until the next call
};

struct Call {
  Communicator* communicator;
  tutti_request request;
  Algorithm algorithm;
  Reduction reduction;
};

std::string create_reason = "no create has failed";

// The one place that decides for `plan` and `run`: nullptr, or why not.
const char* refuses(const tutti_request& request) {
  if (request.collective != TUTTI_ALLREDUCE) return "the gloo backend has only allreduce";
  if (request.extension) return "Gloo has no fused forms";
  if (!reduction_of(request.dtype, request.op))
    return "the gloo backend has fp32, bf16 and int32, sum and max";
  if (request.path && std::strcmp(request.path, kRing) != 0 &&
      std::strcmp(request.path, kBcube) != 0) {
    return "the gloo backend has the paths ring and bcube";
  }
  return nullptr;
}

const char* path_of(const tutti_request& request) {
  return request.path && std::strcmp(request.path, kBcube) == 0 ? kBcube : kRing;
}

tutti_status plan(const tutti_facts*, int32_t, const tutti_request* request, tutti_plan* plan) {
  const char* refusal = refuses(*request);
  plan->answer = refusal ? TUTTI_PLAN_REFUSED : TUTTI_PLAN_PATH;
  std::strncpy(plan->text, refusal ? refusal : path_of(*request), sizeof plan->text - 1);
  plan->text[sizeof plan->text - 1] = 0;
  return TUTTI_OK;
}

template <typename Element>
void set_buffers(gloo::AllreduceOptions& options, const tutti_request& request) {
  // Gloo takes the input non-const, and the output alone means in place.
  auto* send = static_cast<Element*>(const_cast<void*>(request.send));
  if (request.send != request.recv) options.setInput(send, request.count);
  options.setOutput(static_cast<Element*>(request.recv), request.count);
}

// Runs on the stream.
void allreduce(void* argument) {
  const std::unique_ptr<Call> call(static_cast<Call*>(argument));
  Communicator& communicator = *call->communicator;
  if (communicator.failure != TUTTI_OK) return;
  try {
    gloo::AllreduceOptions options(communicator.context);
    options.setAlgorithm(call->algorithm);
    options.setReduceFunction(call->reduction);
    options.setTag(++communicator.calls);
    if (call->request.dtype == TUTTI_BFLOAT16) {
      set_buffers<bfloat16>(options, call->request);
    } else {
      // Only the size of an element matters, and int32 has the same.
      set_buffers<float>(options, call->request);
    }
    gloo::allreduce(options);
  } catch (const gloo::IoException& error) {
    const bool late = std::strstr(error.what(), "imed out") != nullptr;
    communicator.fail(late ? TUTTI_TIMED_OUT : TUTTI_PEER_FAILED, error.what());
  } catch (const std::exception& error) {
    communicator.fail(TUTTI_ERROR, error.what());
  }
}

tutti_status run(void* self, const tutti_request* request, const char** path) {
  auto& communicator = *static_cast<Communicator*>(self);
  if (const char* refusal = refuses(*request)) {
    communicator.refuse(refusal);
    return TUTTI_UNSUPPORTED;
  }
  *path = path_of(*request);
  auto call = std::make_unique<Call>(Call{&communicator, *request,
                                          *path == kBcube ? Algorithm::BCUBE : Algorithm::RING,
                                          reduction_of(request->dtype, request->op)});
  const tutti_device* device = communicator.world.device;
  if (device->enqueue(device->self, request->stream, allreduce, call.get()) != 0) {
    communicator.refuse("the device's stream took no work");
    return TUTTI_ERROR;
  }
  call.release();  // `allreduce` deletes it
  return TUTTI_OK;
}

// Name of the network interface to listen on. Several hosts cannot meet on the loopback.
std::string interface_of(const tutti_facts& facts) {
  if (const char* chosen = std::getenv("TUTTI_GLOO_IFACE")) return chosen;
  for (int rank = 1; rank < facts.world; ++rank) {
    if (std::strcmp(facts.ranks[0].host, facts.ranks[rank].host) != 0) {
      throw std::runtime_error(
          "ranks are on several hosts: name the network interface that connects them in "
          "TUTTI_GLOO_IFACE, such as TUTTI_GLOO_IFACE=eth0");
    }
  }
  return "lo";
}

void connect(Communicator& communicator, ExchangeStore& store) {
  const tutti_world& world = communicator.world;
  gloo::transport::tcp::attr address;
  address.iface = interface_of(*world.facts);
  auto device = gloo::transport::tcp::CreateDevice(address);
  communicator.context = std::make_shared<AbortableContext>(world.rank, world.world);
  communicator.context->setTimeout(std::chrono::milliseconds(world.deadline_ms));
  communicator.context->connectFullMesh(store, device);
  communicator.context->make_abortable();
}

tutti_status create(const tutti_world* world, void** result) {
  auto communicator = std::make_unique<Communicator>();
  communicator->world = *world;
  ExchangeStore store(communicator->world);
  create_reason.clear();
  try {
    connect(*communicator, store);
  } catch (const std::exception& error) {
    create_reason = error.what();
  }
  try {
    const int failed = store.agree(create_reason.empty());
    if (failed >= 0) {
      if (create_reason.empty())
        create_reason = "rank " + std::to_string(failed) + " could not connect";
      return TUTTI_ERROR;
    }
  } catch (const std::exception& error) {
    create_reason = error.what();
    return TUTTI_PEER_FAILED;
  }
  *result = communicator.release();
  return TUTTI_OK;
}

tutti_status poll_error(void* self) { return static_cast<Communicator*>(self)->failure; }

tutti_status abort_pending(void* self) {
  auto& communicator = *static_cast<Communicator*>(self);
  communicator.fail(TUTTI_ABORTED, "abort was called");
  communicator.context->abort();
  return TUTTI_OK;
}

tutti_status destroy(void* self) {
  const std::unique_ptr<Communicator> communicator(static_cast<Communicator*>(self));
  const tutti_world& world = communicator->world;
  // A rank that closes early looks like a dead one to a rank that is still in its last call.
  std::vector<char> ignored(world.world);
  return world.exchange(world.self, "", ignored.data(), 1);
}

const char* reason(void* self) {
  return self ? static_cast<Communicator*>(self)->reason() : create_reason.c_str();
}

// That of the headers: the library cannot be asked.
const char* version() {
  return TUTTI_TEXT(GLOO_VERSION_MAJOR) "." TUTTI_TEXT(GLOO_VERSION_MINOR) "." TUTTI_TEXT(
      GLOO_VERSION_PATCH);
}

}  // namespace
}  // namespace tutti

extern "C" __attribute__((visibility("default"))) const tutti_backend* tutti_plugin(void) {
  static const char* const paths[] = {tutti::kRing, tutti::kBcube, nullptr};
  static const tutti_backend table = {
      .size = sizeof(tutti_backend),
      .abi_version = TUTTI_ABI_VERSION,
      .name = "gloo",
      .memory = TUTTI_MEMORY_HOST,
      .paths = paths,
      .version = tutti::version,
      .plan = tutti::plan,
      .create = tutti::create,
      .run = tutti::run,
      .poll_error = tutti::poll_error,
      .abort = tutti::abort_pending,
      .destroy = tutti::destroy,
      .reason = tutti::reason,
      .allocate = nullptr,
      .free_buffer = nullptr,
      .register_buffer = nullptr,
  };
  return &table;
}
