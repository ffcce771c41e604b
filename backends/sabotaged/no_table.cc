// Returns no table at all. Expected: refused on loading.
#include "backends/sabotaged/correct.h"

TUTTI_SABOTAGED { return nullptr; }
