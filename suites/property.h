// A property: a claim that is checked over many cases. One file each in its suite's folder; it
// registers itself.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "fixtures/cases/case.h"
#include "reports/record.h"
#include "suites/catalog.h"
#include "suites/outcome.h"
#include "suites/runner.h"

namespace tutti {

struct Property;
struct RunContext;

// What gets one record: backend x node x property x world x path x dtype x op.
struct Cell {
  const Property* property = nullptr;
  const BackendEntry* backend = nullptr;
  const Node* node = nullptr;
  std::vector<const BackendEntry*> references;  // other backends to agree with, the best first
  int world = 1;
  std::string path;
  Dtype dtype = TUTTI_FLOAT32;
  Op op = TUTTI_SUM;
};

// How much is drawn.
struct Profile {
  std::string name = "quick";
  int cases = 1;                        // a cell; a backend has thousands of them
  std::uint64_t bytes_max = 32u << 20;  // of one call; less where ranks share cores (draw.cc)
  int large_one_in = 1000;              // calls that may have more than 1 MiB are this rare
  double shrink_seconds = 10;           // wall clock for shrinking one failure
  std::uint64_t cells_most = 12'000;    // of a run, about; 0: all (sample.h)
  int worlds_of_nodes = 3;              // what is checked on every node, in one of so many worlds
};

// How many cells a property has.
enum class Scope {
  each_stratum,  // every path, dtype and op in every world, on the first node of a run
  each_node,    // on every node, in every world, for two dtypes and one op at most; the path is the
                // backend's choice
  each_backend  // one, which stands under the first node, world, dtype and op
};

struct Property {
  std::string suite;
  std::string name;  // "exact"; the full name is suite.name
  std::string law;   // one sentence: what holds
  // Why it does not apply to a cell; SkipCause::none when it does.
  SkipCause (*not_applicable)(const Cell& cell);
  // Draws a case of a cell, with the functions of draw.h. It runs inside a RapidCheck generator and
  // executes nothing.
  Case (*draw)(const Cell& cell, const Profile& profile);
  // Carries one case out and judges it; null: run it once and judge it.
  Outcome (*check)(Runner& runner, const Case& one_case, const Cell& cell, bool fresh);

  // Checks a cell in another way than by cases that are drawn; null: it has `draw`. Its cases need
  // no ranks, so a world may be larger than there are.
  void (*whole)(RunContext& context, const Cell& cell, Record& record) = nullptr;

  Scope scope = Scope::each_stratum;

  // Cases of one cell at most, whatever the profile says; 0: as many as it says. For what needs
  // fresh workers each time.
  int cases_most = 0;

  std::string full_name() const { return suite + "." + name; }
};

struct PropertyRegistration {
  explicit PropertyRegistration(
      Property property);  // a duplicate name ends the program with a message
};

const std::vector<Property>& properties();                    // sorted by full name
const Property* find_property(const std::string& full_name);  // null: there is none

// The case that a cell starts from: everything but steps and seed.
Case case_of(const Cell& cell);
// The same case for another backend, by whatever path that chooses.
Case on_backend(Case one_case, const BackendEntry& backend);
// The record of a cell of which nothing is known yet: `missing`.
Record record_of(const Cell& cell);
std::string name_of(const Cell& cell);  // that of its record

}  // namespace tutti
