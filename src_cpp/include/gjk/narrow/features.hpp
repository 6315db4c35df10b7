// SPDX-FileCopyrightText: gjk_collision contributors
// SPDX-License-Identifier: Apache-2.0
// What the neighbours of a vertex of P - Q tell: whether it, or an edge at it, is nearest to O.
//
// P and Q are convex, so a feature that is nearest among its neighbours is nearest of all: no
// further support vertex is needed to certify it. (The observation behind Lin and Canny, "A fast
// algorithm for incremental distance calculation", 1991, in the plane.)
#pragma once

#include <cmath>

#include "gjk/narrow/extremes.hpp"
#include "gjk/narrow/gjk.hpp"
#include "gjk/narrow/view.hpp"
#include "gjk/shape/convex.hpp"
#include "gjk/shape/orientation.hpp"
#include "gjk/shape/vec2.hpp"
#include "gjk/verdict.hpp"

#define GJK_SIMD_FILE "gjk/narrow/features.inc"
#include "gjk/simd/each_set.hpp"

namespace gjk::detail {

enum class Nearness {
  unknown,  // rounding, or O inside P - Q: the neighbours do not tell
  beyond,   // O lies past `end`, the other end of the edge that faces it
  settled,  // the vertex is nearest, certainly; or O lies beside the edge that faces it, and all of
            // P - Q on that edge's other side
};

struct Neighbourhood {
  Nearness nearness = Nearness::unknown;
  int p = 0;  // the vertex
  int q = 0;
  int end_p = 0;  // the other end of the edge that faces O
  int end_q = 0;
  Vec2 normal;  // from O towards P - Q: the vertex, or square to the edge and as long
  // The distance of O times the normal's length: of the edge, twice the area of it and O. Positive:
  // O lies outside.
  double area = 0.0;
  double error = 0.0;  // of `area`, at most, by rounding

  bool is_vertex() const noexcept { return p == end_p && q == end_q; }
};

template <class P, class Q>
Neighbourhood neighbourhood(const P& p, const Q& q, int i, int j) noexcept {
  const int beside[4] = {after(i, p.size), before(i, p.size), after(j, q.size), before(j, q.size)};
  const auto at = [](Vec2 v) noexcept { return baseline::Points<1>::all(v); };
  const auto around =
      baseline::NeighbourhoodOf<1>::at({at(p.vertex(i)),
                                        at(q.vertex(j)),
                                        {at(p.vertex(beside[0])), at(p.vertex(beside[1])),
                                         at(q.vertex(beside[2])), at(q.vertex(beside[3]))},
                                        p.size == 1,
                                        q.size == 1});
  Neighbourhood result;
  result.p = result.end_p = i;
  result.q = result.end_q = j;
  result.normal = {around.normal.x, around.normal.y};
  result.area = around.area;
  result.error = around.error;
  if (around.is_settled || around.is_beyond) {
    result.nearness = around.is_beyond ? Nearness::beyond : Nearness::settled;
    if (around.is_vertex) return result;
    const int side = around.is_next ? 0 : 1;
    (around.is_of_p ? result.end_p : result.end_q) = beside[around.is_of_p ? side : 2 + side];
  }
  return result;
}

// How far a search walks along the edges that face O before it asks for a support vertex again.
inline constexpr int kWalk = 8;

// From a support vertex along the edges that face O, `steps` vertices at most.
template <class P, class Q>
Neighbourhood walk(const P& p, const Q& q, int i, int j, int steps) noexcept {
  for (;;) {
    const Neighbourhood around = neighbourhood(p, q, i, j);
    if (around.nearness != Nearness::beyond || --steps == 0) return around;
    i = around.end_p;
    j = around.end_q;
  }
}

// The support vertex towards O from afar, of which such a start consists, is mostly the nearest or
// next to it.
template <class P, class Q>
Neighbourhood look_around(const P& p, const Q& q, const Simplex& start) noexcept {
  if (start.size != 1) return {};
  return walk(p, q, start.vertex[0].p, start.vertex[0].q, kWalk);
}

// What is nearest as GJK's simplex.
template <class P, class Q>
Simplex simplex_of(const P& p, const Q& q, const Neighbourhood& around) noexcept {
  Simplex s;
  s.vertex[0] = {p.vertex(around.p) - q.vertex(around.q), around.p, around.q};
  s.vertex[1] = {p.vertex(around.end_p) - q.vertex(around.end_q), around.end_p, around.end_q};
  s.size = around.is_vertex() ? 1 : 2;
  return s;
}

// The area of O and the edge without its rounding (to kCrossError), for exact shapes.
template <class P, class Q>
double certain_area(const P& p, const Q& q, const Neighbourhood& around) noexcept {
  const Vec2 at_p = p.vertex(around.p);
  const Vec2 at_q = q.vertex(around.q);
  const bool is_of_p = around.q == around.end_q;
  const Vec2 from = is_of_p ? at_p : at_q;
  const Vec2 to = is_of_p ? p.vertex(around.end_p) : q.vertex(around.end_q);
  const double area =
      exact::certain_cross(from, to, from, is_of_p ? at_q : at_p, exact::product_of(p));
  // An edge of Q is reversed in P - Q, and so is the way from it to the vertex of P.
  const Vec2 edge = is_of_p ? to - from : from - to;
  return dot(around.normal, perpendicular(edge)) > 0.0 ? -area : area;
}

// Bounds on the distance of O, which lies outside, to what is nearest.
inline Bounds bounds_of(const Neighbourhood& around, double area, double error) noexcept {
  const auto bounds = baseline::BoundsOf<1>::from(area, error, dot(around.normal, around.normal));
  return {bounds.lower, bounds.upper};
}

// The same, exact where rounding leaves them wide. The lower one is not positive where O may lie on
// the edge or past it.
template <class P, class Q>
Bounds certain_bounds(const P& p, const Q& q, const Neighbourhood& around) noexcept {
  if (around.error > kUsualGap * around.area && p.error + q.error == 0.0) {
    const double area = certain_area(p, q, around);
    return bounds_of(around, area, exact::kCrossError * std::fabs(area));
  }
  return bounds_of(around, around.area, around.error);
}

// With twice the vertices a search is quicker than to enumerate.
inline bool are_quadrilaterals(const Convex& p, const Convex& q) noexcept {
  return p.size == 4 && q.size == 4;
}

// Bounds on the distance of quadrilaterals that do not overlap; w holds the extremes of P - Q.
// None, that is zeros, where they would be wider than usual, as near contact.
//
// With d from the beginning of the edge e to the vertex, both with relative rounding u, the nearest
// point's parameter is off by 10 u |d| / |e|, and what is left of d by 3 u (|d|_1 + |e|_1) more.
// Neither |d|_1 nor |e|_1 is larger than the sum of the extremes. All of that is below kAbsolute
// times the sum.
template <class P, class Q>
Bounds bounds_by_enumeration(const P& p, const Q& q, const Quadrilateral& w) noexcept {
  const double distance = std::sqrt(p.square_from(q));
  constexpr double kRelative = 8.0 * kUnitRoundoff;
  constexpr double kAbsolute = 24.0 * kUnitRoundoff;
  const double error =
      kAbsolute * (std::fabs(w.x[0]) + std::fabs(w.x[2]) + std::fabs(w.y[1]) + std::fabs(w.y[3]));
  if (!(error <= kUsualGap * distance)) return {};
  // The product last: before a sum and a difference GCC 12 fuses it, whatever -ffp-contract says.
  return {(distance - error) * (1.0 - kRelative), (distance + error) * (1.0 + kRelative)};
}

}  // namespace gjk::detail
