// tutti diff A B: what changed from one run to another. Needs neither MPI nor a GPU.
#include <fmt/format.h>

#include "commands/commands.h"
#include "reports/difference.h"
#include "reports/filled_run.h"

namespace tutti {

namespace {

// A run that cannot be read any more, of an older build say, is no reason not to compare the
// others.
void fill(StoredRun& run, const std::vector<std::string>& earlier) {
  FilledRun filled(std::move(run.records));
  for (const std::string& path : earlier) {
    try {
      filled.add(read_run(path).records);
    } catch (const std::exception& error) {
      fmt::print(stderr, "tutti: left out of --earlier: {}\n", error.what());
    }
  }
  run.records = filled.records();
  run.filled = filled.filled();
}

}  // namespace

int diff(const Options& options) {
  StoredRun before = read_run(options.before);
  const StoredRun after = read_run(options.after);
  fill(before, options.earlier);
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
