// Right results, but `destroy` frees nothing: device memory, imports and one descriptor stay.
// Expected: leak.
#include <fcntl.h>

#include <vector>

#include "backends/sabotaged/correct.h"

using namespace tutti::sabotaged;

namespace {
tutti_status destroy(void* communicator) {
  const tutti_world& world = world_of(communicator);
  std::vector<char> ignored(world.world);
  static_cast<void>(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  return world.exchange(world.self, "", ignored.data(), 1);
}
}  // namespace

TUTTI_SABOTAGED {
  tutti_backend* table = broken("leaks", {});
  table->destroy = destroy;
  return table;
}
