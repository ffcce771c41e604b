// Right results, but `destroy` frees nothing: device memory, imports and one descriptor stay.
// Expected: leak.
#include <fcntl.h>

#include "backends/plugin.h"
#include "backends/sabotaged/correct.h"

using namespace tutti::sabotaged;

namespace {
tutti_status destroy(void* communicator) {
  static_cast<void>(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  return tutti::plugin::barrier(world_of(communicator));
}
}  // namespace

TUTTI_SABOTAGED {
  tutti_backend* table = broken("leaks", {});
  table->destroy = destroy;
  return table;
}
