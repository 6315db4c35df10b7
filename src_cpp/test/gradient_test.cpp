// SPDX-FileCopyrightText: gjk_collision contributors
// SPDX-License-Identifier: Apache-2.0
// Gradients of signed distances against central differences of the distances of nearest(), which
// gjk_verify compares with the truth.
#include "gjk/scene/gradient.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <random>
#include <string>
#include <vector>

#include "gjk/arithmetic.hpp"
#include "gjk/motion/motion.hpp"
#include "gjk/motion/prediction.hpp"
#include "gjk/scene/scene.hpp"
#include "gjk/shape/hull.hpp"

namespace gjk::gradient_test {
namespace {

class Maker {
 public:
  double real(double low, double high) {
    return std::uniform_real_distribution<double>(low, high)(random_);
  }
  int integer(int low, int high) { return std::uniform_int_distribution<int>(low, high)(random_); }
  Pose pose() { return {real(-6, 6), real(-6, 6), real(-4, 4)}; }
  // Of one to three parts. Points and segments have a radius.
  Shape shape() {
    const int parts = integer(0, 2) == 0 ? integer(2, 3) : 1;
    const double size = std::exp(real(-2.0, 1.5));
    std::vector<std::vector<Vec2>> hulls;
    for (int k = 0; k < parts; ++k) {
      const Vec2 at{real(-size, size), real(-size, size)};
      std::vector<Vec2> points;
      for (int i = integer(1, 9); i > 0; --i) {
        points.push_back({at.x + real(-size, size), at.y + real(-size, size)});
      }
      hulls.push_back(convex_hull(points));
    }
    const bool is_round = integer(0, 1) == 0 || (parts == 1 && hulls[0].size() < 3);
    const double radius = is_round ? real(0.0, 0.7) * size : 0.0;
    Shape made;
    for (const std::vector<Vec2>& hull : hulls) made.add_part(hull, radius);
    return made;
  }
  // Obstacles that move and turn.
  Scene scene(int obstacles) {
    Scene made;
    for (int i = 0; i < obstacles; ++i) {
      const Pose at = pose();
      std::vector<Piece> pieces;
      append_prediction({at, {real(-3, 3), real(-3, 3), real(-2, 2)}, {}, {}}, {.horizon = 10.0},
                        pieces);
      made.add(shape(), at, pieces);
    }
    made.build();
    return made;
  }

 private:
  std::mt19937_64 random_{16};
};

double reach_of(const auto& shape) {
  double most = 0.0;
  for (int k = 0; k < shape.parts(); ++k) {
    most = std::max(most, reach(shape.part(k)) + shape.part(k).radius);
  }
  return most;
}

// Everything that gradients() promises, at random poses among a few obstacles that move and turn.
TEST(Gradient, is_the_central_difference) {
  Maker maker;
  int smooth = 0, all = 0, deep = 0, apart = 0;
  for (int n = 0; n < 60; ++n) {
    const Shape shape = maker.shape();
    const Scene scene = maker.scene(maker.integer(1, 4));
    const std::size_t k = static_cast<std::size_t>(maker.integer(1, 3));
    GradientQuery query(scene, shape, k);
    Scene::Ego ego(shape);
    std::vector<Gradient> found(k);
    const double reach = std::max(1.0, reach_of(shape));
    const double speed = 5.0 + 2.0 * reach_of(scene.obstacles().outlines().shape(0));
    for (int m = 0; m < 10; ++m) {
      const Pose pose = maker.pose();
      const double time = maker.real(0.01, 2.0);
      ASSERT_EQ(query.at(pose, time, found), Status::success);
      const auto at = [&](double dx, double dy, double dyaw, double dt) {
        std::vector<Nearest> nearest;
        EXPECT_EQ(scene.nearest(ego, {pose.x + dx, pose.y + dy, pose.yaw + dyaw}, time + dt,
                                scene.size(), kInfinity, nearest),
                  Status::success);
        return nearest;
      };
      const std::vector<Nearest> here = at(0, 0, 0, 0);
      for (std::size_t j = 0; j < std::min(k, here.size()); ++j) {
        const Gradient& g = found[j];
        SCOPED_TRACE("case " + std::to_string(n) + ", pose " + std::to_string(m) + ", rank " +
                     std::to_string(j));
        const double distance = here[j].closest.distance;
        ASSERT_NEAR(g.distance, distance, 1e-9);
        ASSERT_LE(g.lower_bound, distance + 1e-15);
        ASSERT_TRUE(std::isfinite(g.by_x) && std::isfinite(g.by_y) && std::isfinite(g.by_yaw) &&
                    std::isfinite(g.rate));
        ASSERT_NEAR(std::hypot(g.by_x, g.by_y), 1.0, 1e-12);
        ++all;
        smooth += static_cast<int>(g.smooth);
        if (!g.smooth || std::fabs(g.distance) < 0.01) continue;
        (g.distance < 0.0 ? deep : apart) += 1;
        for (const double h : {1e-7, 0.9e-6}) {
          const auto slope = [&](double dx, double dy, double dyaw, double dt) {
            const double ahead = at(h * dx, h * dy, h * dyaw, h * dt)[j].closest.distance;
            const double behind = at(-h * dx, -h * dy, -h * dyaw, -h * dt)[j].closest.distance;
            // A feature that changes within h shows as a bend.
            EXPECT_LT(std::fabs(ahead - 2 * distance + behind) / h, 1e-7 + 2e3 * h * reach * reach);
            return (ahead - behind) / (2 * h);
          };
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
  EXPECT_GT(deep, all / 15);
  EXPECT_GT(apart, all / 4);
}

}  // namespace
}  // namespace gjk::gradient_test
