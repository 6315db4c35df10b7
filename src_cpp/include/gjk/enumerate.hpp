// SPDX-FileCopyrightText: gjk_collision contributors
// SPDX-License-Identifier: Apache-2.0
// The distance of quadrilaterals: of all vertices from all edges, without a branch. That is sooner
// done than a search, and boxes are what most obstacles are.
#pragma once

#include <cmath>

#include "gjk/cap.hpp"
#include "gjk/convex.hpp"
#include "gjk/vec2.hpp"
#include "gjk/verdict.hpp"
#include "gjk/view.hpp"

namespace gjk {

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

}  // namespace gjk
