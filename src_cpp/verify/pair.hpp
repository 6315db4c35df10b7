// SPDX-FileCopyrightText: gjk_collision contributors
// SPDX-License-Identifier: Apache-2.0
// Two shapes and what is asked of them.
#pragma once

#include "gjk/shape/pose.hpp"
#include "polygons.hpp"

namespace gjk::verify {

// Convex, without rounding. World coordinates, or, with poses, local ones.
struct Pair {
  Polygon p;
  Polygon q;
  double p_radius = 0.0;  // m
  double q_radius = 0.0;  // m
  double margin = 0.0;    // m
  bool has_poses = false;
  Pose p_pose;
  Pose q_pose;
};

}  // namespace gjk::verify
