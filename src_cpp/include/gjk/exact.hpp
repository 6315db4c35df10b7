// SPDX-FileCopyrightText: gjk_collision contributors
// SPDX-License-Identifier: Apache-2.0
// The answers of rational arithmetic: slow, certain, and independent of GJK.
//
// GJK decides almost every query within its rounding bounds; what it cannot certify comes here.
// Everything is decided by the sign of a polynomial in the coordinates: first in floating point
// with an error bound, then, when that bound does not settle it, by expansions.
#pragma once

#include <cmath>
#include <limits>

#include "gjk/convex.hpp"
#include "gjk/expansion.hpp"
#include "gjk/vec2.hpp"
#include "gjk/verdict.hpp"

namespace gjk::exact {

inline Expansion<16> exact_cross(Vec2 a, Vec2 b, Vec2 c) noexcept {
  return exact_difference(b.x, a.x) * exact_difference(c.y, a.y) -
         exact_difference(b.y, a.y) * exact_difference(c.x, a.x);
}

inline Expansion<16> exact_dot(Vec2 a, Vec2 b, Vec2 c) noexcept {
  return exact_difference(b.x, a.x) * exact_difference(c.x, a.x) +
         exact_difference(b.y, a.y) * exact_difference(c.y, a.y);
}

// Sign of (b - a) x (c - a): 1 when a, b, c turn left, 0 when they are collinear.
// The filter's bound is Shewchuk's ccwerrboundA.
inline int orientation(Vec2 a, Vec2 b, Vec2 c) noexcept {
  constexpr double kBound = (3.0 + 16.0 * kUnitRoundoff) * kUnitRoundoff;
  const double left = (b.x - a.x) * (c.y - a.y);
  const double right = (b.y - a.y) * (c.x - a.x);
  const double det = left - right;
  const double bound = kBound * (std::fabs(left) + std::fabs(right));
  if (det > bound) return 1;
  if (det < -bound) return -1;
  return exact_cross(a, b, c).sign();
}

// Does the line through an edge of p have all of q strictly on its outer side?
template <class P, class Q>
bool an_edge_separates(const P& p, const Q& q) noexcept {
  if (p.size < 2) return false;
  Vec2 from = p.vertex(p.size - 1);
  for (int i = 0; i < p.size; ++i) {
    const Vec2 to = p.vertex(i);
    if (!(from == to)) {
      int j = 0;
      while (j < q.size && orientation(from, to, q.vertex(j)) < 0) ++j;
      if (j == q.size) return true;
    }
    from = to;
  }
  return false;
}

template <class P, class Q>
bool all_lexicographically_less(const P& p, const Q& q) noexcept {
  Vec2 greatest = p.vertex(0);
  for (int i = 1; i < p.size; ++i) {
    if (lexicographically_less(greatest, p.vertex(i))) greatest = p.vertex(i);
  }
  for (int j = 0; j < q.size; ++j) {
    if (!lexicographically_less(greatest, q.vertex(j))) return false;
  }
  return true;
}

// Are the two polygons (without their radii) disjoint? Separating axis theorem: the edges of the
// Minkowski difference are parallel to edges of p or of q. Where it is flat (points, and segments on
// one line) no edge separates, but the order along that line does.
template <class P, class Q>
bool disjoint(const P& p, const Q& q) noexcept {
  return an_edge_separates(p, q) || an_edge_separates(q, p) || all_lexicographically_less(p, q) ||
         all_lexicographically_less(q, p);
}

// A vertex of one shape against an edge of the other: for disjoint polygons the distance is the
// smallest over these pairs.
struct Pair {
  Vec2 from;  // edge
  Vec2 to;
  Vec2 vertex;
  int edge_first = 0;
  int edge_second = 0;
  int vertex_index = 0;
  bool edge_is_of_p = true;
};

template <class P, class Q, class Visit>
void for_each_edge_and_vertex(const P& p, const Q& q, bool edge_is_of_p, Visit&& visit) noexcept {
  const int edges = p.size < 3 ? 1 : p.size;
  for (int i = 0; i < edges; ++i) {
    const int next = i + 1 < p.size ? i + 1 : 0;
    const Vec2 from = p.vertex(i);
    const Vec2 to = p.vertex(next);
    for (int j = 0; j < q.size; ++j) visit(Pair{from, to, q.vertex(j), i, next, j, edge_is_of_p});
  }
}

template <class P, class Q, class Visit>
void for_each_pair(const P& p, const Q& q, Visit&& visit) noexcept {
  for_each_edge_and_vertex(p, q, true, visit);
  for_each_edge_and_vertex(q, p, false, visit);
}

// Distance of a pair within floating-point bounds. Differences of doubles are accurate to a
// relative u; only the cross product cancels. Taking the wrong one of the three cases by rounding
// changes the distance by a relative u^2, since dot and cross cannot both be small.
inline Bounds distance_bounds(const Pair& pair) noexcept {
  constexpr double kRelative = 8.0 * kUnitRoundoff;
  const Vec2 edge = pair.to - pair.from;
  const Vec2 from = pair.vertex - pair.from;
  const Vec2 to = pair.vertex - pair.to;
  if (dot(edge, from) <= 0.0 || dot(edge, to) >= 0.0) {
    const double distance = std::fmin(norm(from), norm(to));
    return {distance * (1.0 - kRelative), distance * (1.0 + kRelative)};
  }
  const double left = edge.x * from.y;
  const double right = edge.y * from.x;
  const double area = std::fabs(left - right);
  const double error = 4.0 * kUnitRoundoff * (std::fabs(left) + std::fabs(right));
  const double length = norm(edge);
  return {std::fmax(0.0, (area - error) / length * (1.0 - kRelative)),
          (area + error) / length * (1.0 + kRelative)};
}

// The same with the cross product exact: a relative width of about 16 u is all that is left.
inline Bounds tight_distance_bounds(const Pair& pair) noexcept {
  constexpr double kRelative = 8.0 * kUnitRoundoff;
  const Vec2 edge = pair.to - pair.from;
  if (dot(edge, pair.vertex - pair.from) <= 0.0 || dot(edge, pair.vertex - pair.to) >= 0.0) {
    return distance_bounds(pair);
  }
  const double area = std::fabs(exact_cross(pair.from, pair.to, pair.vertex).approximate());
  const double distance = area / norm(edge);
  return {distance * (1.0 - kRelative), distance * (1.0 + kRelative)};
}

struct Distance {
  Bounds bounds;  // m, between the polygons without their radii
  Pair pair;        // the deciding one
};

// Distance of two disjoint polygons, to a relative 1e-14 whatever their coordinates.
template <class P, class Q>
Distance distance(const P& p, const Q& q) noexcept {
  double upper = std::numeric_limits<double>::infinity();
  for_each_pair(p, q, [&](const Pair& pair) {
    upper = std::fmin(upper, distance_bounds(pair).upper);
  });
  Distance best;
  best.bounds = {std::numeric_limits<double>::infinity(),
                 std::numeric_limits<double>::infinity()};
  for_each_pair(p, q, [&](const Pair& pair) {
    if (distance_bounds(pair).lower > upper) return;
    const Bounds tight = tight_distance_bounds(pair);
    best.bounds.lower = std::fmin(best.bounds.lower, tight.lower);
    if (tight.upper < best.bounds.upper) {
      best.bounds.upper = tight.upper;
      best.pair = pair;
    }
  });
  return best;
}

// Is the pair's distance at most the square root of reach_squared? Compared as polynomials.
template <int N>
bool within(const Pair& pair, const Expansion<N>& reach_squared) noexcept {
  const auto from_squared = exact_dot(pair.from, pair.vertex, pair.vertex);
  if ((from_squared - reach_squared).sign() <= 0) return true;
  const auto to_squared = exact_dot(pair.to, pair.vertex, pair.vertex);
  if ((to_squared - reach_squared).sign() <= 0) return true;
  if (exact_dot(pair.from, pair.to, pair.vertex).sign() <= 0) return false;
  if (exact_dot(pair.to, pair.from, pair.vertex).sign() <= 0) return false;
  const auto area = exact_cross(pair.from, pair.to, pair.vertex);
  const auto length_squared = exact_dot(pair.from, pair.to, pair.to);
  return (area * area - reach_squared * length_squared).sign() <= 0;
}

// Is the distance of the two shapes, radii included, more than `margin`? FREE or COLLISION, exact
// on the given doubles; for shapes known only to within an error, FREE only beyond that error.
template <class P, class Q>
Verdict collide(const P& p, const Q& q, double margin = 0.0) noexcept {
  if (!in_domain(p) || !in_domain(q) || !(margin >= 0.0 && margin <= kMaxCoordinate)) {
    return Verdict::unknown;
  }
  if (!disjoint(p, q)) return Verdict::collision;
  const double reach = p.radius + q.radius + margin;
  const double error = p.error + q.error;
  if (reach == 0.0 && error == 0.0) return Verdict::free;

  const Bounds bounds = exact::distance(p, q).bounds;
  // Vertices moved by `error` may leave a polygon that is not quite convex: hence the factor.
  const double slack = 4.0 * error + 4.0 * kUnitRoundoff * reach;
  if (bounds.lower > reach + slack) return Verdict::free;
  if (error > 0.0 || bounds.upper < reach - slack) return Verdict::collision;

  const auto exact_reach = exactly(p.radius) + exactly(q.radius) + exactly(margin);
  const auto reach_squared = exact_reach * exact_reach;
  bool reached = false;
  for_each_pair(p, q, [&](const Pair& pair) {
    if (reached || distance_bounds(pair).lower > reach + slack) return;
    reached = within(pair, reach_squared);
  });
  return reached ? Verdict::collision : Verdict::free;
}

}  // namespace gjk::exact
