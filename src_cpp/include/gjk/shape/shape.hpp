// SPDX-FileCopyrightText: gjk_collision contributors
// SPDX-License-Identifier: Apache-2.0
// A shape that owns its vertices: one or more convex parts, each with a radius. Checked when it is
// made.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "gjk/shape/convex.hpp"
#include "gjk/shape/decompose.hpp"
#include "gjk/shape/expansion.hpp"
#include "gjk/shape/hull.hpp"
#include "gjk/shape/vec2.hpp"
#include "gjk/verdict.hpp"

namespace gjk {

// Reason why input was rejected. `status` is success if it was accepted.
struct Issue {
  Status status = Status::success;
  std::string argument;  // field name
  long index = -1;       // of the offending element; -1: the whole field
  std::string rule;

  explicit operator bool() const noexcept { return status != Status::success; }
};

enum class ConcavePolicy { decompose, hull, reject };

// Checks that values are finite and within kMaxCoordinate. `index` counts values.
inline Issue check_coordinates(std::span<const double> values, const char* argument) {
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (!std::isfinite(values[i])) {
      return {Status::non_finite, argument, static_cast<long>(i), "must be finite"};
    }
    if (std::fabs(values[i]) > kMaxCoordinate) {
      return {Status::coord_range, argument, static_cast<long>(i),
              "magnitude must not exceed 1e15 m"};
    }
  }
  return {};
}

inline Issue check_radius(double radius, const char* argument, long index = -1) {
  if (!std::isfinite(radius)) return {Status::non_finite, argument, index, "must be finite"};
  if (radius < 0.0) return {Status::invalid_input, argument, index, "must not be negative"};
  if (radius > kMaxCoordinate) {
    return {Status::coord_range, argument, index, "must not exceed 1e15 m"};
  }
  return {};
}

// v + by. If the sum is not a double, it is rounded in the direction of `by`.
inline double sum_outwards(double v, double by) noexcept {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const TwoTerms sum = two_sum(v, by);
  const bool is_short = by > 0.0 ? sum.low > 0.0 : sum.low < 0.0;
  return is_short ? std::nextafter(sum.high, std::copysign(kInfinity, by)) : sum.high;
}

class Shape {
 public:
  int parts() const noexcept { return static_cast<int>(offsets_.size()) - 1; }
  double radius() const noexcept { return radius_; }  // m, the largest of its parts
  Convex part(int i) const noexcept {
    const int begin = offsets_[static_cast<std::size_t>(i)];
    const int end = offsets_[static_cast<std::size_t>(i) + 1];
    Convex view = views_[static_cast<std::size_t>(i)];
    view.x = x_.data() + begin;
    view.y = y_.data() + begin;
    view.size = end - begin;
    return view;
  }

  // The shape with `margin` (m, >= 0) added to each radius, rounded up.
  Shape inflated(double margin) const {
    Shape grown = *this;
    grown.radius_ = sum_outwards(radius_, margin);
    for (Convex& view : grown.views_) view.radius = sum_outwards(view.radius, margin);
    return grown;
  }

  // Minkowski sum with the box [-rear, front] x [-right, left] (m, each >= 0), where x points to
  // the front and y to the left. Sums are rounded outwards, so the result contains the exact sum.
  Shape padded(double front, double rear, double left, double right) const {
    Shape grown;
    std::vector<Vec2> corners;
    for (int i = 0; i < parts(); ++i) {
      const Convex own = part(i);
      corners.clear();
      for (int k = 0; k < own.size; ++k) {
        for (const double x : {-rear, front}) {
          for (const double y : {-right, left}) {
            corners.push_back({sum_outwards(own.x[k], x), sum_outwards(own.y[k], y)});
          }
        }
      }
      grown.add_part(convex_hull(corners), own.radius);
    }
    return grown;
  }

  // The vertices must be convex and counter-clockwise; see Convex::view().
  void add_part(std::span<const Vec2> vertices, double radius) {
    for (const Vec2 v : vertices) {
      x_.push_back(v.x);
      y_.push_back(v.y);
    }
    const int begin = offsets_.back();
    const int end = static_cast<int>(x_.size());
    offsets_.push_back(end);
    radius_ = std::max(radius_, radius);
    views_.push_back(Convex::view(x_.data() + begin, y_.data() + begin, end - begin, radius));
  }

  // Appends the parts of another shape.
  void add(const Shape& other) {
    std::vector<Vec2> vertices;
    for (int i = 0; i < other.parts(); ++i) {
      const Convex part = other.part(i);
      vertices.clear();
      for (int k = 0; k < part.size; ++k) vertices.push_back(part.vertex(k));
      add_part(vertices, part.radius);
    }
  }

 private:
  std::vector<double> x_;
  std::vector<double> y_;
  std::vector<int> offsets_{0};
  std::vector<Convex> views_;  // extents and errors; part() sets the pointers
  double radius_ = 0.0;
};

// Drops the last vertex of a closed ring, which repeats the first.
inline std::vector<Vec2> open_ring(std::span<const Vec2> ring) {
  std::vector<Vec2> open(ring.begin(), ring.end());
  while (open.size() > 1 && open.front() == open.back()) open.pop_back();
  return open;
}

// Appends the outline's convex parts to `parts`. The outline needs at least 3 points, not all
// collinear, in either winding. `index` of an issue counts vertices.
inline Issue outline_parts(std::span<const Vec2> ring, ConcavePolicy policy, const char* argument,
                           std::vector<std::vector<Vec2>>& parts) {
  std::vector<Vec2> outline = open_ring(ring);
  if (outline.size() < 3) {
    return {Status::too_few_points, argument, -1, "an outline needs at least 3 distinct vertices"};
  }
  std::vector<Vec2> hull = convex_hull(outline);
  if (hull.size() < 3) {
    return {Status::degenerate, argument, -1, "all vertices lie on one line: no area"};
  }
  const bool clockwise = winding(outline) < 0;
  if (clockwise) std::reverse(outline.begin(), outline.end());
  const long reflex = first_reflex_vertex(outline);
  if (reflex < 0) {
    parts.push_back(std::move(outline));
    return {};
  }
  if (policy == ConcavePolicy::hull) {
    parts.push_back(std::move(hull));
    return {};
  }
  // Index in `ring` of a vertex of `outline`, or of the first vertex of an edge. Reversing the
  // outline swaps the first and last vertex of an edge.
  const auto given_index = [&](long i, long is_edge = 0) {
    const long n = static_cast<long>(outline.size());
    return clockwise ? (2 * n - 1 - i - is_edge) % n : i;
  };
  if (policy == ConcavePolicy::reject) {
    return {Status::concave_rejected, argument, given_index(reflex),
            "the outline is not convex at this vertex"};
  }
  for (std::size_t i = 0; i < outline.size(); ++i) {
    if (is_tiny(outline[i].x) || is_tiny(outline[i].y)) {  // exact arithmetic would underflow
      return {Status::invalid_input, argument, given_index(static_cast<long>(i)),
              "a coordinate of a concave outline must be 0 or at least 1e-40 m in magnitude"};
    }
  }
  Decomposition pieces = decompose(outline);
  if (pieces.crossing.first >= 0) {
    const auto [first, second] = std::minmax(
        {given_index(pieces.crossing.first, 1), given_index(pieces.crossing.second, 1)});
    return {Status::invalid_input, argument, first,
            "the edge from this vertex crosses or overlaps the edge from vertex " +
                std::to_string(second)};
  }
  if (pieces.parts.empty()) {
    return {Status::invalid_input, argument, -1, "the outline could not be decomposed"};
  }
  for (std::vector<Vec2>& piece : pieces.parts) parts.push_back(std::move(piece));
  return {};
}

}  // namespace gjk
