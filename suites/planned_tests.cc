#include "suites/planned_tests.h"

#include <fmt/format.h>

#include <algorithm>

namespace tutti {

namespace {

// Paths that a backend tells of itself; one empty stratum when it cannot be asked.
std::vector<std::string> paths_of(RunContext& context, const BackendEntry& backend,
                                  unsigned& memory) {
  try {
    const BackendIdentity& identity = context.runner.identity(backend);
    memory = identity.memory;
    return identity.paths;
  } catch (const NotInstalledError& error) {
    if (backend.is_named) throw;
    context.not_installed[backend.name] = error.what();
  } catch (const CatalogError& error) {
    if (backend.is_named) throw;
    context.broken[backend.name] = error.what();
  }
  memory = TUTTI_MEMORY_HOST;
  return {"auto"};
}

// The strata of a property.
struct Strata {
  std::vector<std::string> paths;
  std::vector<Dtype> dtypes;
  std::vector<Op> ops;
};

// What a node changes hardly depends on the stratum.
Strata strata_of(Scope scope, const Plan& plan, const std::vector<std::string>& paths) {
  if (scope == Scope::each_stratum) return {paths, plan.dtypes, plan.ops};
  constexpr std::size_t kDtypesOfNode = 2;
  Strata few{{"auto"}, plan.dtypes, {plan.ops.front()}};
  few.dtypes.resize(std::min(few.dtypes.size(), scope == Scope::each_node ? kDtypesOfNode : 1));
  return few;
}

bool has_test(Scope scope, const Plan& plan, const Node& node, int world) {
  if (scope == Scope::each_node) return true;
  const bool is_first_node = &node == &plan.nodes.front();
  return is_first_node && (scope == Scope::each_stratum || world == plan.worlds.front());
}

// `form` has everything of the cells but path, dtype and op.
std::vector<Cell> cells_of(const Cell& form, const Strata& strata) {
  std::vector<Cell> cells;
  Cell cell = form;
  for (const std::string& path : strata.paths) {
    for (const Dtype dtype : strata.dtypes) {
      for (const Op op : strata.ops) {
        cell.path = path;
        cell.dtype = dtype;
        cell.op = op;
        cells.push_back(cell);
      }
    }
  }
  return cells;
}

// The tests of a backend on a node, which `form` has.
void add_tests(const Plan& plan, const Cell& form, const std::vector<std::string>& paths,
               std::vector<PlannedTest>& tests) {
  Cell cell = form;
  for (const int world : plan.worlds) {
    for (const Property& property : properties()) {
      if (!has_test(property.scope, plan, *form.node, world)) continue;
      cell.property = &property;
      cell.world = world;
      tests.push_back({fmt::format("{}/{}", form.backend->name, form.node->name),
                       fmt::format("{}/w{}", property.full_name(), world),
                       cells_of(cell, strata_of(property.scope, plan, paths))});
    }
  }
}

}  // namespace

std::vector<PlannedTest> tests_of(RunContext& context, const Plan& plan,
                                  const std::vector<BackendEntry>& references) {
  std::vector<PlannedTest> tests;
  for (const BackendEntry& backend : plan.backends) {
    unsigned memory = 0;
    const std::vector<std::string> paths = paths_of(context, backend, memory);
    if (!(memory & TUTTI_MEMORY_HOST)) context.cuda_only.insert(backend.name);
    for (const Node& node : plan.nodes) {
      Cell form;
      form.backend = &backend;
      form.node = &node;
      form.references = references_for(context.runner, references, backend, node);
      add_tests(plan, form, paths, tests);
    }
  }
  return tests;
}

std::uint64_t cells_to_check(const RunContext& context, const PlannedTest& test) {
  std::uint64_t cells = 0;
  for (const Cell& cell : test.cells) {
    cells += !needs_gpu(context, cell) && !context.not_installed.contains(cell.backend->name) &&
             cell.property->not_applicable(cell) == SkipCause::none;
  }
  return cells;
}

}  // namespace tutti
