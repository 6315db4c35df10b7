// SPDX-FileCopyrightText: gjk_collision contributors
// SPDX-License-Identifier: Apache-2.0
// Tests whether a vertex of P - Q, or an edge at it, is nearest to O, using only its neighbours.
//
// P and Q are convex, so a feature that is nearest among its neighbours is nearest of all; no
// further support vertex is needed to certify it. (The idea of Lin and Canny, "A fast algorithm for
// incremental distance calculation", 1991, in the plane.)
#pragma once

#include <cmath>

#include "gjk/narrow/extremes.hpp"
#include "gjk/narrow/gjk.hpp"
#include "gjk/narrow/view.hpp"
#include "gjk/shape/convex.hpp"
#include "gjk/shape/orientation.hpp"
#include "gjk/shape/vec2.hpp"
#include "gjk/verdict.hpp"

namespace gjk::detail {

enum class Nearness {
  unknown,  // not decided by the neighbours: rounding, or O is inside P - Q
  beyond,   // O is past the other end (end_p, end_q) of the edge that faces O
  settled,  // the vertex is certainly nearest; or O is beside the edge that faces it, and all of
            // P - Q is on the other side of that edge
};

struct Neighbourhood {
  Nearness nearness = Nearness::unknown;
  int p = 0;  // the vertex
  int q = 0;
  int end_p = 0;  // the other end of the edge that faces O
  int end_q = 0;
  Vec2 normal;  // from O towards P - Q: the vertex, or the edge's normal with the edge's length
  // Distance of O from the feature times the length of `normal`. For an edge, this is twice the
  // area of the triangle of the edge and O. Positive if O is outside.
  double area = 0.0;
  double error = 0.0;  // bound on the rounding error of `area`

  bool is_vertex() const noexcept { return p == end_p && q == end_q; }
};

// A cross product and the bound on its rounding error.
struct CertainCross {
  double value;
  double error;

  CertainCross(Vec2 a, Vec2 b) noexcept {
    const double left = a.x * b.y;
    const double right = a.y * b.x;
    value = left - right;
    error = kFilterBound * (std::fabs(left) + std::fabs(right));
  }
};

// The edges are tested without branches, which would be unpredictable: bools are combined by & and
// |.
template <class P, class Q>
Neighbourhood neighbourhood(const P& p, const Q& q, int i, int j) noexcept {
  const auto either = [](bool first, Vec2 a, Vec2 b) noexcept {
    return Vec2{first ? a.x : b.x, first ? a.y : b.y};
  };
  const int beside[4] = {after(i, p.size), before(i, p.size), after(j, q.size), before(j, q.size)};
  const Vec2 at_p = p.vertex(i);
  const Vec2 at_q = q.vertex(j);
  const Vec2 at[4] = {p.vertex(beside[0]), p.vertex(beside[1]), q.vertex(beside[2]),
                      q.vertex(beside[3])};
  const bool p_is_point = p.size == 1;  // no edges
  const bool q_is_point = q.size == 1;
  const Vec2 w = at_p - at_q;
  // The edges that may start at w in P - Q: of P, and reversed of Q. Even ones lead
  // counter-clockwise.
  const Vec2 edge[4] = {at[0] - at_p, at[1] - at_p, at_q - at[2], at_q - at[3]};

  Neighbourhood result;
  result.p = result.end_p = i;
  result.q = result.end_q = j;
  // Which edges lead towards O; w is nearest if all of them certainly lead away.
  bool is_vertex = true;
  bool towards[4];
  for (int k = 0; k < 4; ++k) {
    const double x = w.x * edge[k].x;
    const double y = w.y * edge[k].y;
    const double error = kFilterBound * (std::fabs(x) + std::fabs(y));
    is_vertex &= (x + y > error) | (k < 2 ? p_is_point : q_is_point);
    towards[k] = x + y < 0.0;
  }
  if (is_vertex) {
    result.normal = w;
    result.area = dot(w, w);
    if (result.area >= kLeastSquare) result.nearness = Nearness::settled;
    return result;
  }

  // The outer one of the two edges in each direction is an edge of P - Q.
  const bool next_is_of_p = (cross(edge[0], edge[2]) > 0.0) | q_is_point;
  const bool previous_is_of_p = (cross(edge[1], edge[3]) < 0.0) | q_is_point;
  const Vec2 next = either(next_is_of_p, edge[0], edge[2]);
  const Vec2 previous = either(previous_is_of_p, edge[1], edge[3]);
  const bool next_leads = (next_is_of_p & towards[0]) | (!next_is_of_p & towards[2]);
  const bool previous_leads = (previous_is_of_p & towards[1]) | (!previous_is_of_p & towards[3]);
  const bool is_next = next_leads & ((cross(next, w) > 0.0) | !previous_leads);
  const bool is_of_p = (is_next & next_is_of_p) | (!is_next & previous_is_of_p);

  const Vec2 facing = either(is_next, next, previous);
  const Vec2 along = either(is_next, facing, -facing);  // counter-clockwise
  const CertainCross area(along, w);
  const bool is_edge = (next_leads | previous_leads) & !(area.value < -area.error) &
                       (dot(along, along) >= kLeastSquare);
  const Vec2 other_end =
      either(is_of_p, either(is_next, at[0], at[1]), either(is_next, at[2], at[3]));
  // Not w + edge, which near contact is only rounding error.
  const Vec2 end = either(is_of_p, other_end - at_q, at_p - other_end);
  const bool is_beyond = is_edge & (dot(end, facing) < 0.0);

  // Both edges of the other shape must turn to the left, the inner side of the edge that faces O.
  const CertainCross first_turn(along, either(is_of_p, edge[2], edge[0]));
  const CertainCross second_turn(along, either(is_of_p, edge[3], edge[1]));
  const bool turn_in =
      ((first_turn.value > first_turn.error) & (second_turn.value > second_turn.error)) |
      (is_of_p & q_is_point) | (!is_of_p & p_is_point);

  result.normal = perpendicular(along);
  result.area = area.value;
  result.error = area.error;
  if (is_edge & (is_beyond | turn_in)) {
    result.nearness = is_beyond ? Nearness::beyond : Nearness::settled;
    const int side = is_next ? 0 : 1;
    (is_of_p ? result.end_p : result.end_q) = beside[is_of_p ? side : 2 + side];
  }
  return result;
}

// Maximum number of steps along the edges that face O, before the next support vertex is needed.
inline constexpr int kWalk = 8;

// Follows the edges that face O from a support vertex, over at most `steps` vertices.
template <class P, class Q>
Neighbourhood walk(const P& p, const Q& q, int i, int j, int steps) noexcept {
  for (;;) {
    const Neighbourhood around = neighbourhood(p, q, i, j);
    if (around.nearness != Nearness::beyond || --steps == 0) return around;
    i = around.end_p;
    j = around.end_q;
  }
}

// Walks from a start of one vertex, which usually is the nearest vertex or next to it. Any other
// start gives `unknown`.
template <class P, class Q>
Neighbourhood neighbourhood_of(const P& p, const Q& q, const Simplex& start) noexcept {
  if (start.size != 1) return {};
  return walk(p, q, start.vertex[0].p, start.vertex[0].q, kWalk);
}

// The nearest feature as a simplex of GJK.
template <class P, class Q>
Simplex simplex_of(const P& p, const Q& q, const Neighbourhood& around) noexcept {
  Simplex s;
  s.vertex[0] = {p.vertex(around.p) - q.vertex(around.q), around.p, around.q};
  s.vertex[1] = {p.vertex(around.end_p) - q.vertex(around.end_q), around.end_p, around.end_q};
  s.size = around.is_vertex() ? 1 : 2;
  return s;
}

// Area of the triangle of O and the edge, accurate to kCrossError, for exact shapes.
template <class P, class Q>
double certain_area(const P& p, const Q& q, const Neighbourhood& around) noexcept {
  const Vec2 at_p = p.vertex(around.p);
  const Vec2 at_q = q.vertex(around.q);
  const bool is_of_p = around.q == around.end_q;
  const Vec2 from = is_of_p ? at_p : at_q;
  const Vec2 to = is_of_p ? p.vertex(around.end_p) : q.vertex(around.end_q);
  const double area =
      exact::certain_cross(from, to, from, is_of_p ? at_q : at_p, exact::product_of(p));
  // An edge of Q is reversed in P - Q, and so is the vector from it to the vertex of P.
  const Vec2 edge = is_of_p ? to - from : from - to;
  return dot(around.normal, perpendicular(edge)) > 0.0 ? -area : area;
}

// Bounds on the distance of O, which is outside, to the nearest feature.
inline Bounds bounds_of(const Neighbourhood& around, double area, double error) noexcept {
  constexpr double kRelative = 9.0 * kUnitRoundoff;
  // Not norm(), which also serves vectors that are too short for a settled feature.
  const double inverse = 1.0 / std::sqrt(dot(around.normal, around.normal));
  return {(area - error) * inverse * (1.0 - kRelative),
          (area + error) * inverse * (1.0 + kRelative)};
}

// The same, but with an exact area if rounding makes the bounds of exact shapes wide. The lower
// bound is not positive if O may be on the edge or on its inner side.
template <class P, class Q>
Bounds certain_bounds(const P& p, const Q& q, const Neighbourhood& around) noexcept {
  if (around.error > kUsualGap * around.area && p.error + q.error == 0.0) {
    const double area = certain_area(p, q, around);
    return bounds_of(around, area, exact::kCrossError * std::fabs(area));
  }
  return bounds_of(around, around.area, around.error);
}

// With twice as many vertices, a search is faster than the enumeration.
template <class P, class Q>
bool are_quadrilaterals(const P& p, const Q& q) noexcept {
  return p.size == 4 && q.size == 4;
}

// Bounds on the distance of two quadrilaterals that do not overlap; w holds the extremes of P - Q.
// Both bounds are 0 if they would be wider than usual, as near contact.
//
// Let d be the vector from the start of edge e to the vertex; both have a relative rounding error
// of u. The parameter of the nearest point has an error of 10 u |d| / |e|. The remainder of d has a
// further error of 3 u (|d|_1 + |e|_1). Neither |d|_1 nor |e|_1 is larger than the sum of the
// extremes. All of this is below kAbsolute times the sum.
template <class P, class Q>
Bounds bounds_by_enumeration(const P& p, const Q& q, const Quadrilateral& w) noexcept {
  const double distance = std::sqrt(p.square_from(q));
  constexpr double kRelative = 8.0 * kUnitRoundoff;
  constexpr double kAbsolute = 24.0 * kUnitRoundoff;
  const double error =
      kAbsolute * (std::fabs(w.x[0]) + std::fabs(w.x[2]) + std::fabs(w.y[1]) + std::fabs(w.y[3]));
  if (!(error <= kUsualGap * distance)) return {};
  // The product comes last, because GCC 12 fuses it with a following sum despite -ffp-contract=off.
  return {(distance - error) * (1.0 - kRelative), (distance + error) * (1.0 + kRelative)};
}

}  // namespace gjk::detail
