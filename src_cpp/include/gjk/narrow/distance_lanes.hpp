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

#include <cstddef>
#include <cstdint>
#include <limits>

#include "gjk/certificate.hpp"
#include "gjk/narrow/view.hpp"
#include "gjk/shape/box.hpp"
#include "gjk/shape/convex.hpp"
#include "gjk/shape/pose.hpp"
#include "gjk/shape/turn_lanes.hpp"
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

// The vertices (m) of a part at the poses, as Transform::apply() places them, less the positions of
// the poses.
struct LaneOutline {
  static constexpr int kMost = 64;  // vertices

  int size = 0;
  double inverse[kMost];  // 1/m^2, of the squared lengths of the edges; 0: too short
  double x[kMost][kDistanceLanes];
  double y[kMost][kDistanceLanes];
  double reach[kDistanceLanes];  // m, the largest |x| + |y|
};

// A part of the ego at the poses.
struct LaneEgo {
  LaneOutline outline;
  double radius = 0.0;            // m
  double error[kDistanceLanes];   // m
  double margin[kDistanceLanes];  // m, undecided()
  // The box that contains it.
  double low_x[kDistanceLanes];
  double low_y[kDistanceLanes];
  double high_x[kDistanceLanes];
  double high_y[kDistanceLanes];
};

// A part of an obstacle, and the distance that is required to it.
struct LaneObstacle {
  Box box;
  double beyond_box = 0.0;
  double radius = 0.0;
  double error = 0.0;
  double margin = 0.0;    // m, undecided()
  double required = 0.0;  // m, undecided_margin()
  std::int64_t pair = 0;  // number of this pair of parts

  LaneObstacle(const Convex& q, double distance, std::size_t number) noexcept
      : box(q.box()),
        beyond_box(q.beyond_box()),
        radius(q.radius),
        error(q.error),
        margin(undecided(q)),
        required(undecided_margin(distance)),
        pair(static_cast<std::int64_t>(number)) {}
};

// The nearest pair at each pose, of those that are certainly FREE and whose distance is known.
struct LaneNearest {
  double distance[kDistanceLanes];    // m; -infinity: the pose needs no answer
  std::int64_t pair[kDistanceLanes];  // of equal distances, the first pair
  LowerBounds<kDistanceLanes> bounds;
};

// The poses at which a pair is not certainly FREE, or its distance is not known.
struct LaneOpen {
  unsigned poses = 0;               // bit k: pose k
  unsigned known = 0;               // the distance is known
  unsigned clear = 0;               // certainly FREE
  double distance[kDistanceLanes];  // m
  double contact[kDistanceLanes];   // m. If the distance is below minus this, they overlap
  LowerBounds<kDistanceLanes> bounds;
};

// The distances of one instruction set; see distance_lanes.inc.
template <class Set>
struct DistanceLanesOf;

}  // namespace gjk

#define GJK_SIMD_FILE "gjk/narrow/distance_lanes.inc"
#include "gjk/simd/each_set.hpp"
