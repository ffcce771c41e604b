// tutti diff A B: what changed from one run to another. Needs neither MPI nor a GPU.
#include <fmt/format.h>

#include "commands/commands.h"
#include "reports/difference.h"

namespace tutti {

int diff(const Options& options) {
  StoredRun before = read_run(options.before);
  const StoredRun after = read_run(options.after);
  for (const std::string& earlier : options.earlier)
    before.records = filled_in(std::move(before.records), read_run(earlier).records);
  const Difference difference = difference_of(before, after);
  if (options.json) {
    fmt::print("{}\n", to_json(difference).dump(1));
  } else {
    fmt::print("{}", to_text(difference));
  }
  const int status = exit_status_of(difference.comparison);
  if (status == 2) {
    fmt::print(
        stderr,
        "tutti: no cell was tested in both {} and {}, so nothing could be compared; name two "
        "runs of the same backends, node and worlds\n",
        options.before, options.after);
  }
  return status;
}

}  // namespace tutti
