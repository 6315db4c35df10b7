// SPDX-FileCopyrightText: gjk_collision contributors
// SPDX-License-Identifier: Apache-2.0
// What the neighbours of a vertex of P - Q tell: whether it, or an edge at it, is nearest to O.
//
// P and Q are convex, so a feature that is nearest among its neighbours is nearest of all: no
// further support vertex is needed to certify it. (The observation behind Lin and Canny, "A fast
// algorithm for incremental distance calculation", 1991, in the plane.)
#pragma once

#include <cmath>

#include "gjk/convex.hpp"
#include "gjk/orientation.hpp"
#include "gjk/simplex.hpp"
#include "gjk/vec2.hpp"
#include "gjk/verdict.hpp"
#include "gjk/view.hpp"

namespace gjk {

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

// Shapes whose neighbouring vertices are as quick to reach as a support vertex.
template <class P>
concept LooksAround = requires { requires P::kLooksAround; };

template <class P>
simd::Leads leads_at(const P& p, Vec2 w, const Vec2 (&edge)[4]) noexcept {
  if constexpr (LooksAround<P>) {
    return p.leads(w, edge);
  } else {
    return simd::scalar_leads(w, edge);
  }
}

// Does e lead to the inner side, the left, of `along`, certainly?
inline unsigned turns_in(Vec2 along, Vec2 e) noexcept {
  const double one = along.x * e.y;
  const double other = along.y * e.x;
  const double bound = kFilterBound * (std::fabs(one) + std::fabs(other));
  return static_cast<unsigned>(one - other > bound);
}

template <class P, class Q>
Neighbourhood neighbourhood(const P& p, const Q& q, int i, int j) noexcept {
  const int beside[4] = {after(i, p.size), before(i, p.size), after(j, q.size), before(j, q.size)};
  const Vec2 at_p = p.vertex(i);
  const Vec2 at_q = q.vertex(j);
  const Vec2 w = at_p - at_q;
  // The edges of P - Q that may begin at w, of P and, reversed, of Q: even ones counter-clockwise.
  const Vec2 at[4] = {p.vertex(beside[0]), p.vertex(beside[1]), q.vertex(beside[2]),
                      q.vertex(beside[3])};
  const Vec2 edge[4] = {at[0] - at_p, at[1] - at_p, at_q - at[2], at_q - at[3]};
  const auto only_p = static_cast<unsigned>(q.size == 1);
  const auto only_q = static_cast<unsigned>(p.size == 1);

  Neighbourhood result;
  result.p = result.end_p = i;
  result.q = result.end_q = j;
  const simd::Leads leads = leads_at(p, w, edge);
  if ((leads.away | (only_p * 12u) | (only_q * 3u)) == 15u) {
    result.normal = w;
    result.area = dot(w, w);
    if (result.area >= kLeastSquare) result.nearness = Nearness::settled;
    return result;
  }
  // Of the two edges each way the outer one is that of P - Q.
  const unsigned next = 2u * (1u - (static_cast<unsigned>(cross(edge[0], edge[2]) > 0.0) | only_p));
  const unsigned previous =
      1u + 2u * (1u - (static_cast<unsigned>(cross(edge[1], edge[3]) < 0.0) | only_p));
  const unsigned next_leads = leads.towards >> next & 1u;
  const unsigned previous_leads = leads.towards >> previous & 1u;
  if ((next_leads | previous_leads) == 0u) return result;
  const unsigned is_outside_next = static_cast<unsigned>(cross(edge[next], w) > 0.0);
  const unsigned is_next = next_leads & (is_outside_next | (previous_leads ^ 1u));
  const unsigned facing = previous + (next - previous) * is_next;

  const double side = is_next != 0u ? 1.0 : -1.0;
  const Vec2 along = side * edge[facing];  // counter-clockwise
  const double left = along.x * w.y;
  const double right = along.y * w.x;
  result.normal = perpendicular(along);
  result.area = left - right;
  result.error = kFilterBound * (std::fabs(left) + std::fabs(right));
  if (result.area < -result.error || !(dot(along, along) >= kLeastSquare)) return result;
  (facing < 2u ? result.end_p : result.end_q) = beside[facing];
  // Not w + edge: near contact that is all rounding.
  const Vec2 end = facing < 2u ? at[facing] - at_q : at_p - at[facing];
  if (dot(end, edge[facing]) < 0.0) {
    result.nearness = Nearness::beyond;
    return result;
  }
  // Both edges of the other shape must turn to the inner side of the one that faces O.
  const unsigned other = 2u & ~facing;  // 2, of Q, or 0, of P
  const unsigned is_point = other != 0u ? only_p : only_q;
  const unsigned turn_in = turns_in(along, edge[other]) & turns_in(along, edge[other + 1u]);
  if ((is_point | turn_in) == 0u) return result;
  result.nearness = Nearness::settled;
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
  if constexpr (LooksAround<P> && LooksAround<Q>) {
    if (start.size == 1) return walk(p, q, start.vertex[0].p, start.vertex[0].q, kWalk);
  }
  return {};
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

}  // namespace gjk
