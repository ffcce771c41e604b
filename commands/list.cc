// tutti list: what there is to choose from.
#include <fmt/format.h>

#include "commands/commands.h"
#include "fixtures/faults/fault.h"
#include "reports/report.h"
#include "suites/property.h"

namespace tutti {

int list(const Places& places) {
  fmt::print("backends\n");
  for (const BackendEntry& backend : installed_backends(places))
    fmt::print("  {:<20} {}\n", backend.name, backend.folder);
  fmt::print("nodes\n  {:<20} this machine, read from CUDA and NVML\n", "real");
  for (const std::string& name : node_names(places.share + "/nodes")) {
    const Node node = load_node(places.share + "/nodes", name);
    fmt::print("  {:<20} {} x {}\n", name, node.devices.size(), node.devices.front().device_name);
  }
  fmt::print("properties\n");
  for (const Property& property : properties())
    fmt::print("  {:<26} {}\n", property.full_name(), property.law);
  fmt::print("faults\n");
  for (const FaultKind& kind : fault_kinds()) fmt::print("  {:<20} {}\n", kind.name, kind.what);
  fmt::print("report formats\n");
  for (const Format& format : formats()) fmt::print("  {:<20} {}\n", format.name, format.file_name);
  return 0;
}

}  // namespace tutti
