// What changed from one run to another: a pure function of their records.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "reports/record.h"

namespace tutti {

// A cell is in exactly one class: the first that holds, in the order of this list. A skipped cell
// counts as not tested, just as one that is not there.
enum class Change {
  new_red,          // red in B, and not red in A: green, grey, not tested or not there
  fixed,            // red in A, green in B
  changed_path,     // green in both, by another verdict (pass, fell_back, refused) or other paths
  changed_error,    // green in both, with another error or reference: errors_differ
  changed_bits,     // green in both, with other bits
  changed_verdict,  // red or a known failure in one or both, with another verdict or reason
  appeared,         // tested in B only
  vanished,         // tested in A only
  same,
  untested  // in neither, or left out of the sample of one
};
constexpr int kChanges = static_cast<int>(Change::untested) + 1;

std::string_view name_of(Change change);  // "new_red"

// One cell. The pointers are into the lists that were compared; null: it is not there.
struct CellChange {
  Change change = Change::untested;
  const Record* before = nullptr;
  const Record* after = nullptr;
  const Record& record() const { return after ? *after : *before; }
};

struct Versions {
  std::set<std::string> before, after;
};

struct Comparison {
  std::vector<CellChange> cells;  // of either run, ordered by backend, node, property ...
  std::uint64_t in_both = 0;      // cells that were tested in both
  std::map<std::string, Versions> versions;  // of backends tested in both, where they differ

  std::vector<CellChange> of(Change change) const;
};

// Cells are matched by backend, node, world, suite, property, path, dtype and op; where a list has
// a cell twice, the later record holds, as in a journal. `same_draws`: both runs drew the same
// cases (one build, seed, profile and number of cases); bits and the paths taken are compared only
// then, and only where as many cases were carried out.
Comparison compare(const std::vector<Record>& before, const std::vector<Record>& after,
                   bool same_draws);

// Beyond noise: the largest error is more than twice the other and more than a tenth of its bound;
// or the distance from the same reference is more than twice the other and more than 1 ulp; or the
// reference is another one.
bool errors_differ(const Record& before, const Record& after);

// A reason without its numbers: what is left when the same failure shows in another case.
std::string without_numbers(const std::string& reason);

// Exit status: 0 nothing is newly red, 1 something is, 2 no cell was tested in both.
int exit_status_of(const Comparison& comparison);

}  // namespace tutti
