// SPDX-FileCopyrightText: gjk_collision contributors
// SPDX-License-Identifier: Apache-2.0
// Level 1: do two shapes collide? Certified, and exact on the given doubles.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>

#include "gjk/axes.hpp"
#include "gjk/cap.hpp"
#include "gjk/certificate.hpp"
#include "gjk/convex.hpp"
#include "gjk/exact.hpp"
#include "gjk/gjk_loop.hpp"
#include "gjk/placed.hpp"
#include "gjk/simplex.hpp"
#include "gjk/vec2.hpp"
#include "gjk/verdict.hpp"
#include "gjk/view.hpp"

namespace gjk {

// Alg. 6, with certificates: FREE, COLLISION, or UNKNOWN where floating point does not decide.
//
// The shapes collide when their polygons are no farther apart than both radii and a margin (m).
template <class P, class Q>
Verdict collide_by_gjk(const P& p, const Q& q, double margin, Simplex& start) noexcept {
  const double rounding = support_rounding(p, q);
  const double reach = p.radius + q.radius + margin;
  const double grown = grown_reach(p, q, reach);
  const double sure_reach = (reach - p.error - q.error) * (1.0 - 16.0 * kUnitRoundoff);
  Verdict verdict = Verdict::unknown;
  const GjkLoop loop = gjk_loop(
      p, q, start, [&](const Simplex& s, Vec2 d, const SimplexVertex&, double along) noexcept {
        // Exit 1: all of P - Q lies beyond the line d.x = reach |d|.
        const Certificate beyond = Certificate::beyond_line(d, along, rounding, grown, margin);
        if (beyond.proves(margin)) {
          verdict = beyond.beyond(margin, Verdict::unknown);
        } else if (sure_reach > 0.0 && distance_upper_bound(s) <= sure_reach) {
          verdict = Verdict::collision;
        }
        return verdict != Verdict::unknown;
      });
  // Exit 2
  if (loop.end == GjkLoop::End::overlapping) return Verdict::collision;
  start = loop.s;
  return verdict;
}

// From the paper's start.
template <class P, class Q>
Verdict collide_by_gjk(const P& p, const Q& q, double margin) noexcept {
  Simplex s = first_vertices(p, q);
  return collide_by_gjk(p, q, margin, s);
}

// The simplex to start GJK from: the edge of the quadrilateral that O lies farthest outside of.
// Sides are the cross products of its successive vertices.
inline Simplex facing_edge(const Convex& p, const Convex& q, const Quadrilateral& w,
                           const double (&side)[4]) noexcept {
  int facing = 0;
  for (int k = 1; k < 4; ++k) facing = side[k] < side[facing] ? k : facing;
  const int next = (facing + 1) & 3;
  const auto vertex = [&](int k) noexcept {
    return SimplexVertex{{w.x[k], w.y[k]}, p.extreme[k], q.extreme[k ^ 2]};
  };
  Simplex s;
  s.vertex[0] = vertex(facing);
  s.vertex[1] = vertex(next);
  s.size = s.vertex[0].point == s.vertex[1].point ? 1 : 2;
  return s;
}

// GJK from simplex s, and exact arithmetic where it does not decide.
template <class P, class Q>
Verdict collide_from(const P& p, const Q& q, double margin, Simplex& s) noexcept {
  const Verdict verdict = collide_by_gjk(p, q, margin, s);
  if (verdict != Verdict::unknown) return verdict;
  return exact::collide(p, q, margin, contact(s));
}

// FREE or COLLISION of two shapes, radii included; they collide when no farther apart than `margin`
// (m, >= 0). UNKNOWN only for input outside the domain (NaN, infinity, beyond kMaxCoordinate).
//
// For exact shapes this is the answer of rational arithmetic on the given doubles, the same on
// every machine. Shapes that were placed by rounded arithmetic collide when the gap between them is
// smaller than the bound on the rounding error.
inline Verdict collide(const Convex& p, const Convex& q, double margin = 0.0) noexcept {
  if (!in_domain(p, q) || !(margin >= 0.0 && margin <= kMaxCoordinate)) return Verdict::unknown;
  const double reach = p.radius + q.radius + margin;
  const Quadrilateral w = inscribed(p, q);
  // An exact comparison, but for a reach.
  const Certificate boxes = Certificate::boxes(w, grown_reach(p, q, reach), margin);
  if (boxes.proves(margin)) return boxes.beyond(margin, Verdict::unknown);
  double side[4];
  const unsigned inner = inner_sides(w, side);
  if (inner == kAllSides) return Verdict::collision;

  const Axes axes = Axes::that_decide(p, q, inner);
  if (reach == 0.0 && axes.decide) {
    return on_views(p, q, [axes](const auto& a, const auto& b) {
      return verdict_of(a, b, test_axes(a, b, axes));
    });
  }
  Simplex s = facing_edge(p, q, w, side);
  if (s.size == 2) s1d(s, 0, 1);
  return on_views(p, q,
                  [&](const auto& a, const auto& b) { return collide_from(a, b, margin, s); });
}

// Room for two shapes at poses.
struct Rooms {
  Room p;
  Room q;
};

// Two shapes at poses. They are placed only where boxes around them are not apart.
inline Verdict collide(const Convex& p, const Transform& at_p, const Convex& q,
                       const Transform& at_q, Rooms& rooms, double margin = 0.0) noexcept {
  if (!(margin >= 0.0 && margin <= kMaxCoordinate)) return Verdict::unknown;
  const Certificate boxes = Certificate::boxes(box_at(p, at_p), box_at(q, at_q), 0.0);
  if (boxes.proves(margin)) return boxes.beyond(margin, Verdict::unknown);
  return collide(rooms.p.place(p, at_p), rooms.q.place(q, at_q), margin);
}

// FREE, MARGIN (0 < distance <= margin) or COLLISION.
inline Verdict classify(const Convex& p, const Convex& q, double margin) noexcept {
  const Verdict grown = collide(p, q, margin);
  if (grown != Verdict::collision || margin == 0.0) return grown;
  return collide(p, q) == Verdict::collision ? Verdict::collision : Verdict::margin;
}

// A lower bound (m) on the distance above which collide() certainly answers FREE. Queries that know
// such a bound need not ask; the others do, so that all give the same verdict.
inline double certainly_free_beyond(const Convex& p, const Convex& q, double margin) noexcept {
  return undecided_margin(margin) + undecided(p) + undecided(q);
}

}  // namespace gjk
