// SPDX-FileCopyrightText: gjk_collision contributors
// SPDX-License-Identifier: Apache-2.0
// Random convex polygons.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "gjk/shape/convex.hpp"
#include "gjk/shape/points.hpp"
#include "gjk/shape/vec2.hpp"
#include "random.hpp"

namespace gjk::verify {

// Vertices counter-clockwise, m.
struct Polygon {
  std::vector<double> x;
  std::vector<double> y;

  int size() const { return static_cast<int>(x.size()); }
  Vec2 vertex(int i) const {
    return {x[static_cast<std::size_t>(i)], y[static_cast<std::size_t>(i)]};
  }
  void add(Vec2 p) {
    x.push_back(p.x);
    y.push_back(p.y);
  }
  Convex view(double radius = 0.0) const {
    return Convex::view(x.data(), y.data(), size(), radius);
  }
  Hull hull(double radius = 0.0) const { return {x.data(), y.data(), size(), radius}; }
};

// Valtr's uniformly random convex polygon (P. Valtr, "Probability that n random points are in
// convex position", 1995), `n` >= 3 vertices, scaled to the box [0, width] x [0, height].
inline Polygon valtr(int n, double width, double height, Random& random) {
  // Two chains between the extremes split the sorted coordinates; their steps are edge vectors.
  const auto steps = [&] {
    std::vector<double> sorted(static_cast<std::size_t>(n));
    for (double& value : sorted) value = random.uniform();
    std::sort(sorted.begin(), sorted.end());
    std::vector<double> result;
    double top = sorted.front();
    double bottom = sorted.front();
    for (std::size_t i = 1; i + 1 < sorted.size(); ++i) {
      double& end = random.chance(0.5) ? top : bottom;
      result.push_back(&end == &top ? sorted[i] - end : end - sorted[i]);
      end = sorted[i];
    }
    result.push_back(sorted.back() - top);
    result.push_back(bottom - sorted.back());
    return result;
  };
  const std::vector<double> dx = steps();
  std::vector<double> dy = steps();
  random.shuffle(dy);
  std::vector<Vec2> edges;
  for (std::size_t i = 0; i < dx.size(); ++i) edges.push_back({dx[i], dy[i]});
  // By angle from -pi, without a libm that differs between machines.
  std::sort(edges.begin(), edges.end(), [](Vec2 a, Vec2 b) {
    const auto upper = [](Vec2 v) { return v.y > 0.0 || (v.y == 0.0 && v.x > 0.0); };
    if (upper(a) != upper(b)) return upper(b);
    return cross(a, b) > 0.0;
  });
  std::vector<Vec2> points;
  Vec2 at;
  Vec2 low;
  Vec2 high;
  for (const Vec2 edge : edges) {
    at = at + edge;
    low = {std::min(low.x, at.x), std::min(low.y, at.y)};
    high = {std::max(high.x, at.x), std::max(high.y, at.y)};
    points.push_back(at);
  }
  Polygon polygon;
  for (const Vec2 p : points) {
    polygon.add(
        {(p.x - low.x) / (high.x - low.x) * width, (p.y - low.y) / (high.y - low.y) * height});
  }
  return polygon;
}

// Turned by the angle of the unit vector `heading`, then moved by `t`.
inline Polygon placed(const Polygon& polygon, Vec2 heading, Vec2 t) {
  Polygon result;
  for (int i = 0; i < polygon.size(); ++i) {
    const Vec2 p = polygon.vertex(i);
    result.add(Vec2{heading.x * p.x - heading.y * p.y, heading.y * p.x + heading.x * p.y} + t);
  }
  return result;
}

}  // namespace gjk::verify
