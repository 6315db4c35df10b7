// SPDX-FileCopyrightText: gjk_collision contributors
// SPDX-License-Identifier: Apache-2.0
// The queries about two shapes, each as a cascade of steps. A step answers the pairs for which it
// can prove the answer and passes the others on. docs/kernel.md describes the steps.
//
//   boxes       the boxes are apart: FREE                          extremes.hpp
//   extremes    O in the quadrilateral of the extremes: COLLISION  extremes.hpp
//   axes        an edge separates, or none does                    axes.hpp
//   features    a vertex or edge nearer to O than its neighbours   features.hpp
//   GJK         the loop of the paper, up to its rounding errors   gjk.hpp
//   exact       signs of polynomials                               exact.hpp
#pragma once

#include "gjk/certificate.hpp"
#include "gjk/narrow/axes.hpp"
#include "gjk/narrow/exact.hpp"
#include "gjk/narrow/extremes.hpp"
#include "gjk/narrow/features.hpp"
#include "gjk/narrow/gjk.hpp"
#include "gjk/narrow/overlap.hpp"
#include "gjk/narrow/separation.hpp"
#include "gjk/narrow/steps.hpp"
#include "gjk/narrow/view.hpp"
#include "gjk/shape/convex.hpp"
#include "gjk/shape/placing.hpp"
#include "gjk/verdict.hpp"

namespace gjk {

// FREE or COLLISION of two shapes, radii included. They collide if their distance is at most
// `margin` (m, >= 0). UNKNOWN only for input outside the domain (NaN, infinity, beyond
// kMaxCoordinate).
//
// For exact shapes this is the answer of rational arithmetic on the given doubles, the same on
// every machine. Shapes placed by rounded arithmetic collide if the gap between them is smaller
// than the bound on the rounding error.
inline Verdict collide(const Convex& p, const Convex& q, double margin = 0.0) noexcept {
  using namespace detail;
  if (!in_domain(p, q) || !(margin >= 0.0 && margin <= kMaxCoordinate)) return Verdict::unknown;
  const double reach = p.radius + q.radius + margin;
  const Quadrilateral w = inscribed(p, q);
  // Boxes: the comparison is exact if the reach is 0.
  const Certificate boxes = Certificate::boxes(w, grown_reach(p, q, reach), margin);
  if (takes(Step::boxes) && boxes.proves(margin)) return boxes.beyond(margin, Verdict::unknown);
  // Extremes
  double side[4];
  const unsigned inner = inner_sides(w, side);
  if (takes(Step::extremes) && inner == kAllSides) return Verdict::collision;
  // Axes; exact signs for the edges within the rounding error
  const Axes axes = Axes::deciding(p, q, inner);
  if (reach == 0.0 && axes.decide) {
    return on_views(p, q, [axes](const auto& a, const auto& b) {
      return verdict_of(a, b, test_axes(a, b, axes));
    });
  }
  // GJK, then exact arithmetic if GJK does not decide
  Simplex s = facing_edge(p, q, w, side);
  return on_views(p, q,
                  [&](const auto& a, const auto& b) { return collide_from(a, b, margin, s); });
}

// Memory for two shapes at poses.
struct Rooms {
  Room p;
  Room q;
};

// Two shapes at poses. All their vertices are placed only if boxes and the overlap test leave the
// pair undecided.
inline Verdict collide(const Convex& p, const Transform& at_p, const Convex& q,
                       const Transform& at_q, Rooms& rooms, double margin = 0.0) noexcept {
  using namespace detail;
  if (!(margin >= 0.0 && margin <= kMaxCoordinate)) return Verdict::unknown;
  const Certificate boxes = Certificate::boxes(box_at(p, at_p), box_at(q, at_q), 0.0);
  if (takes(Step::turned_boxes) && boxes.proves(margin)) {
    return boxes.beyond(margin, Verdict::unknown);
  }
  if (takes(Step::overlap) && is_proven_overlap(p, at_p, q, at_q)) return Verdict::collision;
  return collide(rooms.p.place(p, at_p), rooms.q.place(q, at_q), margin);
}

// FREE, MARGIN (0 < distance <= margin) or COLLISION.
inline Verdict classify(const Convex& p, const Convex& q, double margin) noexcept {
  const Verdict grown = collide(p, q, margin);
  if (grown != Verdict::collision || margin == 0.0) return grown;
  return collide(p, q) == Verdict::collision ? Verdict::collision : Verdict::margin;
}

// If a lower bound (m) on the distance exceeds this, collide() certainly answers FREE and need not
// be called. Otherwise it must be called, so that all queries give the same verdict.
inline double free_above(const Convex& p, const Convex& q, double margin) noexcept {
  return undecided_margin(margin) + undecided(p) + undecided(q);
}

// Level 3: signed distance, its lower bound, witness points, direction and deciding features.
inline Closest closest(const Convex& p, const Convex& q) noexcept {
  using namespace detail;
  if (!in_domain(p, q)) return unknown_closest();
  const Quadrilateral w = inscribed(p, q);
  const bool apart = takes(Step::boxes) && boxes_apart(w, 0.0);
  if (takes(Step::features) && apart) {
    Closest result;
    const bool is_found = on_views(
        p, q, [&](const auto& a, const auto& b) { return closest_if_apart(a, b, w, result); });
    if (is_found) return result;
  }
  return closest_by_search(p, q, w, apart);
}

// Level 2: certified bounds (m) on the distance of two shapes, radii included; 0 if they overlap.
// NaN for input outside the domain.
inline Bounds distance(const Convex& p, const Convex& q) noexcept {
  using namespace detail;
  if (!in_domain(p, q)) return unknown_bounds();
  if (p.error + q.error > 0.0) return not_negative(closest(p, q));
  const Quadrilateral w = inscribed(p, q);
  const bool apart = takes(Step::boxes) && boxes_apart(w, 0.0);
  if (takes(Step::features) && apart) {
    const Bounds bounds = on_views(p, q, [&](const auto& a, const auto& b) -> Bounds {
      if (a.size < 2 || b.size < 2) return {};
      if (takes(Step::quadrilaterals) && are_quadrilaterals(p, q))
        return bounds_by_enumeration(a, b, w);
      const Neighbourhood around = nearest_if_apart(a, b, middle(w));
      if (around.nearness != Nearness::settled) return {};
      return bounds_of(around, around.area, around.error);
    });
    if (bounds.lower > 0.0) return distance_of_surfaces(p, q, bounds);
  }
  return distance_by_search(p, q, w, apart);
}

}  // namespace gjk
