// The result is right, and the three bytes behind it are overwritten. Expected: corrupt.
#include <cstring>

#include "backends/sabotaged/correct.h"

using namespace tutti::sabotaged;

namespace {
void after(const Call& call) {
  if (call.request.count > 0)
    std::memset(static_cast<char*>(call.request.recv) + call.bytes(), 0x11, 3);
}
}  // namespace

TUTTI_SABOTAGED { return broken("writes_past_output", {.after = after}); }
