#include "backends/gloo/classes.h"

#include <gloo/allreduce_bcube.h>
#include <gloo/allreduce_halving_doubling.h>
#include <gloo/allreduce_ring.h>
#include <gloo/allreduce_ring_chunked.h>
#include <gloo/barrier.h>

#include <cstring>
#include <stdexcept>
#include <vector>

#include "backends/gloo/reduce.h"

namespace tutti {
namespace {

// The classes take a function without state; it is called on the thread that runs the object.
thread_local Reduction current_reduction = nullptr;

template <typename Element>
void reduce_current(Element* to, const Element* from, std::size_t count) {
  current_reduction(to, to, from, count);
}

template <typename Element>
std::unique_ptr<gloo::Algorithm> make(std::string_view path,
                                      const std::shared_ptr<gloo::Context>& context,
                                      std::vector<Element>& buffer,
                                      const gloo::ReductionFunction<Element>* function) {
  const std::vector<Element*> buffers{buffer.data()};
  const auto count = static_cast<int>(buffer.size());
  if (path == kRingClass)
    return std::make_unique<gloo::AllreduceRing<Element>>(context, buffers, count, function);
  if (path == kRingChunkedClass)
    return std::make_unique<gloo::AllreduceRingChunked<Element>>(context, buffers, count, function);
  if (path == kHalvingDoublingClass)
    return std::make_unique<gloo::AllreduceHalvingDoubling<Element>>(context, buffers, count,
                                                                     function);
  if (path == kBcubeClass)
    return std::make_unique<gloo::AllreduceBcube<Element>>(context, buffers, count, function);
  throw std::invalid_argument("Gloo has no class for the path " + std::string(path));
}

template <typename Element>
void allreduce(const std::shared_ptr<gloo::Context>& context, const tutti_request& request,
               std::string_view path) {
  static const gloo::ReductionFunction<Element> function(gloo::CUSTOM, reduce_current<Element>);
  const auto* send = static_cast<const Element*>(request.send);
  std::vector<Element> buffer(request.count);
  const auto object = make(path, context, buffer, &function);
  for (int runs = request.count % 2 == 0 ? 2 : 1; runs > 0; --runs) {
    std::memcpy(buffer.data(), send, request.count * sizeof(Element));
    object->run();
  }
  std::memcpy(request.recv, buffer.data(), request.count * sizeof(Element));
  // A peer may still write into buffers of the object, which takes them along.
  gloo::BarrierOptions barrier(context);
  gloo::barrier(barrier);
}

}  // namespace

void allreduce_by_class(const std::shared_ptr<gloo::Context>& context, const tutti_request& request,
                        std::string_view path) {
  if (request.count == 0) return;
  current_reduction = reduction_of(request.dtype, request.op);
  with_width(request.dtype,
             [&](auto element) { allreduce<decltype(element)>(context, request, path); });
}

}  // namespace tutti
