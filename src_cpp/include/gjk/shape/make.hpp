// SPDX-FileCopyrightText: gjk_collision contributors
// SPDX-License-Identifier: Apache-2.0
// Makes shapes from points, with checks. Each function sets `shape`, or returns why the points are
// refused; text_of() in text.hpp makes a message of it. `index` counts points.
#pragma once

#include <span>
#include <vector>

#include "gjk/shape/shape.hpp"
#include "gjk/shape/vec2.hpp"

namespace gjk {

// The polygon with these vertices (m), 3 or more in either winding, and all points within `radius`
// (m, >= 0) of it. A concave one is split into convex parts, becomes its hull, or is refused.
Issue make_polygon(std::span<const Vec2> vertices, Shape& shape, double radius = 0.0,
                   ConcavePolicy policy = ConcavePolicy::decompose,
                   std::span<const std::vector<Vec2>> holes = {}, const char* argument = "xy");

// The convex hull of points (m), 1 or more in any order, and all points within `radius` (m, >= 0)
// of it: one point and a radius make a circle, two a capsule.
Issue make_hull(std::span<const Vec2> points, Shape& shape, double radius = 0.0,
                const char* argument = "points");

// A rectangle with its sides along the axes; `length` and `width` (m, > 0) along x and y.
Issue make_box(double length, double width, Shape& shape, Vec2 center = {}, double radius = 0.0);

}  // namespace gjk

#ifdef GJK_KERNEL
#include <cmath>
#include <string>
#include <utility>

#include "gjk/shape/domain.hpp"
#include "gjk/shape/hull.hpp"

namespace gjk {

namespace detail {

inline Issue check_points(std::span<const Vec2> points, const char* argument) {
  for (std::size_t i = 0; i < points.size(); ++i) {
    const double xy[] = {points[i].x, points[i].y};
    if (Issue issue = check_coordinates(xy, argument)) {
      issue.index = static_cast<long>(i);
      return issue;
    }
  }
  return {};
}

}  // namespace detail

GJK_KERNEL Issue make_polygon(std::span<const Vec2> vertices, Shape& shape, double radius,
                              ConcavePolicy policy, std::span<const std::vector<Vec2>> holes,
                              const char* argument) {
  if (Issue issue = detail::check_points(vertices, argument)) return issue;
  for (std::size_t k = 0; k < holes.size(); ++k) {
    const std::string name = "holes[" + std::to_string(k) + "]";
    if (Issue issue = detail::check_points(holes[k], name.c_str())) return issue;
  }
  if (Issue issue = check_radius(radius, "radius")) return issue;
  std::vector<std::vector<Vec2>> parts;
  if (Issue issue = outline_parts(vertices, policy, argument, parts, holes)) return issue;
  shape = {};
  for (const std::vector<Vec2>& part : parts) shape.add_part(part, radius);
  return {};
}

GJK_KERNEL Issue make_hull(std::span<const Vec2> points, Shape& shape, double radius,
                           const char* argument) {
  if (Issue issue = detail::check_points(points, argument)) return issue;
  if (Issue issue = check_radius(radius, "radius")) return issue;
  if (points.empty())
    return refusal(argument, Status::too_few_points, "must hold at least 1 point");
  shape = {};
  shape.add_part(convex_hull(points), radius);
  return {};
}

GJK_KERNEL Issue make_box(double length, double width, Shape& shape, Vec2 center, double radius) {
  for (const auto& [name, size] : {std::pair{"length", length}, std::pair{"width", width}}) {
    if (!(size > 0.0)) return refusal(name, "must be greater than 0");
    if (std::isinf(size)) return refusal(name, Status::non_finite, "must be finite");
    if (size > 2.0 * kMaxCoordinate) {
      return refusal(name, Status::coord_range, "must not exceed 2e15 m");
    }
  }
  const double middle[] = {center.x, center.y};
  if (Issue issue = check_coordinates(middle, "center")) return issue;
  const double x = 0.5 * length;
  const double y = 0.5 * width;
  const Vec2 corners[] = {Vec2{x, y} + center, Vec2{-x, y} + center, Vec2{-x, -y} + center,
                          Vec2{x, -y} + center};
  const char* const names = "length, width, center";
  Issue issue = make_polygon(corners, shape, radius, ConcavePolicy::reject, {}, names);
  issue.index = -1;  // not of a corner
  return issue;
}

}  // namespace gjk
#endif
