// SPDX-FileCopyrightText: gjk_collision contributors
// SPDX-License-Identifier: Apache-2.0
// The polygon of a case as a shape in its own frame and a transform into the world: what rows with
// transforms are given. Sine and cosine are part of the transform, so no row computes them.
#pragma once

#include <vector>

#include "gjk/shape/hull.hpp"
#include "gjk/shape/pose.hpp"
#include "polygons.hpp"

namespace bench {

struct Posed {
  gjk::verify::Polygon local;
  gjk::Transform at;
};

// About the mean of the vertices, at a heading that the coordinates determine. The way back is
// rounded by about 1e-14 m; the hull removes a vertex that this dents.
inline Posed posed(const gjk::verify::Polygon& world) {
  gjk::Vec2 mean;
  for (int i = 0; i < world.size(); ++i) mean = mean + world.vertex(i);
  mean = (1.0 / world.size()) * mean;
  Posed result;
  result.at = gjk::Transform::from_pose({mean.x, mean.y, std::fmod(1e4 * mean.x, 3.0)});
  std::vector<gjk::Vec2> vertices;
  for (int i = 0; i < world.size(); ++i) {
    vertices.push_back(result.at.rotate_back(world.vertex(i) - mean));
  }
  for (const gjk::Vec2 v : gjk::convex_hull(vertices)) result.local.add(v);
  return result;
}

}  // namespace bench
