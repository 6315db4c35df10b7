// SPDX-FileCopyrightText: gjk_collision contributors
// SPDX-License-Identifier: Apache-2.0
// Queries on many pairs of convex shapes that are given as flat arrays of points.
#include <pybind11/stl.h>

#include <cmath>
#include <vector>

#include "bindings.hpp"
#include "gjk/shape/box.hpp"

namespace gjk::bindings {
namespace {

// A shape is tiny if its size is less than this part of its largest coordinate.
constexpr double kTiny = 0x1p-36;

// The hulls of the points of one side, x, y, x, y, ....
class Hulls {
 public:
  Hulls(const Array<std::uint32_t>& offsets, const Doubles& xy, const std::string& side)
      : offsets_(view(offsets)), x_(length(xy) / 2), y_(length(xy) / 2) {
    const auto check = [&side](Issue issue) {
      issue.argument = side + "_" + issue.argument;
      refuse(std::move(issue));
    };
    check(check_arrays(ObstacleArrays{.offsets = offsets_, .xy = view(xy)}));
    check(check_coordinates(view(xy), "xy"));
    for (std::size_t i = 0; i < size(); ++i) {
      if (offsets_[i] == offsets_[i + 1]) {
        check({Status::too_few_points, "offsets", static_cast<long>(i), "the shape has no points"});
      }
    }
    for (std::size_t k = 0; k < x_.size(); ++k) {
      x_[k] = xy.data()[2 * k];
      y_[k] = xy.data()[2 * k + 1];
    }
  }

  // Of each shape: whether its vertices are so near to each other that their coordinates have few
  // different values. The bounds of its distance may be tight where `closest` is less accurate.
  std::vector<bool> tiny() const {
    std::vector<bool> found(size());
    for (std::size_t i = 0; i < size(); ++i) {
      Box box;
      for (std::size_t k = offsets_[i]; k < offsets_[i + 1]; ++k) box.include(Vec2{x_[k], y_[k]});
      const double most = std::fmax(norm1(box.low), norm1(box.high));
      const bool is_point = offsets_[i + 1] - offsets_[i] == 1;
      found[i] = !is_point && norm1(box.high - box.low) < kTiny * most;
    }
    return found;
  }

  std::size_t size() const noexcept { return offsets_.empty() ? 0 : offsets_.size() - 1; }
  Hull at(std::size_t i) const noexcept {
    const std::size_t begin = offsets_[i];
    return {&x_[begin], &y_[begin], static_cast<int>(offsets_[i + 1] - begin)};
  }
  // The same with any number of vertices. It is made once.
  Convex part(std::size_t i) {
    if (shapes_.empty()) shapes_.resize(size());
    Shape& shape = shapes_[i];
    if (shape.parts() == 0) {
      std::vector<Vec2> own;
      for (std::size_t k = offsets_[i]; k < offsets_[i + 1]; ++k) own.push_back({x_[k], y_[k]});
      shape.add_part(convex_hull(own), 0.0);
    }
    return shape.part(0);
  }

 private:
  std::span<const std::uint32_t> offsets_;
  std::vector<double> x_;  // m
  std::vector<double> y_;  // m
  std::vector<Shape> shapes_;
};

// Bounds (m) that are at most this far apart, relative to their size, are the distance. Otherwise,
// the shapes overlap, or their coordinates are much larger than the gap.
constexpr double kTight = 0x1p-44;

using Pairs = std::optional<Array<std::int64_t>>;

// Calls answer(n, i, j) for pair n, of shape i of a and shape j of b.
template <class Answer>
void for_each_pair(std::size_t count, const Pairs& pairs, const Answer& answer) {
  for (std::size_t n = 0; n < count; ++n) {
    const std::int64_t* const pair = pairs ? pairs->data() + 2 * n : nullptr;
    answer(n, pair ? static_cast<std::size_t>(pair[0]) : n,
           pair ? static_cast<std::size_t>(pair[1]) : n);
  }
}

// The number of pairs, whose indices are valid.
std::size_t checked_count(const Hulls& a, const Hulls& b, const Pairs& pairs) {
  if (pairs) return check_index_pairs(*pairs, a.size(), b.size());
  if (a.size() != b.size()) {
    refuse("b_offsets", Status::array_mismatch,
           "must hold as many shapes as a_offsets, " + std::to_string(a.size()) +
               ", if pairs is None" + got(b.size()));
  }
  return a.size();
}

py::array_t<bool> collide_many(const Array<std::uint32_t>& a_offsets, const Doubles& a_xy,
                               const Array<std::uint32_t>& b_offsets, const Doubles& b_xy,
                               const Pairs& pairs, double margin) {
  Hulls a(a_offsets, a_xy, "a");
  Hulls b(b_offsets, b_xy, "b");
  checked_radius(margin, "margin");
  const std::size_t count = checked_count(a, b, pairs);
  py::array_t<bool> hits(static_cast<py::ssize_t>(count));
  bool* const out = hits.mutable_data();
  const py::gil_scoped_release release;
  for_each_pair(count, pairs, [&](std::size_t n, std::size_t i, std::size_t j) {
    Verdict verdict = collide(a.at(i), b.at(j), margin);
    if (verdict == Verdict::unknown) {
      verdict = collide(a.part(i), b.part(j), margin);
    }
    out[n] = !is_free(verdict);
  });
  return hits;
}

py::array_t<double> distance_many(const Array<std::uint32_t>& a_offsets, const Doubles& a_xy,
                                  const Array<std::uint32_t>& b_offsets, const Doubles& b_xy,
                                  const Pairs& pairs) {
  Hulls a(a_offsets, a_xy, "a");
  Hulls b(b_offsets, b_xy, "b");
  const std::size_t count = checked_count(a, b, pairs);
  py::array_t<double> distances(static_cast<py::ssize_t>(count));
  double* const out = distances.mutable_data();
  const std::vector<bool> tiny_a = a.tiny();
  const std::vector<bool> tiny_b = b.tiny();
  const py::gil_scoped_release release;
  for_each_pair(count, pairs, [&](std::size_t n, std::size_t i, std::size_t j) {
    const Bounds bounds = distance(a.at(i), b.at(j));
    const bool is_tight = bounds.lower > 0.0 && !tiny_a[i] && !tiny_b[j] &&
                          bounds.upper - bounds.lower <= kTight * bounds.upper;
    out[n] = is_tight ? bounds.upper : closest(a.part(i), b.part(j)).distance;
  });
  return distances;
}

}  // namespace

std::size_t check_index_pairs(const Array<std::int64_t>& pairs, std::size_t size_a,
                              std::size_t size_b) {
  for (std::size_t n = 0; n < length(pairs); ++n) {
    const std::int64_t index = pairs.data()[n];
    const std::size_t size = n % 2 == 0 ? size_a : size_b;
    if (index < 0 || static_cast<std::size_t>(index) >= size) {
      refuse({Status::invalid_input, "pairs", static_cast<long>(n / 2),
              "must lie in [0, " + std::to_string(size) + ")" + got(index)});
    }
  }
  return length(pairs) / 2;
}

void bind_many(py::module_& module) {
  module.def("collide_many", &collide_many, "a_offsets"_a, "a_xy"_a, "b_offsets"_a, "b_xy"_a,
             "pairs"_a, "margin"_a);
  module.def("distance_many", &distance_many, "a_offsets"_a, "a_xy"_a, "b_offsets"_a, "b_xy"_a,
             "pairs"_a);
}

}  // namespace gjk::bindings
