// SPDX-FileCopyrightText: gjk_collision contributors
// SPDX-License-Identifier: Apache-2.0
// What the extremes of two shapes say of O, and the separating axes that they leave.
//
// W = P - Q has its vertices farthest east, north, west and south for nothing: they are differences
// of those of P and Q. O beyond their bounding box is outside W, O in the quadrilateral between
// them inside. What is left are four caps, each between a side of the quadrilateral and a corner
// of the box. In a cap, O is in W if and only if it is inside W's edges from one extreme to the
// next: those of P's chain and of Q's whose normals lie between the two directions. That is a
// quarter of all edges, against a quarter of the other shape's vertices.
#pragma once

#include <cmath>
#include <cstdint>

#include "gjk/shape/convex.hpp"
#include "gjk/shape/vec2.hpp"

namespace gjk::detail {

// The vertices of P - Q farthest east, north, west and south, counter-clockwise.
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

// Twice the middle of the bounding box of P - Q.
inline Vec2 middle(const Quadrilateral& w) noexcept { return {w.x[0] + w.x[2], w.y[1] + w.y[3]}; }

// Are the bounding boxes of P and Q farther apart than `reach`, along x or y? w.x[0] is the largest
// x of P - Q, and so on. Bitwise: one branch, which separated pairs share.
inline bool boxes_apart(const Quadrilateral& w, double reach) noexcept {
  return (static_cast<int>(w.x[0] < -reach) | static_cast<int>(w.y[1] < -reach) |
          static_cast<int>(w.x[2] > reach) | static_cast<int>(w.y[3] > reach)) != 0;
}

// A cross product of differences is accurate to this times the magnitudes of its two products.
inline constexpr double kSideBound = 6.0 * kUnitRoundoff;

// Bit k: O lies inside the side from extreme k to the next, certainly, or the side has no length.
// The sides are the cross products of successive vertices.
inline unsigned inner_sides(const Quadrilateral& w, double (&side)[4]) noexcept {
  unsigned inner = 0;
  unsigned points = 0;
  for (unsigned k = 0; k < 4; ++k) {
    const unsigned next = (k + 1) & 3;
    const double left = w.x[k] * w.y[next];
    const double right = w.y[k] * w.x[next];
    side[k] = left - right;
    inner |= static_cast<unsigned>(side[k] > kSideBound * (std::fabs(left) + std::fabs(right)))
             << k;
    points |=
        (static_cast<unsigned>(w.x[k] == w.x[next]) & static_cast<unsigned>(w.y[k] == w.y[next]))
        << k;
  }
  return inner | (points & -static_cast<unsigned>(inner != 0));  // none of a single point
}

inline constexpr unsigned kAllSides = 15;

// The one or two neighbouring caps that O lies in or, by rounding, may lie in: from side `first`
// on, those of the sides that it is not inside of. 0 of them: it may lie elsewhere, as for flat
// shapes.
struct Caps {
  int first = 0;
  int count = 0;
};

inline Caps open_caps(unsigned inner) noexcept {
  constexpr Caps kOf[16] = {{}, {},     {}, {2, 2}, {},     {},     {3, 2}, {3, 1},
                            {}, {1, 2}, {}, {2, 1}, {0, 2}, {1, 1}, {0, 1}, {}};
  return kOf[inner];
}

}  // namespace gjk::detail
