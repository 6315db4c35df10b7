// SPDX-FileCopyrightText: gjk_collision contributors
// SPDX-License-Identifier: Apache-2.0
// Lifetimes of obstacles: when they exist, and when their poses must be known.
#include "gjk/scene/lifetimes.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>
#include <utility>

#include "gjk/scene/path.hpp"
#include "gjk/scene/scene.hpp"
#include "pairs.hpp"

namespace gjk::lifetimes_test {
namespace {

using test::shape_of;

Shape point() { return shape_of({{0.0}, {0.0}}); }

// A point at the origin that stands there from its stamp until `known` (s) after it.
Scene standing(double begin, double end, double stamp, double known, double time_error) {
  Piece piece = Piece::still({});
  piece.begin = 0.0;
  piece.end = known;
  Scene scene;
  scene.add(point(), {}, {&piece, 1}, stamp);
  scene.set_lifetimes(std::array{begin, end});
  scene.set_time_error(time_error);
  scene.build();
  return scene;
}

Verdict verdict_at(const Scene& scene, double time) {
  const Shape shape = point();
  Scene::Ego ego(shape);
  return scene.check(ego, {}, time, {}).verdict;
}

TEST(Lifetimes, hold_both_limits_and_the_error_of_the_times) {
  for (const double stamp : {0.0, 0.1, 1.7e9 + 0.3}) {
    for (const double error : {0.0, 1e-9, 1e-7, 0.25}) {
      const double end = stamp + 12.7;
      const Scene scene = standing(stamp, end, stamp, 12.7, error);
      for (const double time : {stamp, stamp - error, end, end + error, stamp + 6.0}) {
        EXPECT_EQ(verdict_at(scene, time), Verdict::collision) << stamp << ' ' << error;
      }
      const double beyond = 2.0 * error + 1e-6;
      for (const double time : {stamp - beyond, end + beyond}) {
        EXPECT_TRUE(is_free(verdict_at(scene, time))) << stamp << ' ' << error;
      }
      // While it does not exist, it need not be known. No time at a limit is unknown.
      const std::array<Pose, 2> way{Pose{5.0, 0.0, 0.0}, Pose{6.0, 0.0, 0.0}};
      const std::array times{stamp - 9.0, end + 9.0};
      EXPECT_TRUE(is_free(check_path(scene, point(), way, times, {}).verdict));
    }
  }
}

TEST(Lifetimes, of_an_obstacle_that_is_not_known_to_its_end_are_unknown) {
  const Scene scene = standing(2.0, 8.0, 1.0, 3.0, 0.0);
  const Obstacles& obstacles = scene.obstacles();
  for (const auto& [time, obstacle] : {std::pair{0.0, -1},
                                       {2.0, -1},
                                       {4.0, -1},
                                       {4.1, 0},
                                       {8.0, 0},
                                       {std::nextafter(8.0, 9.0), -1}}) {
    EXPECT_EQ(obstacles.unknown_in(obstacles.at(time)), obstacle) << time;
  }
  const Obstacles::Unknown unknown = obstacles.first_unknown(0.0, 20.0);
  EXPECT_EQ(unknown.obstacle, 0);
  EXPECT_EQ(unknown.time, std::nextafter(4.0, 5.0));
  EXPECT_EQ(obstacles.first_unknown(8.5, 20.0).obstacle, -1);
  EXPECT_EQ(obstacles.first_unknown(0.0, 4.0).obstacle, -1);
  EXPECT_EQ(verdict_at(scene, kNaN), Verdict::unknown);
}

TEST(Lifetimes, without_limits_are_none) {
  Lifetimes lifetimes;
  lifetimes.assign(2, std::array{kNaN, kNaN});
  lifetimes.update(0.5);
  EXPECT_TRUE(lifetimes.none());
  EXPECT_EQ(lifetimes.at(1).begin, -kInfinity);
  EXPECT_EQ(lifetimes.at(1).end, kInfinity);
  EXPECT_FALSE(lifetimes.change_within(0.0, 1e9));
}

}  // namespace
}  // namespace gjk::lifetimes_test
