// SPDX-FileCopyrightText: gjk_collision contributors
// SPDX-License-Identifier: Apache-2.0
//
// The footprint check of a costmap, as a peer of bench/mppi.py, which loads this library with
// ctypes. It follows the documentation of nav2's CostCritic with `consider_footprint`: the cost at
// the centre of the robot decides whether its outline can touch an obstacle; if so, the cells under
// the edges of the footprint are looked up.
#include <cmath>
#include <cstdint>
#include <cstdlib>

namespace {

constexpr std::uint8_t lethal = 254;
constexpr int max_vertices = 64;

struct Costmap {
  const std::uint8_t* costs;  // row by row, the first row at the origin
  int width, height;
  float origin_x, origin_y, cells_per_metre;

  bool inside(int x, int y) const { return x >= 0 && x < width && y >= 0 && y < height; }
  std::uint8_t at(int x, int y) const { return costs[y * width + x]; }
  int column(float x) const {
    return static_cast<int>(std::floor((x - origin_x) * cells_per_metre));
  }
  int row(float y) const { return static_cast<int>(std::floor((y - origin_y) * cells_per_metre)); }
};

// Bresenham's line between two cells of the map: whether a cell of it is occupied.
bool line_hits(const Costmap& map, int x, int y, int to_x, int to_y) {
  const int dx = std::abs(to_x - x), dy = -std::abs(to_y - y);
  const int step_x = x < to_x ? 1 : -1, step_y = y < to_y ? 1 : -1;
  int error = dx + dy;
  while (true) {
    if (map.at(x, y) == lethal) return true;
    if (x == to_x && y == to_y) return false;
    const int twice = 2 * error;
    if (twice >= dy) {
      error += dy;
      x += step_x;
    }
    if (twice <= dx) {
      error += dx;
      y += step_y;
    }
  }
}

// Whether a footprint has an edge over an occupied cell, or leaves the map.
bool footprint_hits(const Costmap& map, const float* footprint, int n, const float* pose) {
  const float c = std::cos(pose[2]), s = std::sin(pose[2]);
  int xs[max_vertices], ys[max_vertices];
  for (int i = 0; i < n; ++i) {
    const float x = footprint[2 * i], y = footprint[2 * i + 1];
    xs[i] = map.column(pose[0] + c * x - s * y);
    ys[i] = map.row(pose[1] + s * x + c * y);
    if (!map.inside(xs[i], ys[i])) return true;
  }
  for (int i = 0, last = n - 1; i < n; last = i++) {
    if (line_hits(map, xs[last], ys[last], xs[i], ys[i])) return true;
  }
  return false;
}

}  // namespace

// Check poses (trajectories, steps, 3), each `stride`-th of a trajectory. `hits` gets 1 for the
// poses in collision. With `stop`, a trajectory ends at its first one. Return the sum of the costs
// at the centres of the robot.
extern "C" double raster_check(const std::uint8_t* costs, int width, int height, double origin_x,
                               double origin_y, double resolution, const float* footprint, int n,
                               int possible, const float* poses, std::int64_t trajectories,
                               std::int64_t steps, std::int64_t stride, bool stop,
                               std::uint8_t* hits) {
  const Costmap map{costs,
                    width,
                    height,
                    static_cast<float>(origin_x),
                    static_cast<float>(origin_y),
                    static_cast<float>(1.0 / resolution)};
  if (n > max_vertices) std::abort();
  double sum = 0.0;
  for (std::int64_t i = 0; i < trajectories; ++i) {
    for (std::int64_t j = 0; j < steps; j += stride) {
      const float* pose = poses + 3 * (i * steps + j);
      const int x = map.column(pose[0]), y = map.row(pose[1]);
      const bool inside = map.inside(x, y);
      const int cost = inside ? map.at(x, y) : lethal;
      const bool hit = !inside || (cost >= possible && footprint_hits(map, footprint, n, pose));
      hits[i * steps + j] = hit;
      if (hit && stop) break;
      sum += cost;
    }
  }
  return sum;
}
