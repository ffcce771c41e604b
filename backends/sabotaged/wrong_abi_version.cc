// Built for another version of the ABI. Expected: refused on loading, naming both versions.
#include "backends/sabotaged/correct.h"

using namespace tutti::sabotaged;

TUTTI_SABOTAGED {
  tutti_backend* table = broken("wrong_abi_version", {});
  table->abi_version = TUTTI_ABI_VERSION + 1;
  return table;
}
