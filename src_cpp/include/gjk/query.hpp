// SPDX-FileCopyrightText: gjk_collision contributors
// SPDX-License-Identifier: Apache-2.0
// The queries about two shapes, each as a cascade of steps. A step answers the pairs for which it
// can prove the answer and passes the others on. docs/kernel.md describes the steps and the levels.
// P and Q are the polygons, W = P - Q is their Minkowski difference, O is the origin.
//
//   boxes       FREE if the bounding boxes are apart                     extremes.hpp
//   extremes    COLLISION if the extreme vertices of W enclose O         extremes.hpp
//   axes        FREE if an edge separates, COLLISION if none does        axes.hpp
//   features    finds a vertex or edge nearer to O than its neighbours   features.hpp
//   GJK         the loop of the paper; decides up to rounding errors     gjk.hpp
//   exact       decides the rest by the signs of polynomials             exact.hpp
#pragma once

#include "gjk/shape/convex.hpp"
#include "gjk/shape/placing.hpp"
#include "gjk/shape/points.hpp"
#include "gjk/verdict.hpp"

namespace gjk {

// Level 1: FREE or COLLISION of two shapes, radii included. They collide if their distance is at
// most `margin` (m, >= 0). UNKNOWN only for input outside the domain (NaN, infinity, beyond
// kMaxCoordinate).
//
// For exact shapes this is the answer of rational arithmetic on the given doubles, the same on
// every machine. For shapes placed by rounded arithmetic, the verdict is COLLISION if the gap is
// smaller than the bound on the rounding error.
Verdict collide(const Convex& p, const Convex& q, double margin = 0.0) noexcept;

// The same for points. The convex hull is not computed for a pair that the boxes or the extremes
// decide, nor for points that are the vertices of a convex outline, counter-clockwise.
Verdict collide(const Hull& a, const Hull& b, double margin = 0.0) noexcept;

// Memory for two shapes at poses.
struct Rooms {
  Room p;
  Room q;
};

// The same for two shapes at poses. All their vertices are placed only if the box test and the
// overlap test do not decide.
Verdict collide(const Convex& p, const Transform& at_p, const Convex& q, const Transform& at_q,
                Rooms& rooms, double margin = 0.0) noexcept;

// A distance (m). If a lower bound on the distance of the shapes exceeds it, collide() certainly
// answers FREE and need not be called. Otherwise collide() must be called, so that all queries give
// the same verdict.
inline double free_above(const Convex& p, const Convex& q, double margin) noexcept {
  return undecided_margin(margin) + undecided(p) + undecided(q);
}

// FREE, MARGIN (0 < distance <= margin) or COLLISION.
Verdict classify(const Convex& p, const Convex& q, double margin) noexcept;

// Level 3: signed distance, its lower bound, witness points, direction and nearest features.
Closest closest(const Convex& p, const Convex& q) noexcept;

// Level 2: certified bounds (m) on the distance of two shapes, radii included; 0 if they overlap.
// NaN for input outside the domain.
Bounds distance(const Convex& p, const Convex& q) noexcept;

// The same for points.
Bounds distance(const Hull& a, const Hull& b) noexcept;

// Level 3 for points. The features are indices of the points.
Closest closest(const Hull& a, const Hull& b) noexcept;

}  // namespace gjk

#ifdef GJK_KERNEL
#include <type_traits>

#include "gjk/certificate.hpp"
#include "gjk/narrow/axes.hpp"
#include "gjk/narrow/exact.hpp"
#include "gjk/narrow/extremes.hpp"
#include "gjk/narrow/features.hpp"
#include "gjk/narrow/gjk.hpp"
#include "gjk/narrow/hulls.hpp"
#include "gjk/narrow/overlap.hpp"
#include "gjk/narrow/separation.hpp"
#include "gjk/narrow/steps.hpp"
#include "gjk/narrow/view.hpp"

namespace gjk {

namespace detail {

// Calls query(p, q) with views of two shapes. Queries whose steps are reported need not be fast.
template <class Begin, class Query>
Verdict on_views_for(const Convex& p, const Convex& q, const Query& query) noexcept {
  if constexpr (std::is_same_v<Begin, Unreported>) {
    return on_views(p, q, query);
  } else {
    return on_plain_views(p, q, query);
  }
}

// Level 1 for pairs that the boxes and the extremes w leave undecided. See Unreported for `begin`.
template <class Begin = Unreported>
[[gnu::always_inline]] inline Verdict collide_by_axes_or_gjk(const Convex& p, const Convex& q,
                                                             double margin, const Quadrilateral& w,
                                                             const double (&side)[4],
                                                             unsigned inner,
                                                             Begin begin = {}) noexcept {
  // Axes: an edge that separates; exact signs decide the edges within the rounding error
  const Axes axes = Axes::deciding(p, q, inner);
  if (p.radius + q.radius + margin == 0.0 && axes.decide) {
    begin(Step::axes);
    return on_views_for<Begin>(p, q, [axes, begin](const auto& a, const auto& b) {
      return verdict_of(a, b, test_axes(a, b, axes), begin);
    });
  }
  // GJK, then exact arithmetic if GJK does not decide
  Simplex s = facing_edge(p, q, w, side);
  return on_views_for<Begin>(p, q, [&, begin](const auto& a, const auto& b) {
    return collide_from(a, b, margin, s, begin);
  });
}

// The same as a function of its own. As a part of collide() of two Hulls, it is slower (GCC 12).
[[gnu::noinline]] inline Verdict collide_after_extremes(const Convex& p, const Convex& q,
                                                        double margin, const Quadrilateral& w,
                                                        const double (&side)[4],
                                                        unsigned inner) noexcept {
  return collide_by_axes_or_gjk(p, q, margin, w, side, inner);
}

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
  if (boxes.proves(margin)) return boxes.beyond(margin, Verdict::unknown);
  // Extremes
  begin(Step::extremes);
  double side[4];
  const unsigned inner = inner_sides(w, side);
  if (inner == kAllSides) return Verdict::collision;
  return collide_by_axes_or_gjk(p, q, margin, w, side, inner, begin);
}

// Level 2 for polygons whose boxes are apart. The lower bound is not positive if the features do
// not decide. Only the boxes of the extremes w are used.
template <class View>
Bounds distance_if_apart(const View& p, const View& q, const Quadrilateral& w) noexcept {
  if (p.size < 2 || q.size < 2) return {};
  if (are_quadrilaterals(p, q)) return bounds_by_enumeration(p, q, w);
  const Neighbourhood around = nearest_if_apart(p, q, middle(w));
  if (around.nearness != Nearness::settled) return {};
  return over_all_vertices(p, q, around, bounds_of(around, around.area, around.error));
}

}  // namespace detail

GJK_KERNEL Verdict collide(const Convex& p, const Convex& q, double margin) noexcept {
  return detail::collide_in_steps(p, q, margin);
}

GJK_KERNEL Verdict collide(const Hull& a, const Hull& b, double margin) noexcept {
  using namespace detail;
  if (!(margin >= 0.0 && margin <= kMaxCoordinate)) return Verdict::unknown;
  const double reach = a.radius + b.radius + margin;
  bool is_decided = false;
  Verdict verdict = Verdict::unknown;
  if (has_vectors(a, b)) {
    verdict = simd::on_widest([&](auto set) {
      using View = typename ViewOf<decltype(set)>::Type;
      using Outline = Outlined<decltype(set)>;
      Outline outline_a(a);
      Outline outline_b(b);
      const OutlineBox box_a = outline_a.box();
      const OutlineBox box_b = outline_b.box();
      is_decided = true;
      if (!in_domain(box_a, box_b)) return Verdict::unknown;
      // Coordinates may be tiny.
      const double grown = (reach + 2.0 * kTinyError) * (1.0 + 16.0 * kUnitRoundoff);
      const Certificate boxes = Certificate::boxes(box_of_difference(box_a, box_b), grown, margin);
      if (boxes.proves(margin)) return boxes.beyond(margin, Verdict::unknown);
      outline_a.take(a, box_a);
      outline_b.take(b, box_b);
      const Convex& p = outline_a.view();
      const Convex& q = outline_b.view();
      const bool is_few = reach == 0.0 && a.size <= Outline::kFew && b.size <= Outline::kFew;
      if (is_few) {
        is_decided = outline_a.is_surely_convex() && outline_b.is_surely_convex();
        if (!is_decided) return Verdict::unknown;
        const View u{p};
        const View v{q};
        return verdict_of(u, v, test_axes(u, v, {true, true, {}}));
      }
      outline_a.find_extremes(box_a);
      outline_b.find_extremes(box_b);
      const Quadrilateral w = inscribed_by_index(p, q);
      double side[4];
      const unsigned inner = inner_sides(w, side);
      if (inner == kAllSides) return Verdict::collision;
      is_decided = outline_a.is_surely_convex() && outline_b.is_surely_convex();
      if (!is_decided) return Verdict::unknown;
      return collide_after_extremes(p, q, margin, w, side, inner);
    });
  }
  if (is_decided) return verdict;
  return on_hulls(a, b,
                  [margin](const Convex& p, const Convex& q) { return collide(p, q, margin); });
}

namespace detail {

template <class Begin = Unreported>
[[gnu::always_inline]] inline Verdict collide_in_steps(const Convex& p, const Transform& at_p,
                                                       const Convex& q, const Transform& at_q,
                                                       Rooms& rooms, double margin,
                                                       Begin begin = {}) noexcept {
  if (!(margin >= 0.0 && margin <= kMaxCoordinate)) return Verdict::unknown;
  begin(Step::turned_boxes);
  const Certificate boxes = Certificate::boxes(box_at(p, at_p), box_at(q, at_q), 0.0);
  if (boxes.proves(margin)) return boxes.beyond(margin, Verdict::unknown);
  begin(Step::overlap);
  if (is_proven_overlap(p, at_p, q, at_q)) return Verdict::collision;
  return collide_in_steps(rooms.p.place(p, at_p), rooms.q.place(q, at_q), margin, begin);
}

}  // namespace detail

GJK_KERNEL Verdict collide(const Convex& p, const Transform& at_p, const Convex& q,
                           const Transform& at_q, Rooms& rooms, double margin) noexcept {
  return detail::collide_in_steps(p, at_p, q, at_q, rooms, margin);
}

GJK_KERNEL Verdict classify(const Convex& p, const Convex& q, double margin) noexcept {
  const Verdict grown = collide(p, q, margin);
  if (grown != Verdict::collision || margin == 0.0) return grown;
  return collide(p, q) == Verdict::collision ? Verdict::collision : Verdict::margin;
}

GJK_KERNEL Closest closest(const Convex& p, const Convex& q) noexcept {
  using namespace detail;
  if (!in_domain(p, q)) return unknown_closest();
  const Quadrilateral w = inscribed(p, q);
  const bool apart = boxes_apart(w, 0.0);
  if (apart) {
    Closest result;
    const bool is_found = on_views(
        p, q, [&](const auto& a, const auto& b) { return closest_if_apart(a, b, w, result); });
    if (is_found) return result;
  }
  return closest_by_search(p, q, w, apart);
}

GJK_KERNEL Bounds distance(const Convex& p, const Convex& q) noexcept {
  using namespace detail;
  if (!in_domain(p, q)) return unknown_bounds();
  const Quadrilateral w = inscribed(p, q);
  const bool apart = boxes_apart(w, 0.0);
  if (apart) {
    const Bounds bounds =
        on_views(p, q, [&](const auto& a, const auto& b) { return distance_if_apart(a, b, w); });
    if (bounds.lower > 0.0) return distance_of_surfaces(p, q, bounds);
  }
  return distance_by_search(p, q, w, apart);
}

GJK_KERNEL Bounds distance(const Hull& a, const Hull& b) noexcept {
  using namespace detail;
  bool is_decided = false;
  Bounds bounds;
  if (has_vectors(a, b)) {
    bounds = simd::on_widest([&](auto set) {
      using View = typename ViewOf<decltype(set)>::Type;
      using Outline = Outlined<decltype(set)>;
      Outline outline_a(a);
      Outline outline_b(b);
      const OutlineBox box_a = outline_a.box();
      const OutlineBox box_b = outline_b.box();
      is_decided = true;
      if (!in_domain(box_a, box_b)) return unknown_bounds();
      outline_a.take(a, box_a);
      outline_b.take(b, box_b);
      const Convex& p = outline_a.view();
      const Convex& q = outline_b.view();
      const Quadrilateral w = box_of_difference(box_a, box_b);
      const bool apart = boxes_apart(w, 0.0);
      const bool are_four = are_quadrilaterals(p, q);
      if (apart && !are_four) {
        const Bounds found = bounds_of_hulls(View{p}, View{q}, middle(w));
        // Coordinates may be tiny.
        if (found.lower > 4.0 * kTinyError) return distance_of_surfaces(p, q, found);
      }
      is_decided = outline_a.is_surely_convex() && outline_b.is_surely_convex();
      if (!is_decided) return Bounds{};
      if (apart && are_four) {
        const Bounds found = bounds_by_enumeration(View{p}, View{q}, w);
        if (found.lower > 0.0) return distance_of_surfaces(p, q, found);
      }
      const bool is_few = a.size <= Axes::kFew && b.size <= Axes::kFew;
      if (is_few && !apart) {
        const View u{p};
        const View v{q};
        exact::Contact facing;
        if (is_overlap(u, v, test_axes(u, v, {true, true, {}}), facing)) return Bounds{};
        return distance_from(p, q, start_at(u, v, facing));
      }
      outline_a.find_extremes(box_a);
      outline_b.find_extremes(box_b);
      return distance_by_search(p, q, inscribed_by_index(p, q), apart);
    });
  }
  if (is_decided) return bounds;
  return on_hulls(a, b, [](const Convex& p, const Convex& q) { return distance(p, q); });
}

GJK_KERNEL Closest closest(const Hull& a, const Hull& b) noexcept {
  using namespace detail;
  return on_hulls(a, b, [&](const Convex& p, const Convex& q) {
    Closest result = closest(p, q);
    if (result.status != Status::success) return result;
    for (int* vertex : {&result.feature_a.first, &result.feature_a.second}) {
      *vertex = point_of(a, p, *vertex);
    }
    for (int* vertex : {&result.feature_b.first, &result.feature_b.second}) {
      *vertex = point_of(b, q, *vertex);
    }
    return result;
  });
}

}  // namespace gjk
#endif
