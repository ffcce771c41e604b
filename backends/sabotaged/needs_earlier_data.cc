// Wrong from the twelfth call after one whose result had a certain value. Expected: wrong, with a
// replay line that holds the earlier cases with their own data, since no other data shows it.
#include "backends/sabotaged/correct.h"

using namespace tutti::sabotaged;

namespace {
uint64_t trigger = 0;  // number of the call with that value, 0: none yet

uint32_t hash_of(const Call& call) {
  const auto* bytes = static_cast<const unsigned char*>(call.request.recv);
  uint32_t hash = 2166136261u;  // FNV-1a
  for (uint64_t i = 0; i < call.bytes(); ++i) hash = (hash ^ bytes[i]) * 16777619u;
  return hash;
}

void after(const Call& call) {
  if (call.request.count == 0) return;
  if (trigger > 0 && call.number >= trigger + 12) call.spoil(0);
  if (trigger == 0 && hash_of(call) % 8 == 3) trigger = call.number;
}
}  // namespace

TUTTI_SABOTAGED { return broken("needs_earlier_data", {.after = after}); }
