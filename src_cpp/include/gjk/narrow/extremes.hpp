// SPDX-FileCopyrightText: gjk_collision contributors
// SPDX-License-Identifier: Apache-2.0
// Tests with the extreme vertices of two shapes. They also select the edges that may still
// separate.
//
// P and Q are the polygons, O is the origin. The extreme vertices of W = P - Q (largest x, largest
// y, smallest x, smallest y) are differences of those of P and Q, so they cost little. If O is
// outside their bounding box, it is outside W. If O is in the quadrilateral that they span, it is
// in W. The rest of the box consists of four caps, each between a side of the quadrilateral and a
// corner of the box. If O is in a cap, only the edges of W from one extreme to the next decide: O
// is in W exactly if it is on the inner side of all of them. These edges are those of P's and Q's
// chains (Convex::Chain) whose normals lie between the two directions. So about a quarter of all
// edges is tested, against a quarter of the other shape's vertices.
#pragma once

#include <cmath>

#include "gjk/shape/convex.hpp"
#include "gjk/shape/vec2.hpp"

namespace gjk::detail {

// The extreme vertices of P - Q, counter-clockwise: largest x, largest y, smallest x, smallest y.
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

// Twice the centre of the bounding box of P - Q.
inline Vec2 middle(const Quadrilateral& w) noexcept { return {w.x[0] + w.x[2], w.y[1] + w.y[3]}; }

// Whether the bounding boxes of P and Q are farther apart than `reach` along x or y. w.x[0] is the
// largest x of P - Q, and so on. Bitwise operators, so that there is a single branch.
inline bool boxes_apart(const Quadrilateral& w, double reach) noexcept {
  return (static_cast<int>(w.x[0] < -reach) | static_cast<int>(w.y[1] < -reach) |
          static_cast<int>(w.x[2] > reach) | static_cast<int>(w.y[3] > reach)) != 0;
}

// Error of a cross product of differences, relative to the magnitudes of its two products.
inline constexpr double kSideBound = 6.0 * kUnitRoundoff;

// Bit k: O is certainly on the inner side of the line from extreme k to the next, by more than
// `depth` (m), or the two are the same point. `side` receives the cross products of successive
// vertices.
inline unsigned inner_sides(const Quadrilateral& w, double (&side)[4],
                            double depth = 0.0) noexcept {
  unsigned inner = 0;
  unsigned points = 0;
  for (unsigned k = 0; k < 4; ++k) {
    const unsigned next = (k + 1) & 3;
    const double left = w.x[k] * w.y[next];
    const double right = w.y[k] * w.x[next];
    side[k] = left - right;
    double bound = kSideBound * (std::fabs(left) + std::fabs(right));
    if (depth > 0.0) {  // times at least the length of the side
      bound += depth * (std::fabs(w.x[k]) + std::fabs(w.x[next])) +
               depth * (std::fabs(w.y[k]) + std::fabs(w.y[next]));
    }
    inner |= static_cast<unsigned>(side[k] > bound) << k;
    points |=
        (static_cast<unsigned>(w.x[k] == w.x[next]) & static_cast<unsigned>(w.y[k] == w.y[next]))
        << k;
  }
  return inner | (points & -static_cast<unsigned>(inner != 0));  // 0 if all are one point
}

inline constexpr unsigned kAllSides = 15;

// The caps that may contain O: those of `count` adjacent sides, starting with side `first`. O is
// not certainly on the inner side of these sides. `count` is 0 if there are not one or two such
// sides next to each other, for example for flat shapes.
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
