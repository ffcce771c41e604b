// A C++ exception leaves `run`. Expected: crash, with the text of the exception.
#include <stdexcept>

#include "backends/sabotaged/correct.h"

using namespace tutti::sabotaged;

namespace {
tutti_status run(void*, const tutti_request*, const char**) {
  throw std::runtime_error("thrown out of run");
}
}  // namespace

TUTTI_SABOTAGED { return broken("throws", {.run = run}); }
