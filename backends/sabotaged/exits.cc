// `run` ends the process as if all were well. Expected: crash; a status of 0 proves nothing.
#include <cstdlib>

#include "backends/sabotaged/correct.h"

using namespace tutti::sabotaged;

namespace {
tutti_status run(void*, const tutti_request*, const char**) { std::exit(0); }
}  // namespace

TUTTI_SABOTAGED { return broken("exits", {.run = run}); }
