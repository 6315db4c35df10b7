// SPDX-FileCopyrightText: gjk_collision contributors
// SPDX-License-Identifier: Apache-2.0
// Level 2 for one part of an obstacle and up to eight poses of the ego near each other: signed
// distances in double precision, with a pose in each lane.
//
// All edges of both outlines are compared with all vertices of the other one. If the largest gap
// along a normal of an edge is positive, the distance is that of the nearest edge and vertex; if it
// is negative, this gap is the distance. The result proposes a direction. The gap along it, over
// all vertices of both, is a certified lower bound (Certificate::along()). If both disagree, as
// they may near contact and for outlines with very short edges, the distance is not known, and the
// query of one pose answers.
#pragma once

#include <cmath>
#include <limits>

#include "gjk/certificate.hpp"
#include "gjk/narrow/view.hpp"
#include "gjk/shape/convex.hpp"
#include "gjk/shape/pose.hpp"
#include "gjk/shape/vec2.hpp"
#include "gjk/simd/lanes.hpp"

namespace gjk {

inline constexpr int kDistanceLanes = 8;

// The transforms to up to eight poses. All are rotated.
struct LaneTransforms {
  double cos[kDistanceLanes];
  double sin[kDistanceLanes];
  double x[kDistanceLanes];  // m
  double y[kDistanceLanes];
};

// The vertices (m) of a part at the poses, as Transform::apply() places them.
struct LaneOutline {
  static constexpr int kMost = 64;  // vertices

  int size = 0;
  double inverse[kMost];  // 1/m^2, of the squared lengths of the edges; 0: too short
  double x[kMost][kDistanceLanes];
  double y[kMost][kDistanceLanes];
};

// What is known of a pair of outlines at each pose.
struct LaneDistances {
  // m^2. Square of the distance of the nearest edge and vertex; if the outlines overlap, minus the
  // square of the largest gap along a normal of an edge.
  double squared[kDistanceLanes];
  double towards_x[kDistanceLanes];  // direction from the ego to the obstacle, of any length
  double towards_y[kDistanceLanes];
  // Extents along this direction and against it, relative to the position of the pose.
  double most_p[kDistanceLanes];
  double size_p[kDistanceLanes];
  double most_q[kDistanceLanes];
  double size_q[kDistanceLanes];
};

// The signed distance (m) of two outlines at one pose, without radii and errors, as proposed.
struct OutlineDistance {
  double upper;
  double tolerance;  // m, far above the rounding errors
  bool is_contact;   // the sign of the distance may be wrong
  Span of_p;
  Span of_q;
  Vec2 towards;

  OutlineDistance(const LaneDistances& lanes, int k) noexcept
      : of_p{lanes.most_p[k], lanes.size_p[k]},
        of_q{lanes.most_q[k], lanes.size_q[k]},
        towards{lanes.towards_x[k], lanes.towards_y[k]} {
    const double size = of_p.size + of_q.size;
    const double distance = std::copysign(std::sqrt(std::fabs(lanes.squared[k])), lanes.squared[k]);
    // The rounding errors are below 24 u size, as in bounds_by_enumeration().
    upper = distance + 24.0 * kUnitRoundoff * size + 8.0 * kUnitRoundoff * std::fabs(distance);
    tolerance = 0x1p-45 * size;
    is_contact = !(std::fabs(distance) > 0x1p-24 * size);
  }
};

// The distances of one instruction set; see distance_lanes.inc.
template <class Set>
struct DistanceLanesOf;

}  // namespace gjk

#define GJK_SIMD_FILE "gjk/narrow/distance_lanes.inc"
#include "gjk/simd/each_set.hpp"
