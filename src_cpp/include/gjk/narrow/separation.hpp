// SPDX-FileCopyrightText: gjk_collision contributors
// SPDX-License-Identifier: Apache-2.0
// Distance or penetration depth of two shapes, with witness points and features.
#pragma once

#include <cmath>

#include "gjk/arithmetic.hpp"
#include "gjk/certificate.hpp"
#include "gjk/narrow/exact.hpp"
#include "gjk/narrow/features.hpp"
#include "gjk/narrow/gjk.hpp"
#include "gjk/narrow/penetration.hpp"
#include "gjk/shape/convex.hpp"
#include "gjk/shape/vec2.hpp"
#include "gjk/verdict.hpp"

namespace gjk::detail {

// If the gap between the bounds is larger, relative to the distance, exact arithmetic narrows it.
inline constexpr double kRelativeGap = 1e-9;

enum class Outcome { separated, overlapping, undecided };

// Result of Alg. 1: the simplex nearest O, and bounds for the polygons without their radii.
struct Separation {
  Outcome outcome = Outcome::undecided;
  Simplex s;
  Bounds bounds;
  int iterations = 0;
  Vec2 normal;  // from q to p, not a unit vector
  // m. If the overlap is not certain, the polygons may be up to this far apart.
  double may_be_apart = -kInfinity;
};

// Whether bounds are close to each other: within kRelativeGap, or within the error (m) of the
// shapes, which cannot be reduced.
inline bool are_tight(const Bounds& bounds, double error) noexcept {
  return bounds.upper - bounds.lower <= std::fmax(kRelativeGap * bounds.upper, error);
}

// Bounds on the distance from simplex s and the support vertex w along -d, with d.w = along.
inline Bounds bounds_at(const Simplex& s, Vec2 d, double along, double rounding) noexcept {
  // v.w / |v| is a lower bound on the distance (paper, Alg. 1), certain when reduced by its
  // rounding error. A vector whose square underflows gives no bound.
  constexpr double kRelative = 8.0 * kUnitRoundoff;
  const double length = norm(d);
  const double inverse = 1.0 / length;
  const double lower = (along - rounding * norm1(d)) * inverse * (1.0 - kRelative);
  return {dot(d, d) >= kLeastSquare ? lower : -kInfinity,
          (s.size == 1 ? length : edge_area(s) * inverse) * (1.0 + kRelative)};
}

// Default observer of the iterations; see trace.hpp.
struct Unwatched {
  void operator()(const Simplex&, Vec2, const SimplexVertex&, double) const noexcept {}
};

// The bounds that a feature proves which is nearest among its neighbours. Exact shapes are convex,
// so it is nearest of all, and `bounds` hold. For shapes with an error, the lower bound is the gap
// between all vertices along the normal of the feature. It is 0 if the bounds are not tight.
template <class P, class Q>
Bounds over_all_vertices(const P& p, const Q& q, const Neighbourhood& around,
                         Bounds bounds) noexcept {
  const double error = p.error + q.error;
  if (error == 0.0) return bounds;
  bounds.lower = exact::gap_along(p, q, -around.normal, p.vertex(around.p));
  return are_tight(bounds, error) ? bounds : Bounds{0.0, bounds.upper};
}

// Sets the result if the neighbours of a vertex prove that O is outside.
template <class P, class Q>
bool separation_at(const P& p, const Q& q, const Neighbourhood& around,
                   Separation& result) noexcept {
  if (around.nearness != Nearness::settled) return false;
  result.bounds = over_all_vertices(p, q, around, certain_bounds(p, q, around));
  if (!(result.bounds.lower > 0.0)) return false;
  result.outcome = Outcome::separated;
  result.normal = around.normal;
  result.s = simplex_of(p, q, around);
  return true;
}

template <class P, class Q, class Watch = Unwatched>
Separation separate(const P& p, const Q& q, const Simplex& start, Watch&& watch = {}) noexcept {
  using End = GjkLoop::End;
  const GjkLoop loop = gjk_loop(
      p, q, start, [&](const Simplex& s, Vec2 d, const SimplexVertex& w, double along) noexcept {
        watch(s, d, w, along);
        return false;
      });
  Separation result{Outcome::undecided, loop.s, {}, loop.iterations, loop.d};
  if (loop.end == End::overlapping) result.outcome = Outcome::overlapping;
  if (loop.end != End::converged) return result;
  Bounds& bounds = result.bounds;
  bounds = bounds_at(loop.s, loop.d, loop.along, support_rounding(p, q));
  if (loop.s.size == 2 && bounds.upper - bounds.lower > kUsualGap * bounds.upper) {
    bounds.upper = std::fmin(bounds.upper, nearest_point_bound(loop.s));
  }
  if (bounds.lower > 0.0) result.outcome = Outcome::separated;
  return result;
}

// Witness points and features of a reduced simplex, from barycentric weights of O's projection.
template <class P, class Q>
void witness(const P& p, const Q& q, const Simplex& s, Closest& closest) noexcept {
  const SimplexVertex& a = s.vertex[0];
  if (s.size == 1) {
    closest.point_a = p.vertex(a.p);
    closest.point_b = q.vertex(a.q);
    closest.feature_a = {a.p, a.p};
    closest.feature_b = {a.q, a.q};
    return;
  }
  const SimplexVertex& b = s.vertex[1];
  const Vec2 ab = b.point - a.point;
  const double to_b = dot(b.point, ab);
  const double weight_a = to_b / (to_b - dot(a.point, ab));  // S1D: OB.AB / (OB.AB - OA.AB)
  const auto combine = [weight_a](Vec2 at_a, Vec2 at_b) noexcept {
    return at_a == at_b ? at_a : at_b + weight_a * (at_a - at_b);
  };
  closest.point_a = combine(p.vertex(a.p), p.vertex(b.p));
  closest.point_b = combine(q.vertex(a.q), q.vertex(b.q));
  closest.feature_a = {a.p, b.p};
  closest.feature_b = {a.q, b.q};
}

// Witness points, features and direction of a pair found by exact arithmetic.
inline void witness(const exact::Pair& pair, Closest& closest) noexcept {
  const Vec2 edge = pair.to - pair.from;
  const Vec2 from = pair.vertex - pair.from;
  const double along = dot(edge, from);
  Feature on_edge{pair.edge_first, pair.edge_second};
  Vec2 foot;
  if (along <= 0.0) {
    foot = pair.from;
    on_edge.second = on_edge.first;
  } else if (dot(edge, pair.vertex - pair.to) >= 0.0) {
    foot = pair.to;
    on_edge.first = on_edge.second;
  } else {
    foot = pair.from + (along / dot(edge, edge)) * edge;
  }
  const Feature on_vertex{pair.vertex_index, pair.vertex_index};
  const Vec2 direction = exact::edge_to_vertex(pair);
  closest.point_a = pair.edge_is_of_p ? foot : pair.vertex;
  closest.point_b = pair.edge_is_of_p ? pair.vertex : foot;
  closest.feature_a = pair.edge_is_of_p ? on_edge : on_vertex;
  closest.feature_b = pair.edge_is_of_p ? on_vertex : on_edge;
  closest.direction = pair.edge_is_of_p ? direction : -direction;
}

// Subtracts the radii from bounds of the polygons and widens them by the errors of the shapes.
template <class P, class Q>
Bounds surface_bounds(const P& p, const Q& q, Bounds polygons) noexcept {
  const double error = p.error + q.error;
  const double reach = p.radius + q.radius;
  if (reach == 0.0 && error == 0.0) return polygons;
  const double rounding = 4.0 * kUnitRoundoff * (reach + std::fabs(polygons.upper));
  return {polygons.lower - reach - 4.0 * error - rounding,
          doubles::surfaces_within<simd::OneLane>(reach, error, polygons.upper)};
}

// Calls separate(), then exact arithmetic if that does not decide. So the outcome is always
// decided, and the bounds of separated polygons are within kRelativeGap.
template <class P, class Q>
Separation separate_certainly(const P& p, const Q& q, const Simplex& start,
                              exact::Pair* pair) noexcept {
  Separation result = separate(p, q, start);
  const double error = p.error + q.error;
  if (result.outcome == Outcome::overlapping ||
      (result.outcome == Outcome::separated && are_tight(result.bounds, error))) {
    return result;
  }
  if (error == 0.0) {
    const SimplexVertex& end = result.s.vertex[0];
    if (separation_at(p, q, neighbourhood(p, q, end.p, end.q), result)) return result;
  }
  if (error == 0.0 && result.outcome == Outcome::undecided &&
      !exact::disjoint(p, q, contact(result.s))) {
    result.outcome = Outcome::overlapping;
    return result;
  }
  exact::Distance distance = exact::distance(p, q);
  if (error > 0.0) distance.bounds.lower = distance.gap;
  if (error > 0.0 && !(distance.gap > 0.0)) {
    if (result.outcome == Outcome::undecided) {
      result.outcome = Outcome::overlapping;
      // The loop from the paper's start may end with a certain overlap.
      const Separation again = separate(p, q, first_vertices(p, q));
      if (again.outcome == Outcome::overlapping) return result;
      // Upper bound from the loops; not finite if they ended at O itself.
      const double upper = std::fmin(result.bounds.upper, again.bounds.upper);
      result.may_be_apart =
          std::fmin(distance.bounds.upper,
                    std::fmax(std::isfinite(upper) ? upper : 0.0, support_rounding(p, q)));
    }
    return result;
  }
  result.outcome = Outcome::separated;
  result.bounds = distance.bounds;
  result.s.size = 0;  // the answer is in `pair`
  *pair = distance.pair;
  return result;
}

// Between the surfaces; 0 if they overlap.
template <class P, class Q>
Bounds distance_of_surfaces(const P& p, const Q& q, Bounds polygons) noexcept {
  const Bounds bounds = surface_bounds(p, q, polygons);
  return {bounds.lower > 0.0 ? bounds.lower : 0.0, bounds.upper > 0.0 ? bounds.upper : 0.0};
}

// For shapes with errors that are near contact: whether the nearest features at two vertices bound
// the distance as closely as the errors allow. Sets the bounds between the surfaces.
template <class P, class Q>
bool is_settled_at(const P& p, const Q& q, exact::Contact at, Bounds& surfaces) noexcept {
  const double error = p.error + q.error;
  if (error == 0.0) return false;
  Bounds bounds;
  const exact::Pair pair = exact::nearest_at(p, q, at, 0.0, bounds.upper);
  bounds.lower = std::fmax(0.0, exact::gap_along(p, q, pair));
  if (!are_tight(bounds, error)) return false;
  surfaces = distance_of_surfaces(p, q, bounds);
  return true;
}

inline Bounds unknown_bounds() noexcept { return {kNaN, kNaN}; }

// Subtracts the radii and sets what depends on them. `overlapping`: the polygons certainly overlap.
template <class P, class Q>
void finish(const P& p, const Q& q, Bounds polygons, bool overlapping, Closest& result) noexcept {
  result.direction = result.direction + Vec2{};  // no negative zeros
  Bounds bounds = surface_bounds(p, q, polygons);
  if (p.error + q.error > 0.0) {
    // The bound is the gap along the direction, however the direction was found.
    bounds.lower = Certificate::along(p, q, result.direction, result.point_a).lower();
  } else if (bounds.lower <= 0.0 && bounds.upper >= 0.0) {
    // For exact shapes, the sign of the distance always agrees with the verdict.
    if (overlapping || !Certificate::exact(p, q, 0.0, {}).proves(0.0)) {
      bounds.upper = 0.0;
    } else {
      bounds.lower = 0.0;
    }
  }
  result.distance = bounds.upper;
  result.lower_bound = bounds.lower;
  result.point_a = result.point_a + p.radius * result.direction;
  result.point_b = result.point_b - q.radius * result.direction;
}

// Starts from a simplex. If the simplex of the result is empty, the answer is in `pair`.
template <class P, class Q>
Separation separation_from(const P& p, const Q& q, const Simplex& start,
                           exact::Pair* pair) noexcept {
  Separation at_start;
  if (separation_at(p, q, neighbourhood_of(p, q, start), at_start)) return at_start;
  return separate_certainly(p, q, start, pair);
}

// Level 3 for shapes in the domain.
inline Closest closest_of(const Convex& p, const Convex& q, const Separation& separation,
                          const exact::Pair& pair) noexcept {
  Closest result;
  result.status = Status::success;
  result.iterations = separation.iterations;
  Bounds bounds = separation.bounds;
  const bool overlap = separation.outcome == Outcome::overlapping;
  if (overlap) {
    const Penetration deep = penetration(p, q);
    bounds = {-(deep.depth + deep.rounding), deep.rounding - deep.depth};
    if (p.error + q.error == 0.0) bounds.upper = std::fmin(0.0, bounds.upper);
    // If the polygons are apart, an edge separates them, so the depth found is 0 up to rounding.
    if (deep.depth <= 2.0 * deep.rounding) {
      bounds.upper = std::fmax(bounds.upper, separation.may_be_apart);
    }
    result.point_a = deep.point_p;
    result.point_b = deep.point_q;
    result.direction = deep.normal;
    result.feature_a = deep.feature_p;
    result.feature_b = deep.feature_q;
  } else if (separation.s.size == 0) {
    witness(pair, result);
  } else {
    witness(p, q, separation.s, result);
    result.direction = (-1.0 / norm(separation.normal)) * separation.normal;
  }
  finish(p, q, bounds, overlap, result);
  return result;
}

// What is known of two shapes before the search. `vertices_overlap`: the hulls of their vertices
// do, which for shapes with errors is less.
enum class Before { open, vertices_overlap, overlap };

// The steps after the extremes w. They set the start of the search: if the boxes are apart, the
// support vertex towards O as seen from the middle of P - Q; otherwise an edge that may separate,
// or the quadrilateral's edge that faces O.
inline Before after_extremes(const Convex& p, const Convex& q, const Quadrilateral& w, bool apart,
                             Simplex& start) noexcept {
  const double error = (p.error + q.error) * (1.0 + 4.0 * kUnitRoundoff);
  double side[4];
  const unsigned inner = apart ? 0u : inner_sides(w, side, error);
  if (inner == kAllSides) return Before::overlap;
  const Axes axes = apart ? Axes{} : Axes::deciding(p, q, inner);
  if (!apart && !axes.decide) {
    start = facing_edge(p, q, w, side);
    return Before::open;
  }
  return on_views(p, q, [&](const auto& a, const auto& b) {
    exact::Contact facing;
    if (apart) {
      start.push(support(a, b, -middle(w)));
    } else if (is_overlap(a, b, test_axes(a, b, axes), facing)) {
      return Before::vertices_overlap;
    } else {
      start = start_at(a, b, facing);
    }
    return Before::open;
  });
}

// Level 2 from a simplex.
[[gnu::noinline]] inline Bounds distance_from(const Convex& p, const Convex& q,
                                              const Simplex& start) noexcept {
  return on_views(p, q, [&](const auto& a, const auto& b) {
    Bounds near;
    if (is_settled_at(a, b, contact(start), near)) return near;
    exact::Pair pair;
    const Separation found = separation_from(a, b, start, &pair);
    if (found.outcome == Outcome::separated) return distance_of_surfaces(a, b, found.bounds);
    return distance_of_surfaces(a, b, {0.0, std::fmax(0.0, found.may_be_apart)});
  });
}

[[gnu::noinline]] inline Bounds distance_by_search(const Convex& p, const Convex& q,
                                                   const Quadrilateral& w, bool apart) noexcept {
  Simplex start;
  const Before before = after_extremes(p, q, w, apart, start);
  if (before == Before::open) return distance_from(p, q, start);
  return before == Before::overlap ? Bounds{} : distance_of_surfaces(p, q, Bounds{});
}

[[gnu::noinline]] inline Closest closest_by_search(const Convex& p, const Convex& q,
                                                   const Quadrilateral& w, bool apart) noexcept {
  Separation found;
  exact::Pair pair;
  Simplex start;
  found.outcome = Outcome::overlapping;
  if (after_extremes(p, q, w, apart, start) == Before::open) {
    found = on_views(
        p, q, [&](const auto& a, const auto& b) { return separation_from(a, b, start, &pair); });
  }
  return closest_of(p, q, found, pair);
}

// For polygons whose boxes are apart: walks from the support vertex towards O to the feature
// nearest to O, which is usually the answer. Settled only if its bounds are close to each other.
template <class View>
Neighbourhood nearest_if_apart(const View& p, const View& q, Vec2 middle) noexcept {
  Neighbourhood around = walk(p, q, p.near_support(-middle), q.near_support(middle), kWalk);
  if (around.error > kUsualGap * around.area) around.nearness = Nearness::unknown;
  return around;
}

// Returns true and sets the result if nearest_if_apart() is settled and, for shapes with errors,
// the bounds are tight enough.
template <class View>
bool closest_if_apart(const View& p, const View& q, const Quadrilateral& w,
                      Closest& result) noexcept {
  const Neighbourhood around = nearest_if_apart(p, q, middle(w));
  if (around.nearness != Nearness::settled) return false;
  result.status = Status::success;
  witness(p, q, simplex_of(p, q, around), result);
  result.direction = (-1.0 / norm(around.normal)) * around.normal;
  finish(p, q, bounds_of(around, around.area, around.error), false, result);
  const double error = p.error + q.error;
  return error == 0.0 || are_tight({result.lower_bound, result.distance}, 8.0 * error);
}

inline Closest unknown_closest() noexcept {
  Closest result;
  result.status = Status::numeric_failure;
  result.distance = result.lower_bound = kNaN;
  result.point_a = result.point_b = result.direction = {kNaN, kNaN};
  return result;
}

}  // namespace gjk::detail
