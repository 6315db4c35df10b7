// SPDX-FileCopyrightText: gjk_collision contributors
// SPDX-License-Identifier: Apache-2.0
// Level 1: do two shapes collide? Certified, and exact on the given doubles.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>

#include "gjk/convex.hpp"
#include "gjk/exact.hpp"
#include "gjk/simd.hpp"
#include "gjk/simplex.hpp"
#include "gjk/vec2.hpp"
#include "gjk/verdict.hpp"

namespace gjk {

// In 2D the loop needs about log n iterations; a query that has not ended after this many goes to
// the exact arithmetic, it is not answered by a guess.
inline constexpr int kMaxIterations = 64;

// min over P - Q of d.w, computed at a support vertex, is too large by at most this times |d|_1:
// two dot products to choose the vertex, one subtraction and one more dot product.
template <class P, class Q>
double support_rounding(const P& p, const Q& q) noexcept {
  return 8.0 * kUnitRoundoff * (p.extent + q.extent);
}

template <class P, class Q>
SimplexVertex support(const P& p, const Q& q, Vec2 d) noexcept {
  const int i = p.support(d);
  const int j = q.support(-d);
  return {p.vertex(i) - q.vertex(j), i, j};
}

// Does a support vertex at d.w = along lie farther towards O than the simplex that d belongs to, by
// more than the rounding? Where it does not, the simplex's distance is that of P - Q, and to go on
// could only cycle. Ordered so that NaN is no progress.
inline bool progress(const Simplex& s, Vec2 d, double along, double rounding) noexcept {
  return along < dot(d, s.vertex[0].point) - rounding * norm1(d);
}

// The simplex that GJK stopped at, as a hint for the exact arithmetic.
inline exact::Contact contact(const Simplex& s) noexcept {
  const SimplexVertex& a = s.vertex[0];
  return {a.p, a.q, s.size > 1 && a.p == s.vertex[1].p};
}

// Alg. 6, with certificates: FREE, COLLISION, or UNKNOWN where floating point does not decide.
//
// The shapes collide when their polygons are no farther apart than `reach` (both radii and a
// margin).
template <class P, class Q>
Verdict collide_by_gjk(const P& p, const Q& q, double reach, Simplex& start) noexcept {
  Simplex s = start;  // local, so that it stays in registers
  const double rounding = support_rounding(p, q);
  const double grown_reach = (reach + p.error + q.error) * (1.0 + 16.0 * kUnitRoundoff);
  const double sure_reach = (reach - p.error - q.error) * (1.0 - 16.0 * kUnitRoundoff);
  for (int k = 0; k < kMaxIterations; ++k) {
    const Vec2 d = direction_from_origin(s);
    const SimplexVertex w = support(p, q, -d);

    // Exit 1: all of P - Q lies beyond the line d.x = reach |d|. Ordered so that NaN is not free.
    const double along = dot(d, w.point);
    const double bound = rounding * norm1(d) + (grown_reach > 0.0 ? grown_reach * norm(d) : 0.0);
    if (along > bound) return Verdict::free;

    const bool converged = !progress(s, d, along, rounding);
    if (sure_reach > 0.0 && distance_upper_bound(s) <= sure_reach) return Verdict::collision;
    if (converged) break;

    // Exit 2: w falls into the vertical angle of AOB, so the triangle A, B, w encloses O (Fig. 2b).
    if (s.size == 2 && encloses_origin(s.vertex[0].point, s.vertex[1].point, w.point)) {
      return Verdict::collision;
    }
    s.push(w);
    if (s.size == 2) {
      s1d(s, 0, 1);
    } else if (s2d(s)) {
      break;  // enclosed, but not beyond the rounding
    }
  }
  start = s;
  return Verdict::unknown;
}

// From the paper's start: any point of P - Q, the first of each.
template <class P, class Q>
Verdict collide_by_gjk(const P& p, const Q& q, double reach) noexcept {
  Simplex s;
  s.push({p.vertex(0) - q.vertex(0), 0, 0});
  return collide_by_gjk(p, q, reach, s);
}

// The vertices of P - Q farthest east, north, west and south, counter-clockwise: the support
// vertices that cost nothing.
struct Quadrilateral {
  double x[4];
  double y[4];
};

inline Quadrilateral inscribed(const Convex& p, const Convex& q) noexcept {
  Quadrilateral w;
  for (int k = 0; k < 4; ++k) {
    w.x[k] = p.extreme_x[k] - q.extreme_x[k ^ 2];
    w.y[k] = p.extreme_y[k] - q.extreme_y[k ^ 2];
  }
  return w;
}

// The simplex to start GJK from: the edge of the quadrilateral that O lies farthest outside of.
// Sides are the cross products of its successive vertices.
inline Simplex facing_edge(const Convex& p, const Convex& q, const Quadrilateral& w,
                           const double (&side)[4]) noexcept {
  int facing = side[1] < side[0] ? 1 : 0;
  const int other = side[3] < side[2] ? 3 : 2;
  if (side[other] < side[facing]) facing = other;
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

// Does the quadrilateral enclose O beyond its rounding? Gives its sides.
inline bool encloses_origin(const Quadrilateral& w, double (&side)[4]) noexcept {
  constexpr double kBound = 6.0 * kUnitRoundoff;
  int inside = 0;
  for (int k = 0; k < 4; ++k) {
    const int next = (k + 1) & 3;
    const double left = w.x[k] * w.y[next];
    const double right = w.y[k] * w.x[next];
    side[k] = left - right;
    inside += static_cast<int>(side[k] > kBound * (std::fabs(left) + std::fabs(right)));
  }
  return inside == 4;
}

// Are the bounding boxes of P and Q farther apart than `reach`, along x or y? w.x[0] is the largest
// x of P - Q, and so on. Bitwise: one branch, which separated pairs share.
inline bool boxes_apart(const Quadrilateral& w, double reach) noexcept {
  return (static_cast<int>(w.x[0] < -reach) | static_cast<int>(w.y[1] < -reach) |
          static_cast<int>(w.x[2] > reach) | static_cast<int>(w.y[3] > reach)) != 0;
}

// What the extremes of two shapes alone decide; else UNKNOWN, and the sides of their quadrilateral.
//
// FREE: the bounding boxes are apart (an exact comparison, but for a reach). COLLISION: the
// inscribed quadrilateral of P - Q encloses O.
inline Verdict collide_by_extremes(const Convex& p, const Convex& q, double reach,
                                   const Quadrilateral& w, double (&side)[4]) noexcept {
  const double apart = (reach + p.error + q.error) * (1.0 + 16.0 * kUnitRoundoff);
  if (boxes_apart(w, apart)) return Verdict::free;
  return encloses_origin(w, side) ? Verdict::collision : Verdict::unknown;
}

// Up to this many vertices all separating axes at once are quicker than GJK's search for one.
inline constexpr int kFewVertices = 8;

inline bool few_vertices(const Convex& p, const Convex& q) noexcept {
  const auto few = [](int size) { return size >= 3 && size <= kFewVertices; };
  return few(p.size) && few(q.size);
}

// The separating axis test, for shapes without a reach: certain where the rounding allows, and
// exact for the few edges where it does not.
template <class P, class Q>
Verdict collide_by_axes(const P& p, const Q& q) noexcept {
  const double error = p.error + q.error;
  const double accuracy = support_rounding(p, q) + 4.0 * error;
  const simd::EdgeTest of_p = p.separating_from(q, accuracy);
  const simd::EdgeTest of_q = q.separating_from(p, accuracy);
  if ((of_p.separates | of_q.separates) != 0) return Verdict::free;
  if ((of_p.unsure | of_q.unsure) == 0) return Verdict::collision;
  // All edges unsure: perhaps both are flat, on one line, and no edge tells.
  const bool all_unsure = of_p.unsure == ~std::uint64_t{0} >> (64 - p.size) &&
                          of_q.unsure == ~std::uint64_t{0} >> (64 - q.size);
  if (error > 0.0 || all_unsure) return exact::collide(p, q);
  return exact::one_separates(p, q, of_p.unsure) || exact::one_separates(q, p, of_q.unsure)
             ? Verdict::free
             : Verdict::collision;
}

// GJK from simplex s, and exact arithmetic where it does not decide.
template <class P, class Q>
Verdict collide_from(const P& p, const Q& q, double margin, Simplex& s) noexcept {
  const Verdict verdict = collide_by_gjk(p, q, p.radius + q.radius + margin, s);
  if (verdict != Verdict::unknown) return verdict;
  return exact::collide(p, q, margin, contact(s));
}

// FREE or COLLISION of two shapes, radii included; they collide when no farther apart than `margin`
// (m, >= 0). UNKNOWN only for input outside the domain (NaN, infinity, beyond kMaxCoordinate).
//
// Without poses this is the answer of rational arithmetic on the given doubles, the same on every
// machine; with a pose, what lies within the rounding of the transform is COLLISION.
template <class P, class Q>
Verdict collide(const P& p, const Q& q, double margin = 0.0) noexcept {
  if (!in_domain(p, q) || !(margin >= 0.0 && margin <= kMaxCoordinate)) return Verdict::unknown;
  Simplex s;
  s.push({p.vertex(0) - q.vertex(0), 0, 0});
  return collide_from(p, q, margin, s);
}

// The same answer sooner: by the extremes, then by all axes or by GJK, in the widest vectors that
// this processor has.
inline Verdict collide(const Convex& p, const Convex& q, double margin = 0.0) noexcept {
  if (!in_domain(p, q) || !(margin >= 0.0 && margin <= kMaxCoordinate)) return Verdict::unknown;
  const double reach = p.radius + q.radius + margin;
  const Quadrilateral w = inscribed(p, q);
  double side[4];
  const Verdict verdict = collide_by_extremes(p, q, reach, w, side);
  if (verdict != Verdict::unknown) return verdict;

  if (few_vertices(p, q) && reach == 0.0) {
    return simd::on_widest([](const auto& a, const auto& b) { return collide_by_axes(a, b); }, p,
                           q);
  }
  Simplex s = facing_edge(p, q, w, side);
  if (s.size == 2) s1d(s, 0, 1);
  return simd::on_widest(
      [&](const auto& a, const auto& b) { return collide_from(a, b, margin, s); }, p, q);
}

// FREE, MARGIN (0 < distance <= margin) or COLLISION.
template <class P, class Q>
Verdict classify(const P& p, const Q& q, double margin) noexcept {
  const Verdict grown = collide(p, q, margin);
  if (grown != Verdict::collision || margin == 0.0) return grown;
  return collide(p, q) == Verdict::collision ? Verdict::collision : Verdict::margin;
}

}  // namespace gjk
