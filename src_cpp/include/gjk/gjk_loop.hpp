// SPDX-FileCopyrightText: gjk_collision contributors
// SPDX-License-Identifier: Apache-2.0
// The barycode-GJK loop.
//
// Source: Zhang, Wu, Wang, Zhou, "Barycode-based GJK Algorithm", Alg. 1 and 6.
#pragma once

#include "gjk/axes.hpp"
#include "gjk/exact.hpp"
#include "gjk/simplex.hpp"
#include "gjk/vec2.hpp"

namespace gjk {

// In 2D the loop needs about log n iterations; a query that has not ended after this many goes to
// the exact arithmetic, it is not answered by a guess.
inline constexpr int kMaxIterations = 64;

template <class P, class Q>
SimplexVertex support(const P& p, const Q& q, Vec2 d) noexcept {
  const int i = p.support(d);
  const int j = q.support(-d);
  return {p.vertex(i) - q.vertex(j), i, j};
}

// The paper's start: any point of P - Q, the first of each.
template <class P, class Q>
Simplex first_vertices(const P& p, const Q& q) noexcept {
  Simplex s;
  s.push({p.vertex(0) - q.vertex(0), 0, 0});
  return s;
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

struct GjkLoop {
  enum class End {
    undecided,    // floating point does not tell, or the caller ended the loop
    converged,    // to the simplex nearest O, up to rounding
    overlapping,  // O lies in P - Q, certainly
  };

  End end = End::undecided;
  Simplex s;
  Vec2 d;              // the last direction: w was sought along -d
  double along = 0.0;  // d.w
  int iterations = 0;
};

// From a simplex until the end. `look(s, d, w, along)` is called at each iteration and ends the
// loop by returning true.
template <class P, class Q, class Look>
GjkLoop gjk_loop(const P& p, const Q& q, const Simplex& start, Look&& look) noexcept {
  const double rounding = support_rounding(p, q);
  Simplex s = start;  // local, so that it stays in registers
  GjkLoop::End end = GjkLoop::End::undecided;
  Vec2 d;
  double along = 0.0;
  int k = 0;
  while (k < kMaxIterations) {
    ++k;
    d = direction_from_origin(s);
    const SimplexVertex w = support(p, q, -d);
    along = dot(d, w.point);
    if (look(s, d, w, along)) break;
    if (!progress(s, d, along, rounding)) {
      end = GjkLoop::End::converged;
      break;
    }
    // w falls into the vertical angle of AOB, so the triangle A, B, w encloses O (Fig. 2b).
    if (s.size == 2 && encloses_origin(s.vertex[0].point, s.vertex[1].point, w.point)) {
      end = GjkLoop::End::overlapping;
      break;
    }
    s.push(w);
    if (s.size == 2) {
      s1d(s, 0, 1);
    } else if (s2d(s)) {
      break;  // enclosed, but not beyond the rounding
    }
  }
  return {end, s, d, along, k};
}

}  // namespace gjk
