// tutti bench verify: bytes of a result verified a second, as a fraction of a plain copy of them in
// the same run, and how that changes with the world. Where it is measured is in
// backends/worker/verify_speed.h.
#include <fmt/format.h>

#include <map>

#include "commands/bench.h"
#include "fixtures/world/command.h"

namespace tutti {

using nlohmann::json;

namespace {

constexpr auto kTimeout = std::chrono::minutes(5);
constexpr double kGiga = 1e9;

json measured(const Job& job, const std::string& device_kind) {
  CommandOptions options;
  options.timeout = kTimeout;
  options.bytes_max = 1u << 20;
  options.with_errors = true;
  const CommandResult result =
      run_command({job.places.lib + "/tutti-worker", "--verify-speed", device_kind}, options);
  const auto start = result.output.rfind("\n[");  // after what a library may print
  const json told = json::parse(
      start == std::string::npos ? result.output : result.output.substr(start), nullptr, false);
  if (result.status != 0 || !told.is_array())
    throw SuiteError(fmt::format("verification could not be measured: {}", result.output));
  return told;
}

}  // namespace

int bench_verify(Job& job) {
  const std::string kind = node_of(job, job.options.node).device_kind;
  const json told = measured(job, kind);
  fmt::print(
      "{}: what one rank verifies of a sum, its share and hashes of all, and what it fills with "
      "its "
      "input;\nGB/s as fractions of {}, and the time of verifying against that in world 2\n"
      "{:<6} {:<9} {:>8} {:>6} {:>9} {:>9} {:>9} {:>8} {:>8} {:>7}\n",
      kind == "host" ? "one core" : "one GPU",
      kind == "host" ? "memcpy" : "a copy within the device's memory", "dtype", "data", "size",
      "world", "copy", "verify", "fill", "verify", "fill", "growth");
  std::map<std::string, double> at_world_2;
  for (const json& one : told) {
    const std::string dtype = one.at("dtype"), data = one.at("data");
    const std::string size = size_in_words(one.at("bytes"));
    const double verify = one.at("verify"), fill = one.at("fill"), copy = one.at("copy");
    const double fraction = verify / copy;
    const double base = at_world_2.try_emplace(dtype + data + size, fraction).first->second;
    fmt::print("{:<6} {:<9} {:>8} {:>6} {:>9.2f} {:>9.2f} {:>9.2f} {:>7.0f}% {:>7.0f}% {:>6.2f}x\n",
               dtype, data, size, one.at("world").get<int>(), copy / kGiga, verify / kGiga,
               fill / kGiga, 100 * fraction, 100 * fill / copy, base / fraction);
  }
  return 0;
}

}  // namespace tutti
