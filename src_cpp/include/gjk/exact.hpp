// SPDX-FileCopyrightText: gjk_collision contributors
// SPDX-License-Identifier: Apache-2.0
// The answers of rational arithmetic: slow, certain, and independent of GJK.
//
// GJK decides almost every query within its rounding bounds; what it cannot certify comes here.
// Everything is decided by the sign of a polynomial in the coordinates: first in floating point
// with an error bound, then, when that bound does not settle it, by expansions.
//
// The entries take views by value: by reference they would have to lie in memory, in the quick
// paths that seldom come here too.
#pragma once

#include <cmath>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <utility>

#include "gjk/convex.hpp"
#include "gjk/expansion.hpp"
#include "gjk/orientation.hpp"
#include "gjk/simd.hpp"
#include "gjk/simplex.hpp"
#include "gjk/vec2.hpp"
#include "gjk/verdict.hpp"

namespace gjk::exact {

// Of the edges of p named by `edges`, does one have all of q strictly on its outer side? The
// vertices of q named by `outside` are known to be.
template <class P, class Q>
bool one_separates(const P& p, const Q& q, std::uint64_t edges,
                   std::uint64_t outside = 0) noexcept {
  for (; edges != 0; edges &= edges - 1) {
    const int i = __builtin_ctzll(edges);
    const Vec2 from = p.vertex(i);
    const Vec2 to = p.vertex(after(i, p.size));
    const simd::Sides vertices = q.vertices_beside(from, to);
    if (vertices.left != 0) continue;
    std::uint64_t open = simd::low_bits(q.size) & ~vertices.right & ~outside;
    while (open != 0 &&
           exact_orientation(from, to, q.vertex(__builtin_ctzll(open)), product_of(p)) < 0) {
      open &= open - 1;
    }
    if (open == 0) return true;
  }
  return false;
}

// What the edges of p say of q.
enum class EdgeAnswer {
  undecided,
  separates,  // the line through one of them has all of q strictly on its outer side
  contains,   // none has the vertex looked at first on its outer side: it lies in p
};

// `first`, a vertex of q, is looked at before the others: near contact, one that lies inside most
// edges settles them at once.
template <class P, class Q>
EdgeAnswer test_edges_in_turn(const P& p, const Q& q, int first) noexcept {
  if (p.size < 2) return EdgeAnswer::undecided;
  const Vec2 probe = q.vertex(first);
  bool outside = false;
  bool strictly_inside = false;  // of an edge: else p is flat, or the edges have no length
  Vec2 from = p.vertex(p.size - 1);
  for (int i = 0; i < p.size; ++i) {
    const Vec2 to = p.vertex(i);
    const int side = orientation(from, to, probe);
    strictly_inside |= side > 0;
    if (side < 0) {
      outside = true;
      int j = 0;
      while (j < q.size && (j == first || orientation(from, to, q.vertex(j)) < 0)) ++j;
      if (j == q.size) return EdgeAnswer::separates;
    }
    from = to;
  }
  return strictly_inside && !outside ? EdgeAnswer::contains : EdgeAnswer::undecided;
}

// The same with the filter on all edges, and on all vertices, at once; one word of bits holds them.
template <class P, class Q>
EdgeAnswer test_edges_at_once(const P& p, const Q& q, int first) noexcept {
  const std::uint64_t all_edges = simd::low_bits(p.size);
  const Vec2 probe = q.vertex(first);
  simd::Sides edges = p.edges_beside(probe);
  for (std::uint64_t open = all_edges & ~edges.left & ~edges.right; open != 0; open &= open - 1) {
    const int i = __builtin_ctzll(open);
    const Vec2 to = p.vertex(after(i, p.size));
    const int side = exact_orientation(p.vertex(i), to, probe, product_of(p));
    if (side > 0) edges.left |= std::uint64_t{1} << i;
    if (side < 0) edges.right |= std::uint64_t{1} << i;
  }
  if (one_separates(p, q, edges.right, std::uint64_t{1} << first)) return EdgeAnswer::separates;
  return edges.left != 0 && edges.right == 0 ? EdgeAnswer::contains : EdgeAnswer::undecided;
}

template <class P, class Q>
EdgeAnswer test_edges(const P& p, const Q& q, int first) noexcept {
  if constexpr (requires { p.edges_beside(Vec2{}), q.vertices_beside(Vec2{}, Vec2{}); }) {
    const bool fits = p.size >= 2 && p.size <= 64 && q.size >= 2 && q.size <= 64;
    if (fits) return test_edges_at_once(p, q, first);
  }
  return test_edges_in_turn(p, q, first);
}

// Is all of p before all of q in the order of x, then y? Then they are disjoint.
template <class P, class Q>
bool all_lexicographically_less(const P& p, const Q& q) noexcept {
  Vec2 least = q.vertex(0);
  for (int j = 1; j < q.size; ++j) {
    if (lexicographically_less(q.vertex(j), least)) least = q.vertex(j);
  }
  for (int i = 0; i < p.size; ++i) {
    if (!lexicographically_less(p.vertex(i), least)) return false;
  }
  return true;
}

// Where GJK stopped: vertices of p and q near the contact, and whose edge it is.
struct Contact {
  int p = 0;
  int q = 0;
  bool edge_is_of_q = false;
};

// Are the two polygons (without their radii) disjoint? Separating axis theorem: the edges of the
// Minkowski difference are parallel to edges of p or of q. Where it is flat (points, and segments
// on one line) no edge separates, but the order along that line does. `near` makes the way short;
// the answer does not depend on it.
template <class P, class Q>
[[gnu::noinline]] bool disjoint(P p, Q q, Contact near = {}) noexcept {
  if (near.edge_is_of_q) return disjoint(q, p, Contact{near.q, near.p, false});
  EdgeAnswer answer = test_edges(p, q, near.q);
  if (answer == EdgeAnswer::undecided) answer = test_edges(q, p, near.p);
  if (answer != EdgeAnswer::undecided) return answer == EdgeAnswer::separates;
  return all_lexicographically_less(p, q) || all_lexicographically_less(q, p);
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
    const int next = after(i, p.size);
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
  const double area =
      std::fabs(exact_cross(pair.from, pair.to, pair.from, pair.vertex).approximate());
  const double distance = area / norm(edge);
  return {distance * (1.0 - kRelative), distance * (1.0 + kRelative)};
}

// Unit vector from the edge to the vertex of a pair; from a contact, the edge's normal.
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
  const double length = norm(out);
  return length > 0.0 ? (1.0 / length) * out : Vec2{1.0, 0.0};
}

// A lower bound (m) on how far p and q are apart along the direction of the pair, over all vertices
// of both: true of the vertices as they are, whatever their order, convex or not. The differences
// are accurate to a relative u, a product and a sum to 2 u more, and the direction's length to 4 u.
template <class P, class Q>
double gap_along(const P& p, const Q& q, const Pair& pair) noexcept {
  const Vec2 n = pair.edge_is_of_p ? edge_to_vertex(pair) : -edge_to_vertex(pair);
  double farthest = 0.0;  // m: |x| + |y| of any difference
  double first_of_q = std::numeric_limits<double>::infinity();
  for (int j = 0; j < q.size; ++j) {
    const Vec2 from_here = q.vertex(j) - pair.vertex;
    first_of_q = std::fmin(first_of_q, dot(n, from_here));
    farthest = std::fmax(farthest, norm1(from_here));
  }
  double last_of_p = -std::numeric_limits<double>::infinity();
  for (int i = 0; i < p.size; ++i) {
    const Vec2 from_here = p.vertex(i) - pair.vertex;
    last_of_p = std::fmax(last_of_p, dot(n, from_here));
    farthest = std::fmax(farthest, norm1(from_here));
  }
  const double gap = first_of_q - last_of_p;
  return gap - 8.0 * kUnitRoundoff * (farthest + std::fabs(gap)) - 0x1p-1000;
}

struct Distance {
  Bounds bounds;  // m, between the polygons without their radii
  Pair pair;      // the deciding one
  // m: a lower bound on how far all vertices of the one are beyond all of the other
  double gap = -std::numeric_limits<double>::infinity();
};

// Distance of two disjoint polygons, to a relative 1e-14 whatever their coordinates.
template <class P, class Q>
[[gnu::noinline]] Distance distance(P p, Q q) noexcept {
  double upper = std::numeric_limits<double>::infinity();
  for_each_pair(p, q,
                [&](const Pair& pair) { upper = std::fmin(upper, distance_bounds(pair).upper); });
  Distance best;
  best.bounds = {std::numeric_limits<double>::infinity(), std::numeric_limits<double>::infinity()};
  for_each_pair(p, q, [&](const Pair& pair) {
    if (distance_bounds(pair).lower > upper) return;
    const Bounds tight = tight_distance_bounds(pair);
    best.bounds.lower = std::fmin(best.bounds.lower, tight.lower);
    best.bounds.upper = std::fmin(best.bounds.upper, tight.upper);
  });
  // Of the pairs that rounding cannot tell apart, the one whose direction separates most.
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

// The same of shapes whose vertices are known to within an error only. By that error an outline may
// turn the wrong way at an edge as short, so nothing is concluded from its order or from being
// convex: the bounds are those along one direction over all vertices. The lower one is not positive
// where the shapes may overlap.
template <class P, class Q>
Distance certain_distance(const P& p, const Q& q) noexcept {
  Distance found = exact::distance(p, q);
  found.bounds.lower = std::fmin(found.bounds.lower, found.gap);
  return found;
}

// Is the pair's distance at most the square root of reach_squared? Compared as polynomials.
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

// Is the distance of the two shapes, radii included, more than `margin`? FREE or COLLISION, exact
// on the given doubles; for shapes known only to within an error, FREE only beyond that error.
template <class P, class Q>
[[gnu::noinline]] Verdict collide(P p, Q q, double margin = 0.0, Contact near = {}) noexcept {
  if (!in_domain(p, q) || !(margin >= 0.0 && margin <= kMaxCoordinate)) {
    return Verdict::unknown;
  }
  const double reach = p.radius + q.radius + margin;
  const double error = p.error + q.error;
  if (error > 0.0) {
    const double beyond = (reach + error) * (1.0 + 8.0 * kUnitRoundoff);
    return certain_distance(p, q).bounds.lower > beyond ? Verdict::free : Verdict::collision;
  }
  if (!disjoint(p, q, near)) return Verdict::collision;
  if (reach == 0.0) return Verdict::free;

  const Bounds bounds = exact::distance(p, q).bounds;
  const double slack = 4.0 * kUnitRoundoff * reach;
  if (bounds.lower > reach + slack) return Verdict::free;
  if (bounds.upper < reach - slack) return Verdict::collision;

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
