// SPDX-FileCopyrightText: gjk_collision contributors
// SPDX-License-Identifier: Apache-2.0
// Level 1: do two shapes collide? Certified, and exact on the given doubles.
#pragma once

#include <cmath>

#include "gjk/convex.hpp"
#include "gjk/exact.hpp"
#include "gjk/simplex.hpp"
#include "gjk/vec2.hpp"
#include "gjk/verdict.hpp"

namespace gjk {

// In 2D the loop needs about log n iterations; a query that has not ended after this many goes to
// the exact arithmetic, it is not answered by a guess.
inline constexpr int kMaxIterations = 64;

// min over P - Q of d.w, computed at a support vertex, is too large by at most this times |d|_1: two
// dot products to choose the vertex, one subtraction and one more dot product.
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

// Alg. 6, with certificates: FREE, COLLISION, or UNKNOWN where floating point does not decide.
//
// The shapes collide when their polygons are no farther apart than `reach` (both radii and a margin).
template <class P, class Q>
Verdict collide_by_gjk(const P& p, const Q& q, double reach) noexcept {
  const double rounding = support_rounding(p, q);
  const double grown_reach = (reach + p.error + q.error) * (1.0 + 16.0 * kUnitRoundoff);
  const double sure_reach = (reach - p.error - q.error) * (1.0 - 16.0 * kUnitRoundoff);
  Simplex s;
  s.push({p.vertex(0) - q.vertex(0), 0, 0});  // any point of P - Q: the first of each
  for (int k = 0; k < kMaxIterations; ++k) {
    const Vec2 d = direction_from_origin(s);
    const SimplexVertex w = support(p, q, -d);

    // Exit 1: all of P - Q lies beyond the line d.x = reach |d|. Ordered so that NaN is not free.
    const double along = dot(d, w.point);
    const double bound =
        rounding * norm1(d) + (grown_reach > 0.0 ? grown_reach * norm(d) : 0.0);
    if (along > bound) return Verdict::free;

    const bool converged = !progress(s, d, along, rounding);
    if (sure_reach > 0.0 && distance_upper_bound(s) <= sure_reach) return Verdict::collision;
    if (converged) return Verdict::unknown;

    // Exit 2: w falls into the vertical angle of AOB, so the triangle A, B, w encloses O (Fig. 2b).
    if (s.size == 2 && encloses_origin(s.vertex[0].point, s.vertex[1].point, w.point)) {
      return Verdict::collision;
    }
    s.push(w);
    if (s.size == 2) {
      s1d(s, 0, 1);
    } else if (s2d(s)) {
      return Verdict::unknown;  // enclosed, but not beyond the rounding
    }
  }
  return Verdict::unknown;
}

// FREE or COLLISION of two shapes, radii included; they collide when no farther apart than `margin`
// (m, >= 0). UNKNOWN only for input outside the domain (NaN, infinity, beyond kMaxCoordinate).
//
// Without poses this is the answer of rational arithmetic on the given doubles, the same on every
// machine; with a pose, what lies within the rounding of the transform is COLLISION.
template <class P, class Q>
Verdict collide(const P& p, const Q& q, double margin = 0.0) noexcept {
  if (!in_domain(p) || !in_domain(q) || !(margin >= 0.0 && margin <= kMaxCoordinate)) {
    return Verdict::unknown;
  }
  const Verdict verdict = collide_by_gjk(p, q, p.radius + q.radius + margin);
  return verdict != Verdict::unknown ? verdict : exact::collide(p, q, margin);
}

// FREE, MARGIN (0 < distance <= margin) or COLLISION.
template <class P, class Q>
Verdict classify(const P& p, const Q& q, double margin) noexcept {
  const Verdict grown = collide(p, q, margin);
  if (grown != Verdict::collision || margin == 0.0) return grown;
  return collide(p, q) == Verdict::collision ? Verdict::collision : Verdict::margin;
}

}  // namespace gjk
