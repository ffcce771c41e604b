// Nothing is broken: the null control. It also writes to a pipe that nobody reads, which a host of
// backends must survive. Expected: green everywhere.
#include <unistd.h>

#include <cerrno>
#include <cstdlib>

#include "backends/sabotaged/correct.h"

using namespace tutti::sabotaged;

namespace {

void write_to_nobody(const Call&) {
  int ends[2];
  if (::pipe(ends) != 0) std::abort();
  ::close(ends[0]);
  if (::write(ends[1], "", 1) != -1 || errno != EPIPE) std::abort();
  ::close(ends[1]);
}

}  // namespace

TUTTI_SABOTAGED { return broken("healthy", {.after = write_to_nobody}); }
