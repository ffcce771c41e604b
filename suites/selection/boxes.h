// Sets of points of a grid as the fewest products of sets of values: what many combinations have in
// common, said in few rules.
#pragma once

#include <string>
#include <vector>

namespace tutti {

struct Axis {
  std::string name;
  std::vector<std::string> values;
};

// One number a grid point: the last axis runs fastest.
using Point = std::size_t;
std::size_t points_of(const std::vector<Axis>& axes);
std::vector<int> coordinates(const std::vector<Axis>& axes, Point point);

// By axis the values that belong to it, ascending.
using Box = std::vector<std::vector<int>>;

// Boxes that cover `points`, each once, and nothing else; few, though not always the fewest.
std::vector<Box> boxes_of(const std::vector<Axis>& axes, const std::vector<Point>& points);
// Joins boxes, none of which overlap, where they differ along one axis only.
std::vector<Box> joined(std::vector<Box> boxes);

// "capability 11.0, 12.0..13.0; world 6": the axes that do not have all their values. "everywhere"
// when all do.
std::string text_of(const std::vector<Axis>& axes, const Box& box);

}  // namespace tutti
