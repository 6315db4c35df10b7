// SPDX-FileCopyrightText: gjk_collision contributors
// SPDX-License-Identifier: Apache-2.0
// The steps that find out about shapes given as points only what a query needs.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>

#include "gjk/narrow/axes.hpp"
#include "gjk/narrow/exact.hpp"
#include "gjk/narrow/extremes.hpp"
#include "gjk/narrow/features.hpp"
#include "gjk/narrow/view.hpp"
#include "gjk/shape/convex.hpp"
#include "gjk/shape/hull.hpp"
#include "gjk/shape/outline.hpp"
#include "gjk/shape/points.hpp"
#include "gjk/shape/vec2.hpp"
#include "gjk/simd/dispatch.hpp"
#include "gjk/verdict.hpp"

namespace gjk::detail {

// Memory for the hull of points that are not a convex outline.
class HullRoom {
 public:
  HullRoom() noexcept {}  // NOLINT: leaves the memory as it is
  HullRoom(const HullRoom&) = delete;
  HullRoom& operator=(const HullRoom&) = delete;

  // The points as they are if they are a convex outline, otherwise their hull.
  Convex view(const Hull& of) noexcept {
    const Convex as_given = Convex::view(of.x, of.y, of.size, of.radius);
    if (as_given.extent <= kMaxCoordinate || of.size < 1) return as_given;
    for (int i = 0; i < of.size; ++i) {
      if (!(std::fabs(of.x[i]) <= kMaxCoordinate && std::fabs(of.y[i]) <= kMaxCoordinate)) {
        return as_given;
      }
    }
    std::size_t count = 0;
    std::size_t vertices = 0;
    for (int i = 0; i < of.size; ++i) {
      points_[count++] = {of.x[i], of.y[i]};
      if (count < kPoints && i < of.size - 1) continue;
      vertices = convex_hull(std::span(points_, count), hull_);
      if (vertices > kMostHullVertices) return as_given;
      count = vertices;
      for (std::size_t k = 0; k < vertices; ++k) points_[k] = hull_[k];
    }
    for (std::size_t k = 0; k < vertices; ++k) {
      x_[k] = hull_[k].x;
      y_[k] = hull_[k].y;
    }
    return Convex::view(x_, y_, static_cast<int>(vertices), of.radius);
  }

 private:
  static constexpr std::size_t kPoints = std::size_t{2} * std::size_t{kMostHullVertices};

  Vec2 points_[kPoints];
  Vec2 hull_[2 * kPoints + 1];
  double x_[kMostHullVertices];
  double y_[kMostHullVertices];
};

// Calls query(p, q) with views of any two hulls.
template <class Query>
[[gnu::noinline]] auto on_hulls(const Hull& a, const Hull& b, const Query& query) noexcept {
  HullRoom of_a;
  HullRoom of_b;
  return query(of_a.view(a), of_b.view(b));
}

// The index of the point whose coordinates are those of a vertex of the view.
inline int point_of(const Hull& hull, const Convex& view, int vertex) noexcept {
  if (view.x == hull.x) return vertex;
  int i = 0;
  while (i < hull.size - 1 && !(hull.x[i] == view.x[vertex] && hull.y[i] == view.y[vertex])) ++i;
  return i;
}

// Whether Outlined applies.
inline bool has_vectors(const Hull& a, const Hull& b) noexcept {
  const auto applies = [](const Hull& hull) {
    return hull.size >= 3 && hull.size <= simd::kMostTagged && hull.radius >= 0.0 &&
           hull.radius <= kMaxCoordinate;
  };
  return applies(a) && applies(b);
}

// The box of P - Q, as the extremes that the box test uses; the others are not set.
inline Quadrilateral box_of_difference(const OutlineBox& p, const OutlineBox& q) noexcept {
  Quadrilateral w;
  w.x[0] = p.most[0] + q.most[2];
  w.y[1] = p.most[1] + q.most[3];
  w.x[2] = -(p.most[2] + q.most[0]);
  w.y[3] = -(p.most[3] + q.most[1]);
  return w;
}

// The same as inscribed(), for shapes whose extremes were just set. Single values that were just
// stored would be waited for if they were loaded as vectors.
inline Quadrilateral inscribed_by_index(const Convex& p, const Convex& q) noexcept {
  Quadrilateral w;
  for (int k = 0; k < 4; ++k) {
    w.x[k] = p.x[p.extreme[k]] - q.x[q.extreme[k ^ 2]];
    w.y[k] = p.y[p.extreme[k]] - q.y[q.extreme[k ^ 2]];
  }
  return w;
}

// The point nearest O on the edges of P - Q at one vertex.
struct NearestOfEdges {
  Vec2 normal;  // from O towards P - Q: the point, or the normal of the edge with the edge's length
  double upper;  // bound (m) on the distance of O to P - Q
};

// The four edges that may start at the vertex, and hence the bound, serve for points in any order.
// Without branches, which would be unpredictable. For the rounding error see nearest_point_bound().
template <class P, class Q>
NearestOfEdges nearest_of_edges(const P& p, const Q& q, int i, int j) noexcept {
  const Vec2 at_p = p.vertex(i);
  const Vec2 at_q = q.vertex(j);
  const Vec2 w = at_p - at_q;
  const Vec2 edges[4] = {p.vertex(after(i, p.size)) - at_p, p.vertex(before(i, p.size)) - at_p,
                         at_q - q.vertex(after(j, q.size)), at_q - q.vertex(before(j, q.size))};
  Vec2 nearest = w;
  Vec2 facing;
  double least = dot(w, w);
  double share = 0.0;
  double longest = 0.0;
  for (const Vec2 edge : edges) {
    // An edge without length gives NaN, which becomes 0.
    const double at = -dot(w, edge) / dot(edge, edge);
    const double clamped = at > 0.0 ? (at < 1.0 ? at : 1.0) : 0.0;
    const Vec2 point = w + clamped * edge;
    const double square = dot(point, point);
    const bool is_nearer = square < least;
    least = is_nearer ? square : least;
    share = is_nearer ? clamped : share;
    facing = {is_nearer ? edge.x : facing.x, is_nearer ? edge.y : facing.y};
    nearest = {is_nearer ? point.x : nearest.x, is_nearer ? point.y : nearest.y};
    const double length = norm1(edge);
    longest = length > longest ? length : longest;
  }
  const Vec2 n = perpendicular(facing);
  const double side = dot(n, w) < 0.0 ? -1.0 : 1.0;
  const bool is_between = (share > 0.0) & (share < 1.0);
  const Vec2 normal{is_between ? side * n.x : nearest.x, is_between ? side * n.y : nearest.y};
  const double rounding = 8.0 * kUnitRoundoff * (norm1(w) + longest);
  return {normal, std::sqrt(least) * (1.0 + 8.0 * kUnitRoundoff) + rounding};
}

// Bounds (m) on the distance of the hulls of points in any order. `towards` leads from O towards
// P - Q. The lower bound is the gap between all points along a normal, so it needs no convex
// outline. It is not positive if the nearest edge is not found, or if the bounds are wider than
// usual.
template <class View>
Bounds bounds_of_hulls(const View& p, const View& q, Vec2 towards) noexcept {
  // Most first support vertices are ends of the nearest edge, and nearly all second ones.
  for (int step = 0; step < 2; ++step) {
    const int i = p.near_support(-towards);
    const int j = q.near_support(towards);
    const NearestOfEdges nearest = nearest_of_edges(p, q, i, j);
    const double lower = exact::gap_along(p, q, -nearest.normal, p.vertex(i));
    if (nearest.upper - lower <= kUsualGap * nearest.upper) return {lower, nearest.upper};
    towards = nearest.normal;
  }
  return {};
}

// The view of a hull of 3 to 64 points, in the vectors of one instruction set. What is known of it
// grows with the steps of a query.
template <class Set>
class Outlined {
 private:
  using Checks = typename OutlineChecksOf<Set>::Type;

 public:
  explicit Outlined(const Hull& of) noexcept : x_(alone(of.x)), y_(alone(of.y)), size_(of.size) {}

  OutlineBox box() const noexcept { return Checks::box(x_, y_, size_); }

  // Sets the view; of the extremes only the sides of the box.
  void take(const Hull& of, const OutlineBox& box) noexcept {
    view_.x = x_;
    view_.y = y_;
    view_.size = size_;
    view_.radius = of.radius;
    view_.extent = box.extent;
    view_.extreme_x[0] = box.most[0];
    view_.extreme_y[1] = box.most[1];
    view_.extreme_x[2] = -box.most[2];
    view_.extreme_y[3] = -box.most[3];
  }
  Outlined(const Outlined&) = delete;
  Outlined& operator=(const Outlined&) = delete;

  const Convex& view() const noexcept { return view_; }

  // Sets the indices of the extremes. They are those of the hull, whatever the order of the points.
  void find_extremes(const OutlineBox& box) noexcept {
    view_.take_extreme_vertices(Checks::farthest(x_, y_, size_, box));
  }
  // Up to this number of points, testing all edges is faster than selecting those that may
  // separate.
  static constexpr int kFew = 2 * Checks::kLanes > Axes::kFew ? 2 * Checks::kLanes : Axes::kFew;

  // Whether the points are certainly the vertices of a convex outline, without tiny coordinates.
  bool is_surely_convex() const noexcept { return Checks::turns(x_, y_, size_).is_surely_convex; }

 private:
  // Keeps the compiler from loading both pointers of a hull, which were just stored, as one vector:
  // that load would wait until the stores are complete.
  static const double* alone(const double* values) noexcept {
    __asm__("" : "+r"(values));
    return values;
  }

  const double* x_;
  const double* y_;
  int size_;
  Convex view_;
};

}  // namespace gjk::detail
