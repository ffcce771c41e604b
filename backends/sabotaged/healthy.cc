// Nothing is broken: the null control. Expected: green everywhere.
#include "backends/sabotaged/correct.h"

using namespace tutti::sabotaged;

TUTTI_SABOTAGED { return broken("healthy", {}); }
