// SPDX-FileCopyrightText: gjk_collision contributors
// SPDX-License-Identifier: Apache-2.0
// Decisions in rational arithmetic: slow, certain, and independent of GJK.
//
// GJK decides almost every query within its rounding bounds; this file decides the rest. Each
// decision is the sign of a polynomial in the coordinates, evaluated in floating point with an
// error bound and, if that bound does not decide it, with expansions.
//
// The entry functions take views by value: references would force the views into memory, also on
// the fast paths that rarely get here.
#pragma once

#include <cmath>
#include <cstdint>
#include <initializer_list>

#include "gjk/arithmetic.hpp"
#include "gjk/narrow/edge_tests.hpp"
#include "gjk/shape/convex.hpp"
#include "gjk/shape/expansion.hpp"
#include "gjk/shape/orientation.hpp"
#include "gjk/shape/vec2.hpp"
#include "gjk/simd/bits.hpp"
#include "gjk/simd/lanes.hpp"
#include "gjk/verdict.hpp"

#define GJK_SIMD_SET doubles
#include "gjk/narrow/gap.inc"
#undef GJK_SIMD_SET

namespace gjk::exact {

// Whether all of p lies to the left of the line through two of its vertices. This is true if p is
// convex and the vertices are those of an edge. It is checked only before FREE is concluded, so
// that FREE relies on neither assumption.
inline bool lies_on_left(const Convex& p, Vec2 from, Vec2 to) noexcept {
  for (int i = 0; i < p.size; ++i) {
    if (orientation(from, to, p.vertex(i)) < 0) return false;
  }
  return true;
}

// Whether one of the given edges of p (one bit each) has all of q strictly on its outer side and
// all of p on its inner side.
template <class P, class Q>
bool one_separates(const P& p, const Q& q, std::uint64_t edges) noexcept {
  for (; edges != 0; edges &= edges - 1) {
    const int i = __builtin_ctzll(edges);
    const Vec2 from = p.vertex(i);
    const Vec2 to = p.vertex(detail::after(i, p.size));
    const Sides vertices = q.vertices_beside(from, to);
    if (vertices.left != 0) continue;
    std::uint64_t open = simd::low_bits(q.size) & ~vertices.right;
    while (open != 0 &&
           exact_orientation(from, to, q.vertex(__builtin_ctzll(open)), product_of(p)) < 0) {
      open &= open - 1;
    }
    if (open == 0 && lies_on_left(p, from, to)) return true;
  }
  return false;
}

// Result of testing the edges of p against q.
enum class EdgeAnswer {
  undecided,
  separates,  // the line through an edge has all of q strictly on its outer side and all of p on
              // the other
  contains,   // the vertex tested first is outside no edge, so it lies in p
};

// Tests each edge with vertex `first` of q before the others. Near contact, this vertex is on the
// inner side of most edges, and such edges need no other vertex.
inline EdgeAnswer test_edges(const Convex& p, const Convex& q, int first) noexcept {
  if (p.size < 2) return EdgeAnswer::undecided;
  const Vec2 probe = q.vertex(first);
  bool outside = false;
  bool strictly_inside = false;  // of an edge; stays false if p is flat or a point
  Vec2 from = p.vertex(p.size - 1);
  for (int i = 0; i < p.size; ++i) {
    const Vec2 to = p.vertex(i);
    const int side = orientation(from, to, probe);
    strictly_inside |= side > 0;
    if (side < 0) {
      outside = true;
      int j = 0;
      while (j < q.size && (j == first || orientation(from, to, q.vertex(j)) < 0)) ++j;
      if (j == q.size && lies_on_left(p, from, to)) return EdgeAnswer::separates;
    }
    from = to;
  }
  return strictly_inside && !outside ? EdgeAnswer::contains : EdgeAnswer::undecided;
}

// Whether all of p precedes all of q in the order by x, then by y. If so, their hulls are disjoint.
inline bool all_lexicographically_less(const Convex& p, const Convex& q) noexcept {
  Vec2 least = q.vertex(0);
  for (int j = 1; j < q.size; ++j) {
    if (lexicographically_less(q.vertex(j), least)) least = q.vertex(j);
  }
  for (int i = 0; i < p.size; ++i) {
    if (!lexicographically_less(p.vertex(i), least)) return false;
  }
  return true;
}

// Where GJK stopped: vertices of p and q near the contact, and to which shape the nearest edge
// belongs.
struct Contact {
  int p = 0;
  int q = 0;
  bool edge_is_of_q = false;
};

// Whether the polygons (without their radii) are disjoint. Separating axis theorem: the edges of
// the Minkowski difference are parallel to edges of p or q. If it is flat (points, or segments on
// one line), no edge separates, but the order along that line does. `near` speeds up the search and
// does not change the answer.
[[gnu::noinline]] inline bool disjoint(const Convex& p, const Convex& q,
                                       Contact near = {}) noexcept {
  if (near.edge_is_of_q) return disjoint(q, p, Contact{near.q, near.p, false});
  EdgeAnswer answer = test_edges(p, q, near.q);
  if (answer == EdgeAnswer::undecided) answer = test_edges(q, p, near.p);
  if (answer != EdgeAnswer::undecided) return answer == EdgeAnswer::separates;
  return all_lexicographically_less(p, q) || all_lexicographically_less(q, p);
}

// An edge of one shape and a vertex of the other. The distance of disjoint polygons is the smallest
// over these pairs.
struct Pair {
  Vec2 from;  // edge
  Vec2 to;
  Vec2 vertex;
  int edge_first = 0;
  int edge_second = 0;
  int vertex_index = 0;
  bool edge_is_of_p = true;
};

template <class Visit>
void for_each_edge_and_vertex(const Convex& p, const Convex& q, bool edge_is_of_p,
                              Visit&& visit) noexcept {
  const int edges = p.size < 3 ? 1 : p.size;
  for (int i = 0; i < edges; ++i) {
    const int next = detail::after(i, p.size);
    const Vec2 from = p.vertex(i);
    const Vec2 to = p.vertex(next);
    for (int j = 0; j < q.size; ++j) visit(Pair{from, to, q.vertex(j), i, next, j, edge_is_of_p});
  }
}

template <class Visit>
void for_each_pair(const Convex& p, const Convex& q, Visit&& visit) noexcept {
  for_each_edge_and_vertex(p, q, true, visit);
  for_each_edge_and_vertex(q, p, false, visit);
}

// Distance of a pair with floating-point error bounds. The vertex is nearest to the start, to the
// end, or to the inside of the edge. Differences of doubles are accurate to a relative u; only the
// cross product can cancel. If rounding selects the wrong one of the three cases, the distance
// changes by a relative u^2 only, since dot and cross cannot both be small.
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

// The same with an exact cross product; the remaining relative width is about 16 u.
inline Bounds tight_distance_bounds(const Pair& pair) noexcept {
  constexpr double kRelative = 8.0 * kUnitRoundoff;
  const Vec2 edge = pair.to - pair.from;
  if (dot(edge, pair.vertex - pair.from) <= 0.0 || dot(edge, pair.vertex - pair.to) >= 0.0) {
    return distance_bounds(pair);
  }
  const double area =
      std::fabs(exact_cross(pair.from, pair.to, pair.from, pair.vertex).approximate());
  const double distance = area / norm(edge);
  return {distance * (1.0 - kRelative), distance * (1.0 + kRelative)};
}

// The nearest pair at vertices at.p and at.q: an edge at one of them with the other vertex; or the
// first pair that is at most `enough` (m) apart. `least` receives an upper bound (m) on its
// distance.
inline Pair nearest_at(const Convex& p, const Convex& q, Contact at, double enough,
                       double& least) noexcept {
  Pair nearest;
  least = kInfinity;
  const auto is_enough = [&](const Convex& own, int i, int next, Vec2 vertex, int j,
                             bool is_of_p) noexcept {
    const Pair pair{own.vertex(i), own.vertex(next), vertex, i, next, j, is_of_p};
    const double upper = distance_bounds(pair).upper;
    if (upper < least) {
      least = upper;
      nearest = pair;
    }
    return least <= enough;
  };
  static_cast<void>(is_enough(p, at.p, detail::after(at.p, p.size), q.vertex(at.q), at.q, true) ||
                    is_enough(p, detail::before(at.p, p.size), at.p, q.vertex(at.q), at.q, true) ||
                    is_enough(q, at.q, detail::after(at.q, q.size), p.vertex(at.p), at.p, false) ||
                    is_enough(q, detail::before(at.q, q.size), at.q, p.vertex(at.p), at.p, false));
  return nearest;
}

// Unit vector from the edge to the vertex of a pair; at contact, the edge's normal.
inline Vec2 edge_to_vertex(const Pair& pair) noexcept {
  const Vec2 from = pair.vertex - pair.from;
  const Vec2 to = pair.vertex - pair.to;
  const Vec2 edge = pair.to - pair.from;
  Vec2 out;
  if (dot(edge, from) <= 0.0 || dot(edge, to) >= 0.0) {
    out = norm(from) <= norm(to) ? from : to;
  } else {
    out = perpendicular(edge);
    if (orientation(pair.from, pair.to, pair.vertex) < 0) out = -out;
  }
  return dot(out, out) >= kLeastSquare ? (1.0 / norm(out)) * out : Vec2{1.0, 0.0};
}

// Extent of the vertices of p along n, relative to a point.
template <class P>
Span span_along(const P& p, Vec2 n, Vec2 from) noexcept {
  if constexpr (requires { p.span_along(n, from); }) {
    return p.span_along(n, from);
  } else {
    return scalar_span(p, n, from);
  }
}

// Lower bound (m) on the gap between the polygons p and q along n, see gap.inc.
inline double gap_of(const Span& of_p, const Span& of_q, Vec2 n) noexcept {
  return doubles::gap_of<simd::OneLane>(of_p.most, of_p.size, of_q.most, of_q.size, n.x, n.y);
}
// The same, `from` being a point near the contact.
template <class P, class Q>
double gap_along(const P& p, const Q& q, Vec2 n, Vec2 from) noexcept {
  return gap_of(span_along(p, n, from), span_along(q, -n, from), n);
}

// Gap along the direction of a pair.
template <class P, class Q>
double gap_along(const P& p, const Q& q, const Pair& pair) noexcept {
  const Vec2 n = edge_to_vertex(pair);
  return gap_along(p, q, pair.edge_is_of_p ? n : -n, pair.vertex);
}

struct Distance {
  Bounds bounds;  // m, between the polygons without their radii
  Pair pair;      // the closest pair
  // m, lower bound on the gap between all vertices along the direction of `pair`
  double gap = -kInfinity;
};

// Distance of two disjoint polygons, with a relative error of 1e-14 for any coordinates.
[[gnu::noinline]] inline Distance distance(const Convex& p, const Convex& q) noexcept {
  double upper = kInfinity;
  for_each_pair(p, q,
                [&](const Pair& pair) { upper = std::fmin(upper, distance_bounds(pair).upper); });
  Distance best;
  best.bounds = {kInfinity, kInfinity};
  for_each_pair(p, q, [&](const Pair& pair) {
    if (distance_bounds(pair).lower > upper) return;
    const Bounds tight = tight_distance_bounds(pair);
    best.bounds.lower = std::fmin(best.bounds.lower, tight.lower);
    best.bounds.upper = std::fmin(best.bounds.upper, tight.upper);
  });
  // Among the pairs that rounding cannot distinguish, take the one with the largest gap.
  for_each_pair(p, q, [&](const Pair& pair) {
    if (distance_bounds(pair).lower > best.bounds.upper) return;
    if (tight_distance_bounds(pair).lower > best.bounds.upper) return;
    const double gap = gap_along(p, q, pair);
    if (gap > best.gap) {
      best.gap = gap;
      best.pair = pair;
    }
  });
  return best;
}

// Whether the pair's distance is at most sqrt(reach_squared). Exact comparison of polynomials.
template <int N>
bool within(const Pair& pair, const Expansion<N>& reach_squared) noexcept {
  count_exact();
  const auto from_squared = exact_dot(pair.from, pair.vertex, pair.vertex);
  if ((from_squared - reach_squared).sign() <= 0) return true;
  const auto to_squared = exact_dot(pair.to, pair.vertex, pair.vertex);
  if ((to_squared - reach_squared).sign() <= 0) return true;
  if (exact_dot(pair.from, pair.to, pair.vertex).sign() <= 0) return false;
  if (exact_dot(pair.to, pair.from, pair.vertex).sign() <= 0) return false;
  const auto area = exact_cross(pair.from, pair.to, pair.from, pair.vertex);
  const auto length_squared = exact_dot(pair.from, pair.to, pair.to);
  return (area * area - reach_squared * length_squared).sign() <= 0;
}

// Whether all vertices of `own` and `other` are more than sqrt(reach_squared) apart along the
// direction of the pair: the normal of its edge, which belongs to `own`, or the direction from one
// vertex to the other. Exact comparison of polynomials over all vertices of both.
template <int N>
bool separates_beyond(const Convex& own, const Convex& other, const Pair& pair,
                      const Expansion<N>& reach_squared) noexcept {
  count_exact();
  const bool before = exact_dot(pair.from, pair.to, pair.vertex).sign() <= 0;
  if (before || exact_dot(pair.to, pair.from, pair.vertex).sign() <= 0) {
    const Vec2 foot = before ? pair.from : pair.to;
    if ((exact_dot(foot, pair.vertex, pair.vertex) - reach_squared).sign() <= 0) return false;
    for (int i = 0; i < own.size; ++i) {
      if (exact_dot(foot, pair.vertex, own.vertex(i)).sign() > 0) return false;
    }
    for (int j = 0; j < other.size; ++j) {
      if (exact_dot(pair.vertex, foot, other.vertex(j)).sign() > 0) return false;
    }
    return true;
  }
  // Directs the edge so that the vertex is on its right. A segment has an edge in each direction.
  const bool is_turned = orientation(pair.from, pair.to, pair.vertex) > 0;
  const Vec2 from = is_turned ? pair.to : pair.from;
  const Vec2 to = is_turned ? pair.from : pair.to;
  const auto length_squared = exact_dot(from, to, to);
  for (int j = 0; j < other.size; ++j) {
    const auto area = exact_cross(from, to, from, other.vertex(j));
    if (area.sign() >= 0) return false;
    if ((area * area - reach_squared * length_squared).sign() <= 0) return false;
  }
  return lies_on_left(own, from, to);
}

// Whether two disjoint exact shapes are farther apart than the margin (m). `distance` is that of
// their polygons. Tiny radii and margins are rounded up, because their products would underflow.
inline bool is_beyond(const Convex& p, const Convex& q, double margin,
                      const Distance& distance) noexcept {
  const double reach = p.radius + q.radius + margin;
  const double slack = 4.0 * kUnitRoundoff * reach;
  const auto length = [](double v) noexcept {
    return exactly(is_tiny(v) ? kMinExactCoordinate : v);
  };
  const auto exact_reach = length(p.radius) + length(q.radius) + length(margin);
  const auto reach_squared = exact_reach * exact_reach;
  bool is_reached = false;
  for_each_pair(p, q, [&](const Pair& pair) {
    if (is_reached || distance_bounds(pair).lower > reach + slack) return;
    is_reached = within(pair, reach_squared);
  });
  if (is_reached) return false;
  bool is_proven = false;
  for_each_pair(p, q, [&](const Pair& pair) {
    if (is_proven || distance_bounds(pair).lower > distance.bounds.upper) return;
    is_proven = pair.edge_is_of_p ? separates_beyond(p, q, pair, reach_squared)
                                  : separates_beyond(q, p, pair, reach_squared);
  });
  return is_proven;
}

// Lower bound (m) on the distance of the surfaces of two shapes, see gap.inc.
template <class P, class Q>
double surfaces_apart(const P& p, const Q& q, double apart) noexcept {
  return doubles::surfaces_apart<simd::OneLane>(p.radius + q.radius, p.error + q.error, apart);
}

}  // namespace gjk::exact
