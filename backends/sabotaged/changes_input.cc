// The result is right, and out of place the last byte of the input has changed. Expected: corrupt.
#include "backends/sabotaged/correct.h"

using namespace tutti::sabotaged;

namespace {
void after(const Call& call) {
  if (call.request.send == call.request.recv || call.request.count == 0) return;
  auto* input = static_cast<unsigned char*>(const_cast<void*>(call.request.send));
  input[call.bytes() - 1] ^= 0x01;
}
}  // namespace

TUTTI_SABOTAGED { return broken("changes_input", {.after = after}); }
