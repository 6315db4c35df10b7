// SPDX-FileCopyrightText: gjk_collision contributors
// SPDX-License-Identifier: Apache-2.0
// The shape type of the queries: a view of a convex polygon with a radius.
#pragma once

#include <array>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <utility>

#include "gjk/arithmetic.hpp"
#include "gjk/shape/box.hpp"
#include "gjk/shape/orientation.hpp"
#include "gjk/shape/outline.hpp"
#include "gjk/shape/pose.hpp"
#include "gjk/shape/vec2.hpp"
#include "gjk/simd/bits.hpp"

namespace gjk {

// m. Error bound for the vertices of a shape that has such a coordinate.
inline constexpr double kTinyError = 4.0 * kMinExactCoordinate;

namespace detail {

// Next and previous index in a ring of n. Computed with a mask, because a branch would often be
// mispredicted.
inline int after(int i, int n) noexcept { return (i + 1) & -static_cast<int>(i + 1 < n); }
inline int before(int i, int n) noexcept { return i - 1 + (n & -static_cast<int>(i == 0)); }

}  // namespace detail

// A number of points: from any type of integers, as int or the size() of a vector. A number that is
// no int counts as 0 points, for which queries answer UNKNOWN.
struct Count {
  template <std::integral Integer>
  constexpr Count(Integer n) noexcept  // NOLINT(misc-explicit-constructor)
      : value(std::in_range<int>(n) ? static_cast<int>(n) : 0) {}
  constexpr operator int() const noexcept { return value; }  // NOLINT(misc-explicit-constructor)

  int value;
};

// A view of a convex polygon with a radius: one vertex and a radius make a circle, two a capsule.
//
// Vertices are counter-clockwise; they may repeat and be collinear. The set is closed: all points
// within `radius` of the hull of the vertices. The view does not own the coordinates.
struct Convex {
  const double* x = nullptr;  // m
  const double* y = nullptr;  // m
  int size = 0;
  double radius = 0.0;  // m
  // m. Largest magnitude of a coordinate; NaN if any value is outside the domain.
  double extent = kNaN;
  double error = 0.0;  // m. Maximum distance of a vertex from its true position; 0: exact

  // The vertices with the largest x, largest y, smallest x and smallest y. Their bounding box
  // separates most pairs that are apart, and the quadrilateral between them proves most overlaps.
  double extreme_x[4] = {};
  double extreme_y[4] = {};
  int extreme[4] = {};
  // True if the chains of vertices from each extreme to the next cover the outline exactly once.
  // False for some flat shapes.
  bool has_chains = false;

  // The bounds for exact shapes require convexity. If the vertices are not convex, not
  // counter-clockwise, or wind around more than once, every query answers UNKNOWN.
  static Convex view(const double* x, const double* y, Count size, double radius = 0.0) noexcept {
    Convex c;
    c.x = x;
    c.y = y;
    c.size = size;
    c.radius = radius;
    const bool has_vectors = size > 2 && size <= simd::kMostTagged;
    const OutlineFacts outline = has_vectors ? examine(x, y, size) : c.outline_one_by_one();
    if (!outline.is_finite || !(radius >= 0.0 && radius <= kMaxCoordinate)) return c;
    c.take_extremes(outline.farthest);
    c.error = outline.has_tiny ? kTinyError : 0.0;
    const auto at = [&c](long i) { return snapped(c.vertex(static_cast<int>(i))); };
    if (size > 2 && !outline.is_surely_convex && c.extent <= kMaxCoordinate &&
        exact::first_reflex_vertex(size, at) >= 0) {
      c.extent = kNaN;
    }
    return c;
  }

  // Sets the extremes, has_chains and extent. Requires at least one vertex, all finite.
  void find_extremes() noexcept { take_extremes(farthest()); }
  // The argument of take_extremes(). Without branches, because they would be mispredicted when
  // poses vary.
  std::array<int, 4> farthest() const noexcept {
    struct Farthest {
      double value;
      int vertex = 0;
      void take(bool is_farther, double v, int i) noexcept {
        value = is_farther ? v : value;
        vertex = is_farther ? i : vertex;
      }
    };
    Farthest east{x[0]}, north{y[0]}, west{x[0]}, south{y[0]};
    for (int i = 1; i < size; ++i) {
      east.take(x[i] > east.value, x[i], i);
      north.take(y[i] > north.value, y[i], i);
      west.take(x[i] < west.value, x[i], i);
      south.take(y[i] < south.value, y[i], i);
    }
    return {east.vertex, north.vertex, west.vertex, south.vertex};
  }
  // `farthest`: the first vertex with the largest x, largest y, smallest x and smallest y.
  void take_extremes(const std::array<int, 4>& farthest) noexcept {
    take_extreme_vertices(farthest);
    for (std::size_t k = 0; k < 4; ++k) {
      extreme_x[k] = x[farthest[k]];
      extreme_y[k] = y[farthest[k]];
    }
    extent = extent_of_extremes();
  }
  // Only their indices.
  void take_extreme_vertices(const std::array<int, 4>& farthest) noexcept {
    int times_past_0 = 0;
    for (std::size_t k = 0; k < 4; ++k) {
      extreme[k] = farthest[k];
      times_past_0 += static_cast<int>(farthest[(k + 1) & 3] < farthest[k]);
    }
    has_chains = times_past_0 == 1 || size == 1;
  }
  double extent_of_extremes() const noexcept {
    return larger(larger(std::fabs(extreme_x[0]), std::fabs(extreme_x[2])),
                  larger(std::fabs(extreme_y[1]), std::fabs(extreme_y[3])));
  }
  // As examine(), for any number of vertices.
  OutlineFacts outline_one_by_one() const noexcept {
    double finite = 0.0;  // or NaN if a value is not finite
    for (int i = 0; i < size; ++i) finite += 0.0 * x[i] + 0.0 * y[i];
    if (size < 1 || std::isnan(finite)) return {};
    return {.farthest = farthest(), .is_finite = true, .has_tiny = has_tiny()};
  }
  bool has_tiny() const noexcept {
    bool tiny = false;
    for (int i = 0; i < size; ++i) tiny |= is_tiny(x[i]) || is_tiny(y[i]);
    return tiny;
  }

  Vec2 vertex(int i) const noexcept { return {x[i], y[i]}; }
  // Box of the vertices, without the radius.
  Box box() const noexcept { return {{extreme_x[2], extreme_y[3]}, {extreme_x[0], extreme_y[1]}}; }
  // m. The true shape may extend this far beyond box().
  double beyond_box() const noexcept { return radius + error; }

  // The edges from extreme k to extreme k + 1 or k + 2 (`count` 1 or 2). Their outer normals lie
  // between the directions of the first and the last extreme.
  struct Chain {
    int first = 0;  // vertex
    int edges = 0;  // number of vertices less one
  };
  Chain chain(int k, int count) const noexcept {
    // Adds single chains: if extremes k and k + 2 are the same vertex, there are either no edges
    // between them or all.
    const auto to_next = [this](int from) {
      const int edges = extreme[(from + 1) & 3] - extreme[from & 3];
      return edges + (size & -static_cast<int>(edges < 0));
    };
    return {extreme[k], to_next(k) + (to_next(k + 1) & -static_cast<int>(count > 1))};
  }

  // Index of a vertex that is farthest along d, up to the rounding of a dot product.
  int support(Vec2 d) const noexcept {
    int best = 0;
    double farthest = x[0] * d.x + y[0] * d.y;
    for (int i = 1; i < size; ++i) {
      const double along = x[i] * d.x + y[i] * d.y;
      if (along > farthest) {
        farthest = along;
        best = i;
      }
    }
    return best;
  }
};

// Two shapes are certainly FREE in every query if their distance exceeds undecided_margin() plus
// undecided() of both (m). At a smaller distance, rounding may lead to MARGIN or COLLISION.
template <class P>
double undecided(const P& shape) noexcept {
  return 16.0 * shape.error + 64.0 * kUnitRoundoff * (shape.extent + shape.radius);
}
inline double undecided_margin(double margin) noexcept {
  return margin * (1.0 + 64.0 * kUnitRoundoff);
}

// False for NaN, infinity, values out of range, a negative radius or no vertices: queries answer
// UNKNOWN.
template <class P, class Q>
bool in_domain(const P& p, const Q& q) noexcept {
  return p.extent <= kMaxCoordinate && q.extent <= kMaxCoordinate;
}

// A box that contains the shape. If the bounds of two shapes are farther apart than the margin, the
// verdict is FREE.
inline Box bounds(const Convex& shape) noexcept {
  if (!in_domain(shape, shape)) return kEverywhere;
  return shape.box().grown(shape.beyond_box() + undecided(shape));
}

}  // namespace gjk
