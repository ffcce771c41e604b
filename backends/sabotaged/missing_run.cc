// Its table has no `run`. Expected: refused on loading, naming the function.
#include "backends/sabotaged/correct.h"

using namespace tutti::sabotaged;

TUTTI_SABOTAGED {
  tutti_backend* table = broken("missing_run", {});
  table->run = nullptr;
  return table;
}
