// SPDX-FileCopyrightText: gjk_collision contributors
// SPDX-License-Identifier: Apache-2.0
// Gradients of signed distances against central differences of an independent computation of the
// distance: in long double, by enumeration of vertices and edges, and by the separating axes.
#include "gjk/scene/gradient.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "gjk/motion/prediction.hpp"
#include "gjk/scene/scene.hpp"
#include "gjk/shape/hull.hpp"

namespace gjk::gradient_test {
namespace {

using Real = long double;
struct Point {
  Real x, y;
};
using Polygon = std::vector<Point>;

Point operator-(Point a, Point b) { return {a.x - b.x, a.y - b.y}; }
Real dot(Point a, Point b) { return a.x * b.x + a.y * b.y; }

struct Body {
  std::vector<std::vector<Vec2>> parts;
  double radius = 0.0;

  Shape shape() const {
    Shape made;
    for (const std::vector<Vec2>& part : parts) made.add_part(part, radius);
    return made;
  }
  double reach() const {
    double most = 0.0;
    for (const auto& part : parts) {
      for (const Vec2 v : part) most = std::max(most, norm(v));
    }
    return most + radius;
  }
};

Polygon placed(const std::vector<Vec2>& part, Real x, Real y, Real yaw) {
  const Real c = std::cos(yaw), s = std::sin(yaw);
  Polygon result;
  for (const Vec2 v : part) {
    result.push_back({c * v.x - s * v.y + x, s * v.x + c * v.y + y});
  }
  return result;
}

// Largest gap along an outer normal of an edge of p.
Real gap_along_edges(const Polygon& p, const Polygon& q) {
  Real most = -std::numeric_limits<Real>::infinity();
  for (std::size_t i = 0; i < p.size() && p.size() > 1; ++i) {
    const Point edge = p[(i + 1) % p.size()] - p[i];
    const Real length = std::hypot(edge.x, edge.y);
    Real least = std::numeric_limits<Real>::infinity();
    for (const Point v : q) {
      const Point d = v - p[i];
      least = std::min(least, (edge.y * d.x - edge.x * d.y) / length);
    }
    most = std::max(most, least);
  }
  return most;
}

Real vertices_to_edges(const Polygon& p, const Polygon& q) {
  Real least = std::numeric_limits<Real>::infinity();
  for (std::size_t i = 0; i < p.size(); ++i) {
    const Point edge = p[(i + 1) % p.size()] - p[i];
    for (const Point v : q) {
      const Point d = v - p[i];
      const Real square = dot(edge, edge);
      const Real share = square > 0 ? std::clamp(dot(edge, d) / square, Real{0}, Real{1}) : 0;
      least = std::min(least, std::hypot(d.x - share * edge.x, d.y - share * edge.y));
    }
  }
  return least;
}

Real signed_distance(const Polygon& p, const Polygon& q) {
  if (p.size() == 1 && q.size() == 1) return vertices_to_edges(p, q);
  const Real gap = std::max(gap_along_edges(p, q), gap_along_edges(q, p));
  return gap > 0 ? std::min(vertices_to_edges(p, q), vertices_to_edges(q, p)) : gap;
}

struct Case {
  Body ego;
  std::vector<Body> obstacles;
  std::vector<Pose> poses;
  std::vector<Velocity> velocities;

  Real distance(std::size_t i, Real x, Real y, Real yaw, Real time) const {
    Real least = std::numeric_limits<Real>::infinity();
    const Pose& at = poses[i];
    const Velocity& v = velocities[i];
    for (const auto& mine : ego.parts) {
      for (const auto& its : obstacles[i].parts) {
        least = std::min(least, signed_distance(placed(mine, x, y, yaw),
                                                placed(its, at.x + time * v.x, at.y + time * v.y,
                                                       at.yaw + time * v.yaw)));
      }
    }
    return least - ego.radius - obstacles[i].radius;
  }
  std::vector<Real> distances(Real x, Real y, Real yaw, Real time) const {
    std::vector<Real> all;
    for (std::size_t i = 0; i < poses.size(); ++i) all.push_back(distance(i, x, y, yaw, time));
    std::sort(all.begin(), all.end());
    return all;
  }
  Scene scene() const {
    Scene made;
    for (std::size_t i = 0; i < poses.size(); ++i) {
      std::vector<Piece> pieces;
      append_prediction({poses[i], velocities[i], {}, {}}, {.horizon = 10.0}, pieces);
      made.add(obstacles[i].shape(), poses[i], pieces);
    }
    made.build();
    return made;
  }
};

class Maker {
 public:
  explicit Maker(unsigned seed) : random_(seed) {}

  double real(double low, double high) {
    return std::uniform_real_distribution<double>(low, high)(random_);
  }
  int integer(int low, int high) { return std::uniform_int_distribution<int>(low, high)(random_); }
  std::vector<Vec2> polygon(int points, double size, Vec2 at) {
    std::vector<Vec2> all;
    for (int i = 0; i < points; ++i) {
      all.push_back({at.x + real(-size, size), at.y + real(-size, size)});
    }
    return convex_hull(all);
  }
  Body body() {
    Body made;
    const int parts = integer(0, 2) == 0 ? integer(2, 3) : 1;
    const double size = std::exp(real(-2.0, 1.5));
    for (int k = 0; k < parts; ++k) {
      const Vec2 at{real(-size, size), real(-size, size)};
      made.parts.push_back(polygon(integer(1, 9), size, at));
    }
    if (integer(0, 1) == 0 || (parts == 1 && made.parts[0].size() < 3)) {
      made.radius = real(0.0, 0.7) * size;
    }
    return made;
  }
  Case scene(int obstacles) {
    Case made;
    made.ego = body();
    for (int i = 0; i < obstacles; ++i) {
      made.obstacles.push_back(body());
      made.poses.push_back({real(-6, 6), real(-6, 6), real(-4, 4)});
      made.velocities.push_back({real(-3, 3), real(-3, 3), real(-2, 2)});
    }
    return made;
  }

 private:
  std::mt19937_64 random_;
};

int cases() {
  const char* const wanted = std::getenv("GJK_CASES");
  return wanted != nullptr ? std::stoi(wanted) : 300;
}

// Everything that gradients() promises, at random poses among a few obstacles that move and turn.
TEST(Gradient, is_the_central_difference) {
  Maker maker(16);
  int smooth = 0, all = 0, deep = 0, apart = 0;
  for (int n = 0; n < cases(); n += 10) {
    const Case scene = maker.scene(maker.integer(1, 4));
    const Scene made = scene.scene();
    const Shape ego = scene.ego.shape();
    const std::size_t k = static_cast<std::size_t>(maker.integer(1, 3));
    GradientQuery query(made, ego, k);
    std::vector<Gradient> found(k);
    const double reach = std::max(1.0, scene.ego.reach());
    for (int m = 0; m < 10; ++m) {
      const Pose pose{maker.real(-6, 6), maker.real(-6, 6), maker.real(-4, 4)};
      const double time = maker.real(0.01, 2.0);
      ASSERT_EQ(query.at(pose, time, found), Status::success);
      const auto at = [&](Real dx, Real dy, Real dyaw, Real dt) {
        return scene.distances(pose.x + dx, pose.y + dy, pose.yaw + dyaw, time + dt);
      };
      const std::vector<Real> here = at(0, 0, 0, 0);
      for (std::size_t j = 0; j < std::min(k, here.size()); ++j) {
        const Gradient& g = found[j];
        SCOPED_TRACE("case " + std::to_string(n) + ", pose " + std::to_string(m) + ", rank " +
                     std::to_string(j));
        ASSERT_NEAR(g.distance, static_cast<double>(here[j]), 1e-9);
        ASSERT_LE(g.lower_bound, static_cast<double>(here[j]) + 1e-15);
        ASSERT_TRUE(std::isfinite(g.by_x) && std::isfinite(g.by_y) && std::isfinite(g.by_yaw) &&
                    std::isfinite(g.rate));
        ASSERT_NEAR(std::hypot(g.by_x, g.by_y), 1.0, 1e-12);
        ++all;
        smooth += static_cast<int>(g.smooth);
        if (!g.smooth || std::fabs(g.distance) < 0.01) continue;
        (g.distance < 0.0 ? deep : apart) += 1;
        for (const Real h : {Real{1e-7}, Real{0.9e-6}}) {
          const auto slope = [&](Real dx, Real dy, Real dyaw, Real dt) {
            const Real ahead = at(h * dx, h * dy, h * dyaw, h * dt)[j];
            const Real behind = at(-h * dx, -h * dy, -h * dyaw, -h * dt)[j];
            // A feature that changes within h shows as a bend.
            EXPECT_LT(std::fabs(ahead - 2 * here[j] + behind) / h, 1e-7 + 2e3 * h * reach * reach);
            return static_cast<double>((ahead - behind) / (2 * h));
          };
          const double speed = std::max(1.0, 5.0 + 2.0 * scene.obstacles[0].reach());
          ASSERT_NEAR(g.by_x, slope(1, 0, 0, 0), 1e-6);
          ASSERT_NEAR(g.by_y, slope(0, 1, 0, 0), 1e-6);
          ASSERT_NEAR(g.by_yaw, slope(0, 0, 1, 0), 1e-6 * reach);
          ASSERT_NEAR(g.rate, slope(0, 0, 0, 1), 1e-6 * speed);
        }
      }
      for (std::size_t j = here.size(); j < k; ++j) {
        EXPECT_EQ(found[j].obstacle, -1);
        EXPECT_TRUE(std::isnan(found[j].distance) && std::isnan(found[j].rate));
        EXPECT_FALSE(found[j].smooth);
      }
    }
  }
  EXPECT_GT(smooth, 0.95 * all);
  RecordProperty("smooth_per_mille", 1000 * smooth / all);
  EXPECT_GT(deep, all / 10);
  EXPECT_GT(apart, all / 4);
}

}  // namespace
}  // namespace gjk::gradient_test
