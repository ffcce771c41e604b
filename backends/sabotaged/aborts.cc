// `run` aborts, as a failed assertion does. Expected: crash, naming SIGABRT.
#include <cstdlib>

#include "backends/sabotaged/correct.h"

using namespace tutti::sabotaged;

namespace {
tutti_status run(void*, const tutti_request*, const char**) { std::abort(); }
}  // namespace

TUTTI_SABOTAGED { return broken("aborts", {.run = run}); }
