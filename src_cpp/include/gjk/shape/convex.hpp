// SPDX-FileCopyrightText: gjk_collision contributors
// SPDX-License-Identifier: Apache-2.0
// A shape as the queries see it: a convex polygon plus a radius, and its support vertex.
#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <limits>

#include "gjk/shape/orientation.hpp"
#include "gjk/shape/pose.hpp"
#include "gjk/shape/vec2.hpp"

namespace gjk {

// m. A coordinate other than 0 below this could underflow in exact arithmetic.
inline constexpr double kMinExactCoordinate = 1e-40;

// m: how far a vertex of such a shape may be from the true one.
inline constexpr double kTinyError = 4.0 * kMinExactCoordinate;

inline bool is_tiny(double v) noexcept { return std::fabs(v) < kMinExactCoordinate && v != 0.0; }
// As it counts where orientations are decided.
inline Vec2 snapped(Vec2 p) noexcept {
  return {is_tiny(p.x) ? 0.0 : p.x, is_tiny(p.y) ? 0.0 : p.y};
}

namespace detail {

// The next and the previous index in a ring of n. Masked, not chosen: a branch would be foreseen
// badly.
inline int after(int i, int n) noexcept { return (i + 1) & -static_cast<int>(i + 1 < n); }
inline int before(int i, int n) noexcept { return i - 1 + (n & -static_cast<int>(i == 0)); }

}  // namespace detail

// A view of a convex polygon plus a radius: one vertex and a radius is a circle, two are a capsule.
//
// Vertices are counter-clockwise; they may repeat and be collinear. The set is closed: the hull of
// the vertices and all within `radius` of it. The view does not own the coordinates.
struct Convex {
  const double* x = nullptr;  // m
  const double* y = nullptr;  // m
  int size = 0;
  double radius = 0.0;  // m
  // m: no coordinate is larger; NaN where a value is not in the domain
  double extent = std::numeric_limits<double>::quiet_NaN();
  double error = 0.0;  // m: each vertex may be this far from the true one; 0: exact

  // The vertices farthest east, north, west and south. Their bounding box tells most separated
  // pairs apart, the quadrilateral between them proves most overlapping ones.
  double extreme_x[4] = {};
  double extreme_y[4] = {};
  int extreme[4] = {};
  // From each extreme to the next the vertices form a chain, and the chains together the outline
  // once. False for some flat shapes.
  bool has_chains = false;

  // Bounds on exact shapes rest on their being convex. A view that is not convex, counter-clockwise
  // and once around is in no query's domain: every answer about it is UNKNOWN.
  static Convex view(const double* x, const double* y, int size, double radius = 0.0) noexcept {
    Convex c;
    c.x = x;
    c.y = y;
    c.size = size;
    c.radius = radius;
    double finite = 0.0;  // or NaN, from the first value on that is out of the domain
    for (int i = 0; i < size; ++i) finite += (x[i] - x[i]) + (y[i] - y[i]);
    const bool valid = size > 0 && radius >= 0.0 && radius <= kMaxCoordinate;
    if (size > 0) c.find_extremes();
    c.extent += valid ? finite : std::numeric_limits<double>::quiet_NaN();
    c.error = c.has_tiny() ? kTinyError : 0.0;
    const auto at = [&c](long i) { return snapped(c.vertex(static_cast<int>(i))); };
    if (c.extent <= kMaxCoordinate && exact::first_reflex_vertex(size, at) >= 0) {
      c.extent = std::numeric_limits<double>::quiet_NaN();
    }
    return c;
  }

  // Of finite vertices, at least one: the extremes, has_chains and extent. Without branches, which
  // could not be predicted at one pose after another.
  void find_extremes() noexcept {
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
    take_extremes({east.vertex, north.vertex, west.vertex, south.vertex});
  }
  // The first vertices that are farthest east, north, west and south.
  void take_extremes(const std::array<int, 4>& farthest) noexcept {
    int times_past_0 = 0;
    for (std::size_t k = 0; k < 4; ++k) {
      const int vertex = farthest[k];
      extreme[k] = vertex;
      extreme_x[k] = x[vertex];
      extreme_y[k] = y[vertex];
      times_past_0 += static_cast<int>(farthest[(k + 1) & 3] < vertex);
    }
    const auto larger = [](double a, double b) noexcept { return a > b ? a : b; };
    extent = larger(larger(std::fabs(extreme_x[0]), std::fabs(extreme_x[2])),
                    larger(std::fabs(extreme_y[1]), std::fabs(extreme_y[3])));
    has_chains = times_past_0 == 1 || size == 1;
  }
  bool has_tiny() const noexcept {
    bool tiny = false;
    for (int i = 0; i < size; ++i) tiny |= is_tiny(x[i]) || is_tiny(y[i]);
    return tiny;
  }

  Vec2 vertex(int i) const noexcept { return {x[i], y[i]}; }

  // The edges from extreme k to the next, or the one after it, whose outer normals lie between
  // their directions.
  struct Chain {
    int first = 0;  // vertex
    int edges = 0;  // one vertex more
  };
  Chain chain(int k, int count) const noexcept {
    // One by one: from a vertex to itself it may be none or all.
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

// The share (m) of a shape in how far two shapes must be apart beyond a margin so that every query
// certainly calls them FREE. Nearer than that, rounding may make a query answer MARGIN or
// COLLISION.
inline double undecided(const Convex& shape) noexcept {
  return 16.0 * shape.error + 64.0 * kUnitRoundoff * (shape.extent + shape.radius);
}
inline double undecided_margin(double margin) noexcept {
  return margin * (1.0 + 64.0 * kUnitRoundoff);
}

// False for NaN, infinity, out of range, a negative radius and no vertices: a query answers
// UNKNOWN.
template <class P, class Q>
bool in_domain(const P& p, const Q& q) noexcept {
  return p.extent <= kMaxCoordinate && q.extent <= kMaxCoordinate;
}

}  // namespace gjk
