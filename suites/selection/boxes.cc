#include "suites/selection/boxes.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>

namespace tutti {

namespace {

// Boxes that are alike but for one axis become one.
std::vector<Box> joined_along(std::vector<Box> boxes, std::size_t axis) {
  std::map<Box, std::vector<int>> by_others;
  for (Box& box : boxes) {
    std::vector<int> values = std::move(box[axis]);
    box[axis].clear();
    std::vector<int>& all = by_others[box];
    all.insert(all.end(), values.begin(), values.end());
  }
  std::vector<Box> result;
  for (auto& [others, values] : by_others) {
    std::sort(values.begin(), values.end());
    result.push_back(others);
    result.back()[axis] = std::move(values);
  }
  return result;
}

// Along the axes in an order, again and again, as long as that makes them fewer.
std::vector<Box> joined_in_order(std::vector<Box> boxes, const std::vector<std::size_t>& order) {
  for (std::size_t before = boxes.size() + 1; boxes.size() < before;) {
    before = boxes.size();
    for (const std::size_t axis : order) boxes = joined_along(std::move(boxes), axis);
  }
  return boxes;
}

// "3, 5..9": neighbours on the axis as a range.
std::string values_text(const Axis& axis, const std::vector<int>& values) {
  std::string text;
  for (std::size_t first = 0; first < values.size();) {
    std::size_t last = first;
    while (last + 1 < values.size() && values[last + 1] == values[last] + 1) ++last;
    const auto name = [&](std::size_t at) {
      return axis.values[static_cast<std::size_t>(values[at])];
    };
    if (!text.empty()) text += ", ";
    text += last - first < 2 ? name(first) : fmt::format("{}..{}", name(first), name(last));
    first = last - first < 2 ? first + 1 : last + 1;
  }
  return text;
}

}  // namespace

std::size_t points_of(const std::vector<Axis>& axes) {
  std::size_t points = 1;
  for (const Axis& axis : axes) points *= axis.values.size();
  return points;
}

std::vector<int> coordinates(const std::vector<Axis>& axes, Point point) {
  std::vector<int> result(axes.size());
  for (std::size_t axis = axes.size(); axis-- > 0;) {
    result[axis] = static_cast<int>(point % axes[axis].values.size());
    point /= axes[axis].values.size();
  }
  return result;
}

std::vector<Box> joined(std::vector<Box> boxes) {
  if (boxes.empty()) return boxes;
  std::vector<std::size_t> order(boxes.front().size());
  std::iota(order.begin(), order.end(), 0);
  std::vector<Box> best;
  for (std::size_t turn = 0; turn < order.size(); ++turn) {  // which order is best, nobody knows
    std::vector<Box> tried = joined_in_order(boxes, order);
    if (best.empty() || tried.size() < best.size()) best = std::move(tried);
    std::rotate(order.begin(), order.begin() + 1, order.end());
  }
  return best;
}

std::vector<Box> boxes_of(const std::vector<Axis>& axes, const std::vector<Point>& points) {
  std::vector<Box> boxes;
  for (const Point point : points) {
    Box box;
    for (const int value : coordinates(axes, point)) box.push_back({value});
    boxes.push_back(std::move(box));
  }
  return joined(std::move(boxes));
}

std::string text_of(const std::vector<Axis>& axes, const Box& box) {
  std::string text;
  for (std::size_t axis = 0; axis < axes.size(); ++axis) {
    if (box[axis].size() == axes[axis].values.size()) continue;
    text += fmt::format("{}{} {}", text.empty() ? "" : "; ", axes[axis].name,
                        values_text(axes[axis], box[axis]));
  }
  return text.empty() ? "everywhere" : text;
}

}  // namespace tutti
