// Gloo (https://github.com/pytorch/gloo) over TCP: gloo::allreduce with its two algorithms, ring
// and bcube, and its four older classes, as six paths.
//
// The library blocks, so a call runs on the stream's thread, and its exceptions become what
// poll_error says.
#include <gloo/allreduce.h>
#include <gloo/common/error.h>
#include <gloo/config.h>
#include <gloo/rendezvous/prefix_store.h>
#include <gloo/transport/tcp/device.h>

#include <cstdlib>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <string>

#include "backends/gloo/abortable_context.h"
#include "backends/gloo/classes.h"
#include "backends/gloo/exchange_store.h"
#include "backends/gloo/reduce.h"
#include "backends/plugin.h"

#define TUTTI_TEXT_(x) #x
#define TUTTI_TEXT(x) TUTTI_TEXT_(x)

namespace tutti {
namespace {

using Algorithm = gloo::AllreduceOptions::Algorithm;

constexpr const char* kRing = "ring";
constexpr const char* kBcube = "bcube";

class Gloo : public plugin::Communicator {
 public:
  static constexpr const char* kName = "gloo";
  static constexpr uint32_t kMemory = TUTTI_MEMORY_HOST;
  static constexpr const char* kPaths[] = {
      kRing, kBcube, kRingClass, kRingChunkedClass, kHalvingDoublingClass, kBcubeClass, nullptr};
  // That of the headers: the library cannot be asked.
  static const char* version() {
    return TUTTI_TEXT(GLOO_VERSION_MAJOR) "." TUTTI_TEXT(GLOO_VERSION_MINOR) "." TUTTI_TEXT(
        GLOO_VERSION_PATCH);
  }
  static plugin::Decision decide(const tutti_facts& facts, const tutti_request* request);

  using Communicator::Communicator;
  tutti_status create();
  tutti_status run(const tutti_request& request, const char* path);
  tutti_status abort();

 private:
  std::shared_ptr<AbortableContext> connected(gloo::rendezvous::Store& store) const;
  void connect(ExchangeStore& store);
  void allreduce(const tutti_request& request, Algorithm algorithm);
  void carry_out(const tutti_request& request, const char* path);

  // The older classes have connections of their own: once they have used some, gloo::allreduce is a
  // hundred times slower on these (direct_mixed_check.cc).
  std::shared_ptr<AbortableContext> context_, context_of_classes_;
  uint32_t calls_ = 0;  // only touched on the stream
};

plugin::Decision Gloo::decide(const tutti_facts& facts, const tutti_request* request) {
  if (!request) return plugin::take(kRing);
  if (request->collective != TUTTI_ALLREDUCE)
    return plugin::refuse("the gloo backend has only allreduce");
  if (request->extension) return plugin::refuse("Gloo has no fused forms");
  if (!reduction_of(request->dtype, request->op)) return plugin::refuse("Gloo has no avg");
  if (!request->path) return plugin::take(kRing);
  if (std::strcmp(request->path, kBcubeClass) == 0 && facts.world > 1 && facts.world % 2 != 0)
    return plugin::refuse("AllreduceBcube takes worlds that its base, 2, divides");
  for (const char* path : kPaths) {
    if (path && std::strcmp(request->path, path) == 0) return plugin::take(path);
  }
  return plugin::refuse(std::string("Gloo has no path ") + request->path);
}

template <typename Element>
void set_buffers(gloo::AllreduceOptions& options, const tutti_request& request) {
  // Gloo takes the input non-const, and the output alone means in place.
  auto* send = static_cast<Element*>(const_cast<void*>(request.send));
  if (request.send != request.recv) options.setInput(send, request.count);
  options.setOutput(static_cast<Element*>(request.recv), request.count);
}

void Gloo::allreduce(const tutti_request& request, Algorithm algorithm) {
  gloo::AllreduceOptions options(context_);
  options.setAlgorithm(algorithm);
  options.setReduceFunction(reduction_of(request.dtype, request.op));
  options.setTag(++calls_);
  with_width(request.dtype,
             [&](auto element) { set_buffers<decltype(element)>(options, request); });
  gloo::allreduce(options);
}

// Runs on the stream.
void Gloo::carry_out(const tutti_request& request, const char* path) {
  try {
    if (path == kRing || path == kBcube) {
      allreduce(request, path == kRing ? Algorithm::RING : Algorithm::BCUBE);
    } else {
      allreduce_by_class(context_of_classes_, request, path);
    }
  } catch (const gloo::IoException& error) {
    const bool late = std::strstr(error.what(), "imed out") != nullptr;
    fail(late ? TUTTI_TIMED_OUT : TUTTI_PEER_FAILED, error.what());
  } catch (const std::exception& error) {
    fail(TUTTI_ERROR, error.what());
  }
}

tutti_status Gloo::run(const tutti_request& request, const char* path) {
  return enqueue(request.stream, [this, request, path] { carry_out(request, path); });
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

std::shared_ptr<AbortableContext> Gloo::connected(gloo::rendezvous::Store& store) const {
  gloo::transport::tcp::attr address;
  address.iface = interface_of(*world().facts);
  auto device = gloo::transport::tcp::CreateDevice(address);
  const auto context = std::make_shared<AbortableContext>(world().rank, world().world);
  context->setTimeout(std::chrono::milliseconds(world().deadline_ms));
  context->connectFullMesh(store, device);
  context->make_abortable();
  return context;
}

void Gloo::connect(ExchangeStore& store) {
  context_ = connected(store);
  gloo::rendezvous::PrefixStore store_of_classes("classes", store);
  context_of_classes_ = connected(store_of_classes);
}

// Gloo's rendezvous exchanges while it connects, so the agreement is the store's business as well.
tutti_status Gloo::create() {
  ExchangeStore store(world());
  std::string problem;
  try {
    connect(store);
  } catch (const std::exception& error) {
    problem = error.what();
  }
  try {
    const int failed = store.agree(problem.empty());
    if (failed < 0) return TUTTI_OK;
    if (problem.empty()) problem = "rank " + std::to_string(failed) + " could not connect";
    return say(TUTTI_ERROR, problem);
  } catch (const std::exception& error) {
    return say(TUTTI_PEER_FAILED, error.what());
  }
}

tutti_status Gloo::abort() {
  const tutti_status status = Communicator::abort();
  context_->abort();
  context_of_classes_->abort();
  return status;
}

}  // namespace
}  // namespace tutti

TUTTI_PLUGIN(tutti::Gloo)
