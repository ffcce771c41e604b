// Every third call gives the result of the call before, as far as that reaches. Expected: wrong,
// explained so.
#include <algorithm>
#include <cstring>
#include <vector>

#include "backends/sabotaged/correct.h"

using namespace tutti::sabotaged;

namespace {
std::vector<char> previous;

void after(const Call& call) {
  auto* result = static_cast<char*>(call.request.recv);
  if (call.number % 3 == 0)
    std::memcpy(result, previous.data(), std::min<size_t>(previous.size(), call.bytes()));
  previous.assign(result, result + call.bytes());
}
}  // namespace

TUTTI_SABOTAGED { return broken("stale", {.after = after}); }
