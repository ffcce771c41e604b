#include "suites/property.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

namespace tutti {

namespace {

std::vector<Property>& all_properties() {
  static std::vector<Property> all;
  return all;
}

}  // namespace

PropertyRegistration::PropertyRegistration(Property property) {
  auto& all = all_properties();
  for (const Property& other : all) {
    if (other.full_name() != property.full_name()) continue;
    fmt::print(stderr, "tutti: two properties are named {}; rename one in suites/{}/\n",
               property.full_name(), property.suite);
    std::abort();
  }
  all.push_back(std::move(property));
  std::sort(all.begin(), all.end(),
            [](const auto& a, const auto& b) { return a.full_name() < b.full_name(); });
}

const std::vector<Property>& properties() { return all_properties(); }

const Property* find_property(const std::string& full_name) {
  for (const Property& property : properties()) {
    if (property.full_name() == full_name) return &property;
  }
  return nullptr;
}

Case case_of(const Cell& cell) {
  Case one_case;
  one_case.backend = cell.backend->name;
  one_case.path = cell.path;
  one_case.property = cell.property->full_name();
  one_case.device = cell.node->device_kind;
  one_case.node = cell.node->name;
  one_case.world = cell.world;
  if (cell.backend->is_named)
    one_case.plugin = cell.backend->plugin.empty() ? cell.backend->folder : cell.backend->plugin;
  return one_case;
}

Case on_backend(Case one_case, const BackendEntry& backend) {
  one_case.backend = backend.name;
  one_case.path = "auto";
  one_case.plugin.clear();
  one_case.earlier.clear();
  return one_case;
}

Record record_of(const Cell& cell) {
  Record record;
  record.backend = cell.backend->name;
  record.node = cell.node->name;
  record.world = cell.world;
  record.suite = cell.property->suite;
  record.property = cell.property->full_name();
  record.path = cell.path;
  record.dtype = cell.dtype;
  record.op = cell.op;
  return record;
}

std::string name_of(const Cell& cell) { return name_of(record_of(cell)); }

}  // namespace tutti
