// SPDX-FileCopyrightText: gjk_collision contributors
// SPDX-License-Identifier: Apache-2.0
// A shape that owns its vertices: one or more convex parts, each with a radius. Checked when it is
// made.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <initializer_list>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "gjk/arithmetic.hpp"
#include "gjk/shape/box.hpp"
#include "gjk/shape/convex.hpp"
#include "gjk/shape/expansion.hpp"
#include "gjk/shape/pose.hpp"
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

// An issue of a whole field.
inline Issue refusal(std::string argument, Status status, std::string rule) {
  return {status, std::move(argument), -1, std::move(rule)};
}
inline Issue refusal(std::string argument, std::string rule) {
  return refusal(std::move(argument), Status::invalid_input, std::move(rule));
}

// The first issue of several, or none.
inline Issue first_of(std::initializer_list<Issue> issues) {
  for (const Issue& issue : issues) {
    if (issue) return issue;
  }
  return {};
}

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

// v + by. If the sum is not a double, it is rounded in the direction of `by`.
inline double sum_outwards(double v, double by) noexcept {
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
  Shape padded(double front, double rear, double left, double right) const;

  // The shape at a pose, with rounded vertices. If rounding makes a part concave, it is its hull.
  Shape transformed(const Pose& pose) const;

  // m. Contains the shape, radii included; rounded outwards.
  Box bounds() const noexcept {
    Box box;
    for (int i = 0; i < parts(); ++i) {
      const Convex own = part(i);
      box.include(Vec2{sum_outwards(own.extreme_x[2], -own.radius),
                       sum_outwards(own.extreme_y[3], -own.radius)});
      box.include(Vec2{sum_outwards(own.extreme_x[0], own.radius),
                       sum_outwards(own.extreme_y[1], own.radius)});
    }
    return box;
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

  // Appends the parts of a Shape, or of anything with parts() and part(i).
  template <class Parts>
  void add(const Parts& other) {
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

// Appends the convex parts of an outline with holes to `parts`. Outline and holes need at least 3
// points, not all collinear, in either winding. `index` of an issue counts vertices.
Issue outline_parts(std::span<const Vec2> ring, ConcavePolicy policy, const char* argument,
                    std::vector<std::vector<Vec2>>& parts,
                    std::span<const std::vector<Vec2>> holes = {});

}  // namespace gjk

#ifdef GJK_KERNEL
#include <tuple>

#include "gjk/shape/decompose.hpp"
#include "gjk/shape/hull.hpp"

namespace gjk {

GJK_KERNEL Shape Shape::padded(double front, double rear, double left, double right) const {
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

GJK_KERNEL Shape Shape::transformed(const Pose& pose) const {
  const Transform at = Transform::from_pose(pose);
  Shape moved;
  std::vector<Vec2> vertices;
  for (int i = 0; i < parts(); ++i) {
    const Convex own = part(i);
    vertices.clear();
    for (int k = 0; k < own.size; ++k) vertices.push_back(at.apply(own.vertex(k)));
    const bool is_convex = first_reflex_vertex(vertices) < 0;
    moved.add_part(is_convex ? vertices : convex_hull(vertices), own.radius);
  }
  return moved;
}

namespace detail {

// Drops the last vertex of a closed ring, which repeats the first.
inline std::vector<Vec2> open_ring(std::span<const Vec2> ring) {
  std::vector<Vec2> open(ring.begin(), ring.end());
  while (open.size() > 1 && open.front() == open.back()) open.pop_back();
  return open;
}

// Checks that a ring has at least 3 points that are not all collinear.
inline Issue check_ring(std::span<const Vec2> ring, const std::string& argument) {
  if (ring.size() < 3) {
    return refusal(argument, Status::too_few_points,
                   "an outline needs at least 3 distinct vertices");
  }
  if (convex_hull(ring).size() < 3) {
    return refusal(argument, Status::degenerate, "all vertices lie on one line: no area");
  }
  return {};
}

}  // namespace detail

GJK_KERNEL Issue outline_parts(std::span<const Vec2> ring, ConcavePolicy policy,
                               const char* argument, std::vector<std::vector<Vec2>>& parts,
                               std::span<const std::vector<Vec2>> holes) {
  using namespace detail;
  std::vector<std::vector<Vec2>> rings{open_ring(ring)};
  for (const std::vector<Vec2>& hole : holes) rings.push_back(open_ring(hole));
  const auto name = [&](std::size_t r) {
    return r == 0 ? std::string(argument) : "holes[" + std::to_string(r - 1) + "]";
  };
  for (std::size_t r = 0; r < rings.size(); ++r) {
    if (Issue issue = check_ring(rings[r], name(r))) return issue;
  }
  std::vector<Vec2> outline = rings[0];
  const bool clockwise = winding(outline) < 0;
  if (clockwise) std::reverse(outline.begin(), outline.end());
  const long reflex = first_reflex_vertex(outline);
  if (reflex < 0 && holes.empty()) {
    parts.push_back(std::move(outline));
    return {};
  }
  if (policy == ConcavePolicy::hull) {
    parts.push_back(convex_hull(outline));
    return {};
  }
  if (policy == ConcavePolicy::reject) {
    return {Status::concave_rejected, argument,
            clockwise ? static_cast<long>(outline.size()) - 1 - reflex : reflex,
            "the outline is not convex at this vertex"};
  }
  for (std::size_t r = 0; r < rings.size(); ++r) {
    for (std::size_t i = 0; i < rings[r].size(); ++i) {
      if (is_tiny(rings[r][i].x) || is_tiny(rings[r][i].y)) {  // exact arithmetic would underflow
        return {Status::invalid_input, name(r), static_cast<long>(i),
                "a coordinate of a concave outline must be 0 or at least 1e-40 m in magnitude"};
      }
    }
  }
  Decomposition pieces = decompose(rings);
  if (pieces.flaw.kind != Flaw::Kind::none) {
    auto [kind, first, second] = pieces.flaw;
    if (std::tie(second.ring, second.vertex) < std::tie(first.ring, first.vertex)) {
      std::swap(first, second);  // the later ring, and there the earlier vertex
    }
    if (first.ring < second.ring) std::swap(first, second);
    const std::string other = std::to_string(second.vertex) +
                              (first.ring == second.ring ? "" : " of " + name(second.ring));
    return {Status::invalid_input, name(first.ring), first.vertex,
            kind == Flaw::Kind::outside
                ? "the hole leaves the outline near this vertex: a hole must lie in the outline"
            : kind == Flaw::Kind::overlap
                ? "the hole overlaps another near this vertex: replace both by their union, or "
                  "drop the inner one; see vertex " +
                      other
                : "the edge from this vertex crosses or overlaps the edge from vertex " + other +
                      ": list the vertices in their order along the outline"};
  }
  if (pieces.parts.empty()) {
    return refusal(argument, "the outline could not be decomposed");
  }
  for (std::vector<Vec2>& piece : pieces.parts) parts.push_back(std::move(piece));
  return {};
}

}  // namespace gjk
#endif
