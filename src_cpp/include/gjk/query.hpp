// SPDX-FileCopyrightText: gjk_collision contributors
// SPDX-License-Identifier: Apache-2.0
// The queries about two shapes, each as a cascade of steps. A step answers the pairs for which it
// can prove the answer and passes the others on. docs/kernel.md describes the steps and the levels.
// P and Q are the polygons, W = P - Q is their Minkowski difference, O is the origin. takes(step)
// is true except in the benchmark, which leaves out one step to measure its value.
//
//   boxes       FREE if the bounding boxes are apart                     extremes.hpp
//   extremes    COLLISION if the extreme vertices of W enclose O         extremes.hpp
//   axes        FREE if an edge separates, COLLISION if none does        axes.hpp
//   features    finds a vertex or edge nearer to O than its neighbours   features.hpp
//   GJK         the loop of the paper; decides up to rounding errors     gjk.hpp
//   exact       decides the rest by the signs of polynomials             exact.hpp
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

namespace detail {

// collide() below; see Unreported for `begin`.
template <class Begin = Unreported>
[[gnu::always_inline]] inline Verdict collide_in_steps(const Convex& p, const Convex& q,
                                                       double margin, Begin begin = {}) noexcept {
  if (!in_domain(p, q) || !(margin >= 0.0 && margin <= kMaxCoordinate)) return Verdict::unknown;
  // The shapes collide if the distance of their polygons is at most the reach.
  const double reach = p.radius + q.radius + margin;
  const Quadrilateral w = inscribed(p, q);
  // Boxes: the comparison is exact if the grown reach is 0.
  begin(Step::boxes);
  const Certificate boxes = Certificate::boxes(w, grown_reach(p, q, reach), margin);
  if (takes(Step::boxes) && boxes.proves(margin)) return boxes.beyond(margin, Verdict::unknown);
  // Extremes
  begin(Step::extremes);
  double side[4];
  const unsigned inner = inner_sides(w, side);
  if (takes(Step::extremes) && inner == kAllSides) return Verdict::collision;
  // Axes: an edge that separates; exact signs decide the edges within the rounding error
  const Axes axes = Axes::deciding(p, q, inner);
  if (reach == 0.0 && axes.decide) {
    begin(Step::axes);
    return on_views(p, q, [axes, begin](const auto& a, const auto& b) {
      return verdict_of(a, b, test_axes(a, b, axes), begin);
    });
  }
  // GJK, then exact arithmetic if GJK does not decide
  Simplex s = facing_edge(p, q, w, side);
  return on_views(p, q, [&, begin](const auto& a, const auto& b) {
    return collide_from(a, b, margin, s, begin);
  });
}

}  // namespace detail

// Level 1: FREE or COLLISION of two shapes, radii included. They collide if their distance is at
// most `margin` (m, >= 0). UNKNOWN only for input outside the domain (NaN, infinity, beyond
// kMaxCoordinate).
//
// For exact shapes this is the answer of rational arithmetic on the given doubles, the same on
// every machine. For shapes placed by rounded arithmetic, the verdict is COLLISION if the gap is
// smaller than the bound on the rounding error.
inline Verdict collide(const Convex& p, const Convex& q, double margin = 0.0) noexcept {
  return detail::collide_in_steps(p, q, margin);
}

// Memory for two shapes at poses.
struct Rooms {
  Room p;
  Room q;
};

namespace detail {

template <class Begin = Unreported>
[[gnu::always_inline]] inline Verdict collide_in_steps(const Convex& p, const Transform& at_p,
                                                       const Convex& q, const Transform& at_q,
                                                       Rooms& rooms, double margin,
                                                       Begin begin = {}) noexcept {
  if (!(margin >= 0.0 && margin <= kMaxCoordinate)) return Verdict::unknown;
  begin(Step::turned_boxes);
  const Certificate boxes = Certificate::boxes(box_at(p, at_p), box_at(q, at_q), 0.0);
  if (takes(Step::turned_boxes) && boxes.proves(margin)) {
    return boxes.beyond(margin, Verdict::unknown);
  }
  begin(Step::overlap);
  if (takes(Step::overlap) && is_proven_overlap(p, at_p, q, at_q)) return Verdict::collision;
  return collide_in_steps(rooms.p.place(p, at_p), rooms.q.place(q, at_q), margin, begin);
}

}  // namespace detail

// The same for two shapes at poses. All their vertices are placed only if the box test and the
// overlap test do not decide.
inline Verdict collide(const Convex& p, const Transform& at_p, const Convex& q,
                       const Transform& at_q, Rooms& rooms, double margin = 0.0) noexcept {
  return detail::collide_in_steps(p, at_p, q, at_q, rooms, margin);
}

// FREE, MARGIN (0 < distance <= margin) or COLLISION.
inline Verdict classify(const Convex& p, const Convex& q, double margin) noexcept {
  const Verdict grown = collide(p, q, margin);
  if (grown != Verdict::collision || margin == 0.0) return grown;
  return collide(p, q) == Verdict::collision ? Verdict::collision : Verdict::margin;
}

// A distance (m). If a lower bound on the distance of the shapes exceeds it, collide() certainly
// answers FREE and need not be called. Otherwise collide() must be called, so that all queries give
// the same verdict.
inline double free_above(const Convex& p, const Convex& q, double margin) noexcept {
  return undecided_margin(margin) + undecided(p) + undecided(q);
}

// Level 3: signed distance, its lower bound, witness points, direction and nearest features.
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
  const Quadrilateral w = inscribed(p, q);
  const bool apart = takes(Step::boxes) && boxes_apart(w, 0.0);
  if (takes(Step::features) && apart) {
    const Bounds bounds = on_views(p, q, [&](const auto& a, const auto& b) -> Bounds {
      if (a.size < 2 || b.size < 2) return {};
      if (takes(Step::quadrilaterals) && are_quadrilaterals(p, q))
        return bounds_by_enumeration(a, b, w);
      const Neighbourhood around = nearest_if_apart(a, b, middle(w));
      if (around.nearness != Nearness::settled) return {};
      return over_all_vertices(a, b, around, bounds_of(around, around.area, around.error));
    });
    if (bounds.lower > 0.0) return distance_of_surfaces(p, q, bounds);
  }
  return distance_by_search(p, q, w, apart);
}

}  // namespace gjk
