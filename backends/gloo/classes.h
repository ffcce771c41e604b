// Gloo's older allreduce classes: an object is made for buffers and a count, and may be run many
// times.
#pragma once

#include <gloo/context.h>

#include <memory>
#include <string_view>

#include "backends/backend.h"

namespace tutti {

inline constexpr const char* kRingClass = "ring_class";
inline constexpr const char* kRingChunkedClass = "ring_chunked_class";
inline constexpr const char* kHalvingDoublingClass = "halving_doubling_class";
inline constexpr const char* kBcubeClass = "bcube_class";

// Carries out a request, of a dtype and op that reduction_of knows, by the class of that path. An
// object serves one request: once where the count is odd, and twice with the same input where it is
// even, so that objects used repeatedly are seen too; then the second result counts. Collective;
// throws what Gloo throws.
void allreduce_by_class(const std::shared_ptr<gloo::Context>& context, const tutti_request& request,
                        std::string_view path);

}  // namespace tutti
