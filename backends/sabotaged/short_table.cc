// Its table is too short to hold all functions. Expected: refused on loading.
#include <cstddef>

#include "backends/sabotaged/correct.h"

using namespace tutti::sabotaged;

TUTTI_SABOTAGED {
  tutti_backend* table = broken("short_table", {});
  table->size = offsetof(tutti_backend, destroy);
  return table;
}
