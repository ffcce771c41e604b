#include "reports/record.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <stdexcept>

#include "reports/text.h"

namespace tutti {
namespace {

nlohmann::ordered_json json_of(double number) {
  if (std::isnan(number)) return "nan";
  if (std::isinf(number)) return number > 0 ? "infinity" : "-infinity";
  return number;
}

template <typename Value>
Value field(const nlohmann::json& json, const char* key) {
  try {
    return json.at(key).get<Value>();
  } catch (const nlohmann::json::exception& error) {
    throw std::runtime_error(
        fmt::format("record: key \"{}\" is missing or of the wrong type ({}); the report was "
                    "written by another version?",
                    key, error.what()));
  }
}

double number(const nlohmann::json& json, const char* key) {
  if (!json.is_object() || !json.contains(key) || !json[key].is_string())
    return field<double>(json, key);
  const std::string text = json[key];
  if (text == "infinity") return std::numeric_limits<double>::infinity();
  if (text == "-infinity") return -std::numeric_limits<double>::infinity();
  if (text == "nan") return std::numeric_limits<double>::quiet_NaN();
  throw std::runtime_error(fmt::format(
      "record: key \"{}\" holds \"{}\"; use a number, \"infinity\", \"-infinity\" or \"nan\"", key,
      text));
}

template <typename Enum>
Enum named(const nlohmann::json& json, const char* key) {
  const auto name = field<std::string>(json, key);
  if (const auto value = parse<Enum>(name)) return *value;
  throw std::runtime_error(
      fmt::format("record: key \"{}\" holds the unknown name \"{}\"; nearest: {}", key, name,
                  nearest(name, names<Enum>())));
}

nlohmann::ordered_json texts(const std::vector<std::string>& all) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const std::string& text : all) list.push_back(valid_utf8(text));
  return list;
}

}  // namespace

std::string name_of(const Record& record) {
  return fmt::format("{} {} {} w{} {} {} {}", record.backend, record.node, record.property,
                     record.world, record.path, name_of(record.dtype), name_of(record.op));
}

nlohmann::ordered_json to_json(const Record& record) {
  const nlohmann::ordered_json evidence = texts(record.evidence), paths = texts(record.paths_taken);
  return {{"backend", valid_utf8(record.backend)},
          {"version", valid_utf8(record.version)},
          {"build_id", valid_utf8(record.build_id)},
          {"node", valid_utf8(record.node)},
          {"world", record.world},
          {"suite", valid_utf8(record.suite)},
          {"property", valid_utf8(record.property)},
          {"path", valid_utf8(record.path)},
          {"dtype", name_of(record.dtype)},
          {"op", name_of(record.op)},
          {"verdict", name_of(record.verdict)},
          {"skip_cause", name_of(record.skip_cause)},
          {"cases", record.cases},
          {"reason", valid_utf8(record.reason)},
          {"replay", valid_utf8(record.replay)},
          {"max_error", json_of(record.max_error)},
          {"max_ulp_vs_reference", record.max_ulp_vs_reference},
          {"reference", valid_utf8(record.reference)},
          {"bits", valid_utf8(record.bits)},
          {"paths_taken", paths},
          {"seconds", json_of(record.seconds)},
          {"evidence", evidence}};
}

Record record_from_json(const nlohmann::json& json) {
  Record record;
  record.backend = field<std::string>(json, "backend");
  record.version = field<std::string>(json, "version");
  record.build_id = field<std::string>(json, "build_id");
  record.node = field<std::string>(json, "node");
  record.world = field<int>(json, "world");
  record.suite = field<std::string>(json, "suite");
  record.property = field<std::string>(json, "property");
  record.path = field<std::string>(json, "path");
  record.dtype = named<Dtype>(json, "dtype");
  record.op = named<Op>(json, "op");
  record.verdict = named<Verdict>(json, "verdict");
  record.skip_cause = named<SkipCause>(json, "skip_cause");
  record.cases = field<std::uint64_t>(json, "cases");
  record.reason = field<std::string>(json, "reason");
  record.replay = field<std::string>(json, "replay");
  record.max_error = number(json, "max_error");
  record.max_ulp_vs_reference = field<std::int64_t>(json, "max_ulp_vs_reference");
  record.reference = field<std::string>(json, "reference");
  // Reports from before these keys have none.
  if (json.contains("bits")) record.bits = field<std::string>(json, "bits");
  if (json.contains("paths_taken"))
    record.paths_taken = field<std::vector<std::string>>(json, "paths_taken");
  record.seconds = number(json, "seconds");
  record.evidence = field<std::vector<std::string>>(json, "evidence");
  return record;
}

std::map<std::string, std::uint64_t> totals_of(const std::vector<Record>& records) {
  std::map<std::string, std::uint64_t> totals{{"green", 0}, {"red", 0}, {"grey", 0}};
  for (const Record& record : records) {
    const Colour colour = colour_of(record.verdict);
    ++totals[colour == Colour::green ? "green" : colour == Colour::red ? "red" : "grey"];
    ++totals[std::string(name_of(record.verdict))];
  }
  return totals;
}

int exit_status_of(const std::vector<Record>& records) {
  const auto totals = totals_of(records);
  if (totals.at("red") > 0) return 1;
  return totals.at("green") > 0 ? 0 : 2;
}

}  // namespace tutti
