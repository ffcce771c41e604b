#include "suites/selection/sweep_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>

#include "reports/text.h"

namespace tutti {

namespace {

constexpr int kWorldMost = 72;  // of one NVLink domain

// Of GPUs that there are, of a CPU, and of GPUs to come.
const std::vector<std::string> kCapabilities{"0.0",  "7.5",  "8.0",  "8.6",  "8.9",  "9.0", "10.0",
                                             "10.3", "11.0", "12.0", "12.1", "13.0", "99.0"};
const std::vector<std::string> kYesNo{"yes", "no"};

std::vector<std::string> worlds(Detail detail) {
  static const std::set<int> kFew{1, 2, 3, 4, 8, 9, kWorldMost};
  static const std::set<int> kEdges{1, 2, 3, 4, 5, 6, 7, 8, 9, 16, 17, 32, 33, kWorldMost};
  std::vector<std::string> names;
  for (int world = 1; world <= kWorldMost; ++world) {
    const bool is_asked =
        detail == Detail::full || (detail == Detail::usual ? kEdges : kFew).contains(world);
    if (is_asked) names.push_back(std::to_string(world));
  }
  return names;
}

std::string changes_at(const std::vector<Axis>& axes, Point point) {
  const std::vector<int> at = coordinates(axes, point);
  const auto value = [&](std::size_t axis) {
    return axes[axis].values[static_cast<std::size_t>(at[axis])];
  };
  std::string changes = ",devices:" + value(5);
  if (value(4) != "1") changes += ",hosts:" + value(4);
  if (value(1) == "no") changes += ",without:nvlink";
  if (value(2) == "no") changes += ",without:multicast";
  if (value(3) == "no") changes += ",without:peer";
  return changes + ",capability:" + value(0);
}

// ---- Requests ----------------------------------------------------------------------------------

struct Size {
  std::string name;
  std::uint64_t bytes;
  int elements;  // more or less than that
};

std::vector<Size> sizes(const Claims& claims, Detail detail) {
  constexpr std::uint64_t kLeast = 1 << 10, kMost = std::uint64_t{1} << 29;
  std::set<std::uint64_t> thresholds;
  for (std::uint64_t bytes = kLeast; bytes <= kMost; bytes *= detail == Detail::coarse ? 32 : 2)
    thresholds.insert(bytes);
  for (const Claim& claim : claims.claims) {
    const auto range = claim.when.within.find("bytes");
    if (range == claim.when.within.end()) continue;
    for (const std::uint64_t bytes : {range->second.first, range->second.second}) {
      if (bytes >= 16 && bytes <= kMost) thresholds.insert(bytes / 8 * 8);
    }
  }
  std::vector<Size> all{{"nothing", 0, 0}, {"1 element", 0, 1}};
  std::uint64_t before = 0;
  for (const std::uint64_t bytes : thresholds) {
    const std::uint64_t between = (before + bytes) / 2 / 8 * 8;
    all.push_back({size_in_words(between), between, 0});
    all.push_back({size_in_words(bytes) + " - 1 element", bytes, -1});
    all.push_back({size_in_words(bytes), bytes, 0});
    all.push_back({size_in_words(bytes) + " + 1 element", bytes, 1});
    before = bytes;
  }
  return all;
}

struct Alignment {
  const char* name;
  std::uint32_t send_bytes, recv_bytes;  // behind an address aligned to 256; 1: one element
};
constexpr std::array kAlignments{Alignment{"256", 0, 0}, Alignment{"16", 16, 16},
                                 Alignment{"of one element", 1, 1},
                                 Alignment{"of one element in the output", 0, 1}};

std::uint32_t offset_of(std::uint32_t bytes, Dtype dtype) {
  if (bytes == 1) return 1;
  return bytes / static_cast<std::uint32_t>(bytes_of(dtype));
}

Allreduce request_at(Dtype dtype, Op op, const Size& size, const Alignment& alignment,
                     Place place) {
  Allreduce call;
  call.dtype = dtype;
  call.op = op;
  call.count = size.bytes / bytes_of(dtype) + static_cast<std::uint64_t>(size.elements);
  call.send_offset = offset_of(alignment.send_bytes, dtype);
  call.place = place;
  call.recv_offset = place == Place::in ? call.send_offset : offset_of(alignment.recv_bytes, dtype);
  return call;
}

template <typename Values, typename Name>
Axis axis_of(const std::string& name, const Values& values, const Name& name_of_value) {
  Axis axis{name, {}};
  for (const auto& value : values) axis.values.emplace_back(name_of_value(value));
  return axis;
}

void add_requests(SweepPlan& plan, const Claims& claims, Detail detail) {
  const bool full = detail == Detail::full, coarse = detail == Detail::coarse;
  const std::vector<Dtype> dtypes = full ? std::vector<Dtype>(kDtypes.begin(), kDtypes.end())
                                         : std::vector<Dtype>{TUTTI_FLOAT32, TUTTI_BFLOAT16};
  const std::vector<Op> ops = full ? std::vector<Op>{TUTTI_SUM, TUTTI_MAX} : std::vector{TUTTI_SUM};
  const std::vector<Size> all_sizes = sizes(claims, detail);
  std::vector<Alignment> alignments(kAlignments.begin(), kAlignments.end());
  std::vector<Place> kinds{Place::out, Place::in};
  if (coarse) {
    alignments.resize(1);
    kinds.resize(1);
  }
  const auto name = [](auto value) { return name_of(value); };
  plan.request_axes = {
      axis_of("dtype", dtypes, name), axis_of("op", ops, name),
      axis_of("size", all_sizes, [](const Size& size) { return size.name; }),
      axis_of("alignment", alignments, [](const Alignment& alignment) { return alignment.name; }),
      axis_of("place", kinds, name)};
  for (const Dtype dtype : dtypes) {
    for (const Op op : ops) {
      for (const Size& size : all_sizes) {
        for (const Alignment& alignment : alignments) {
          for (const Place place : kinds)
            plan.sweep.requests.push_back(request_at(dtype, op, size, alignment, place));
        }
      }
    }
  }
}

}  // namespace

SweepPlan sweep_plan(const Node& base, const Claims& claims, Detail detail) {
  SweepPlan plan;
  plan.sweep.base = base;
  plan.place_axes = {{"capability", kCapabilities}, {"nvlink", kYesNo},
                     {"multicast", kYesNo},         {"peer access", kYesNo},
                     {"hosts", {"1", "2"}},         {"world", worlds(detail)}};
  for (Point point = 0; point < points_of(plan.place_axes); ++point) {
    const std::string& world =
        plan.place_axes.back()
            .values[static_cast<std::size_t>(coordinates(plan.place_axes, point).back())];
    plan.sweep.places.push_back({changes_at(plan.place_axes, point), std::stoi(world)});
  }
  add_requests(plan, claims, detail);
  return plan;
}

Case case_at(const SweepPlan& plan, Point place, Point request) {
  Case one_case;
  one_case.property = "selection.sweep";
  one_case.node = kSweepBase + plan.sweep.places[place].changes;
  one_case.world = plan.sweep.places[place].world;
  one_case.steps = {plan.sweep.requests[request]};
  return one_case;
}

}  // namespace tutti
