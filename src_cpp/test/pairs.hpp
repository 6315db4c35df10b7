// SPDX-FileCopyrightText: gjk_collision contributors
// SPDX-License-Identifier: Apache-2.0
// Random convex outlines for the tests: on an integer grid, so that __int128 holds the truth.
#pragma once

#include <algorithm>
#include <cstdint>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "gjk/shape/convex.hpp"
#include "gjk/shape/shape.hpp"

namespace gjk::test {

__extension__ typedef __int128 Integer;  // a typedef, since only it can carry __extension__

struct Outline {
  std::vector<double> x;
  std::vector<double> y;

  int size() const { return static_cast<int>(x.size()); }
  Convex convex(double radius = 0.0) const {
    return Convex::view(x.data(), y.data(), size(), radius);
  }
  Integer ix(int i) const { return static_cast<Integer>(x[static_cast<std::size_t>(i)]); }
  Integer iy(int i) const { return static_cast<Integer>(y[static_cast<std::size_t>(i)]); }

  std::string literal() const {
    std::ostringstream text;
    text.precision(17);
    for (std::size_t i = 0; i < x.size(); ++i) text << "(" << x[i] << ", " << y[i] << ") ";
    return text.str();
  }
};

inline Shape shape_of(const Outline& outline, double radius = 0.0) {
  std::vector<Vec2> vertices;
  for (int i = 0; i < outline.size(); ++i) vertices.push_back(outline.convex().vertex(i));
  Shape shape;
  shape.add_part(vertices, radius);
  return shape;
}

inline Integer area(Integer ax, Integer ay, Integer bx, Integer by, Integer cx, Integer cy) {
  return (bx - ax) * (cy - ay) - (by - ay) * (cx - ax);
}

// Hull of random points of the grid [x0, x0 + size] x [y0, y0 + size]: one to `points` vertices,
// counter-clockwise, strictly convex.
inline Outline random_outline(std::mt19937_64& random, int points, std::int64_t size,
                              std::int64_t x0 = 0, std::int64_t y0 = 0) {
  std::uniform_int_distribution<std::int64_t> coordinate(0, size);
  std::vector<std::pair<Integer, Integer>> all;
  for (int i = 0; i < points; ++i) {
    const std::int64_t x = x0 + coordinate(random);
    all.emplace_back(x, y0 + coordinate(random));
  }
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  std::vector<std::pair<Integer, Integer>> ring;
  for (int sweep = 0; sweep < 2 && all.size() > 1; ++sweep) {
    const std::size_t start = ring.size();
    for (const auto& p : all) {
      while (ring.size() > start + 1) {
        const auto& a = ring[ring.size() - 2];
        const auto& b = ring.back();
        if (area(a.first, a.second, b.first, b.second, p.first, p.second) > 0) break;
        ring.pop_back();
      }
      ring.push_back(p);
    }
    ring.pop_back();  // the first of the other sweep
    std::reverse(all.begin(), all.end());
  }
  if (ring.empty()) ring = all;
  Outline outline;
  for (const auto& p : ring) {
    outline.x.push_back(static_cast<double>(p.first));
    outline.y.push_back(static_cast<double>(p.second));
  }
  return outline;
}

// The truth by separating axes, in integers: normals and directions of all edges, and one
// difference of vertices for two points.
inline bool disjoint(const Outline& p, const Outline& q) {
  const auto separates = [&](Integer dx, Integer dy) {
    const auto range = [&](const Outline& o) {
      Integer low = dx * o.ix(0) + dy * o.iy(0);
      Integer high = low;
      for (int i = 1; i < o.size(); ++i) {
        const Integer along = dx * o.ix(i) + dy * o.iy(i);
        low = std::min(low, along);
        high = std::max(high, along);
      }
      return std::pair{low, high};
    };
    const auto [p_low, p_high] = range(p);
    const auto [q_low, q_high] = range(q);
    return p_high < q_low || q_high < p_low;
  };
  if (separates(p.ix(0) - q.ix(0), p.iy(0) - q.iy(0))) return true;
  for (const Outline* o : {&p, &q}) {
    for (int i = 0; i < o->size(); ++i) {
      const int next = (i + 1) % o->size();
      const Integer dx = o->ix(next) - o->ix(i);
      const Integer dy = o->iy(next) - o->iy(i);
      if (separates(dx, dy) || separates(-dy, dx)) return true;
    }
  }
  return false;
}

}  // namespace gjk::test
