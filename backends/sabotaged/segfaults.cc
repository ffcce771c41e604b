// The work on the stream writes to an address that is not mapped. Expected: crash, naming SIGSEGV.
#include "backends/sabotaged/correct.h"

using namespace tutti::sabotaged;

namespace {
int* volatile unmapped = nullptr;  // volatile, so that the compiler does not see it coming

void after(const Call&) { *unmapped = 1; }
}  // namespace

TUTTI_SABOTAGED { return broken("segfaults", {.after = after}); }
