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

// A sum of two products, and the bound on its rounding.
struct Filtered {
  double value;
  double error;

  static Filtered sum(double one, double other) noexcept {
    return {one + other, kFilterBound * (std::fabs(one) + std::fabs(other))};
  }
  static Filtered dot(Vec2 a, Vec2 b) noexcept { return sum(a.x * b.x, a.y * b.y); }
  static Filtered cross(Vec2 a, Vec2 b) noexcept { return sum(a.x * b.y, -(a.y * b.x)); }
  bool is_positive() const noexcept { return value > error; }  // certainly
};

// All evaluated without branches, which could not be predicted.
template <class P, class Q>
Neighbourhood neighbourhood(const P& p, const Q& q, int i, int j) noexcept {
  const int beside[4] = {after(i, p.size), before(i, p.size), after(j, q.size), before(j, q.size)};
  const Vec2 at_p = p.vertex(i);
  const Vec2 at_q = q.vertex(j);
  const Vec2 w = at_p - at_q;
  const Vec2 at[4] = {p.vertex(beside[0]), p.vertex(beside[1]), q.vertex(beside[2]),
                      q.vertex(beside[3])};
  // The edges of P - Q that may begin at w, of P and, reversed, of Q: even ones counter-clockwise.
  const Vec2 edge[4] = {at[0] - at_p, at[1] - at_p, at_q - at[2], at_q - at[3]};
  const auto p_is_point = static_cast<unsigned>(p.size == 1);  // without edges
  const auto q_is_point = static_cast<unsigned>(q.size == 1);

  // An edge leads towards O or, certainly, away from it.
  unsigned is_vertex = 1;
  unsigned towards[4];
  for (int k = 0; k < 4; ++k) {
    const Filtered along = Filtered::dot(w, edge[k]);
    is_vertex &= static_cast<unsigned>(along.is_positive()) | (k < 2 ? p_is_point : q_is_point);
    towards[k] = static_cast<unsigned>(along.value < 0.0);
  }
  // Of the two edges each way the outer one is that of P - Q.
  const auto next = 2u * (1u - (static_cast<unsigned>(cross(edge[0], edge[2]) > 0.0) | q_is_point));
  const auto previous =
      1u + 2u * (1u - (static_cast<unsigned>(cross(edge[1], edge[3]) < 0.0) | q_is_point));
  const unsigned is_next = towards[next] & (static_cast<unsigned>(cross(edge[next], w) > 0.0) |
                                            (towards[previous] ^ 1u));
  const unsigned facing = previous + (next - previous) * is_next;
  const bool is_of_p = facing < 2;

  const Vec2 along = (is_next != 0u ? 1.0 : -1.0) * edge[facing];  // counter-clockwise
  const Filtered area = Filtered::cross(along, w);
  const unsigned is_edge = (is_vertex ^ 1u) & (towards[next] | towards[previous]) &
                           static_cast<unsigned>(!(area.value < -area.error)) &
                           static_cast<unsigned>(dot(along, along) >= kLeastSquare);
  // Not w + edge: near contact that is all rounding.
  const Vec2 end = is_of_p ? at[facing] - at_q : at_p - at[facing];
  const unsigned is_beyond = is_edge & static_cast<unsigned>(dot(end, edge[facing]) < 0.0);
  // Both edges of the other shape must turn to the inner side, the left, of the one that faces O.
  const unsigned other = 2u & ~facing;  // 2, of Q, or 0, of P
  const unsigned turn_in =
      (is_of_p ? q_is_point : p_is_point) |
      (static_cast<unsigned>(Filtered::cross(along, edge[other]).is_positive()) &
       static_cast<unsigned>(Filtered::cross(along, edge[other + 1]).is_positive()));
  const unsigned is_long = static_cast<unsigned>(dot(w, w) >= kLeastSquare);

  Neighbourhood result;
  result.p = result.end_p = i;
  result.q = result.end_q = j;
  result.normal = is_vertex != 0u ? w : perpendicular(along);
  result.area = is_vertex != 0u ? dot(w, w) : area.value;
  result.error = is_vertex != 0u ? 0.0 : area.error;
  if ((is_edge & turn_in) != 0u) result.nearness = Nearness::settled;
  if (is_beyond != 0u) result.nearness = Nearness::beyond;
  if ((is_vertex & is_long) != 0u) result.nearness = Nearness::settled;
  if (is_vertex == 0u && result.nearness != Nearness::unknown) {
    (is_of_p ? result.end_p : result.end_q) = beside[facing];
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
  constexpr double kRelative = 8.0 * kUnitRoundoff;
  const double inverse = 1.0 / norm(around.normal);
  return {(area - error) * inverse * (1.0 - kRelative),
          (area + error) * inverse * (1.0 + kRelative)};
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
