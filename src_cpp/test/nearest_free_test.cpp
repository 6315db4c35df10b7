// SPDX-FileCopyrightText: gjk_collision contributors
// SPDX-License-Identifier: Apache-2.0
#include "gjk/scene/nearest_free.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "gjk/scene/ray_cast.hpp"

namespace gjk::nearest_free_test {
namespace {

Shape circle(double radius) {
  Shape shape;
  shape.add_part(std::vector<Vec2>{{0.0, 0.0}}, radius);
  return shape;
}

Scene circles(std::mt19937& generator, int count, double radius, std::vector<Vec2>& centers) {
  std::uniform_real_distribution<double> in(-4.0, 4.0);
  Scene scene;
  for (int i = 0; i < count; ++i) {
    centers.push_back({in(generator), in(generator)});
    scene.add(circle(radius), {centers.back().x, centers.back().y, 0.0});
  }
  scene.build();
  return scene;
}

// Teeth along y, 1 m wide and 1 m apart, of `count` parts.
Shape comb(int count) {
  Shape shape;
  for (int i = 0; i < count; ++i) {
    const double x = 2.0 * i;
    shape.add_part(std::vector<Vec2>{{x, 0.0}, {x + 1.0, 0.0}, {x + 1.0, 20.0}, {x, 20.0}}, 0.0);
  }
  return shape;
}

TEST(NearestFree, the_work_for_a_vehicle_of_many_parts_is_bounded) {
  // Else each cell compares all pairs of parts, and the number of cells alone is bounded.
  const Shape ego = comb(60);
  Scene scene;
  scene.add(ego, {0.3, 0.5, 0.0});
  scene.build();
  NearestFreeQuery query(scene, ego);
  NearestFreeOptions options;
  options.max_shift = 200.0;
  options.max_turn = 3.0;
  options.most_parts = 100'000;
  const NearestFree found = query.at({}, options);
  EXPECT_EQ(found.status, Status::success);
  if (found.pose) {
    Scene::Ego placed(ego);
    EXPECT_TRUE(is_free(scene.check(placed, *found.pose, CheckOptions{}).verdict));
  }
  // What is begun is finished: the pairs of one cell, and a few checks.
  EXPECT_GE(query.work(), 100'000U);
  EXPECT_LE(query.work(), 100'000U + 60U * 60U + 100U * 60U);
}

TEST(NearestFree, answers_have_a_status) {
  Scene empty;
  empty.build();
  const Shape ego = circle(0.4);
  NearestFreeOptions options;
  EXPECT_TRUE(NearestFreeQuery(empty, ego).at({1.0, 2.0, 3.0}, options).pose.has_value());
  const double nan = std::nan("");
  EXPECT_EQ(NearestFreeQuery(empty, ego).at({nan, 0.0, 0.0}, options).status,
            Status::invalid_input);
  Scene scene;
  scene.add(circle(1.0), {});
  scene.build();
  options.max_shift = 5.0;
  EXPECT_EQ(NearestFreeQuery(scene, ego).at({}, 1.0, options).status, Status::prediction_too_short);
  EXPECT_EQ(NearestFreeQuery(scene, ego).at({nan, 0.0, 0.0}, options).status,
            Status::invalid_input);
}

TEST(RayCast, distances_are_those_to_circles) {
  std::mt19937 generator(4);
  std::uniform_real_distribution<double> turn(-3.2, 3.2);
  int hits = 0;
  for (int n = 0; n < 2000; ++n) {
    std::vector<Vec2> centers;
    const Scene scene = circles(generator, n % 30, 0.3, centers);
    const double angle = turn(generator);
    const Vec2 along{std::cos(angle), std::sin(angle)};
    double truth = std::numeric_limits<double>::infinity();
    for (const Vec2 c : centers) {
      const double beside = cross(along, c);
      if (std::fabs(beside) > 0.3) continue;
      const double half = std::sqrt(0.09 - beside * beside);
      if (dot(along, c) + half < 0.0) continue;
      truth = std::fmin(truth, std::fmax(0.0, dot(along, c) - half));
    }
    const RayHit hit = RayCaster(scene, {}).cast(along, 9.0, 1e-9);
    ASSERT_EQ(hit.status, Status::success) << n;
    EXPECT_EQ(hit.verdict == Verdict::collision, truth < 9.0) << n;
    if (hit.verdict != Verdict::collision) continue;
    ++hits;
    EXPECT_LE(hit.distance, truth + 1e-12);
    EXPECT_NEAR(hit.distance, truth, 1e-6);
    EXPECT_GE(hit.obstacle, 0);
  }
  EXPECT_GT(hits, 500);
}

// A rod from (0, 0) to (3, 0) with a radius of 0.2 m, and circles beside it. It is free of a circle
// at the distance d and bearing b if |sin(yaw - b)| d > the sum of the radii.
TEST(NearestFree, turns_by_the_least_angle) {
  std::mt19937 generator(8);
  const auto in = [&](double low, double high) {
    return std::uniform_real_distribution<double>(low, high)(generator);
  };
  Shape rod;
  rod.add_part(std::vector<Vec2>{{0.0, 0.0}, {3.0, 0.0}}, 0.2);
  int moved = 0;
  for (int n = 0; n < 200; ++n) {
    Scene scene;
    std::vector<Vec2> centers;
    for (int i = 0; i < 1 + n % 4; ++i) {
      const double bearing = in(-0.8, 0.8);
      const double distance = in(1.0, 2.5);
      centers.push_back({distance * std::cos(bearing), distance * std::sin(bearing)});
      scene.add(circle(0.1), {centers.back().x, centers.back().y, 0.0});
    }
    scene.build();
    const auto is_clear = [&](double yaw) {
      for (const Vec2 c : centers) {
        const double along = c.x * std::cos(yaw) + c.y * std::sin(yaw);
        const double beside = c.y * std::cos(yaw) - c.x * std::sin(yaw);
        if (along > 0.0 && !(std::fabs(beside) > 0.3)) return false;
      }
      return true;
    };
    double least = 10.0;
    for (double yaw = 0.0; yaw <= 1.2 && least > 9.0; yaw += 1e-4) {
      if (is_clear(yaw) || is_clear(-yaw)) least = yaw;
    }
    NearestFreeOptions options;
    options.max_turn = 1.2;
    const NearestFree found = NearestFreeQuery(scene, rod).at({}, options);
    ASSERT_EQ(found.status, Status::success);
    ASSERT_EQ(found.pose.has_value(), least < 9.0) << n << ": " << least;
    if (!found.pose) continue;
    EXPECT_EQ(found.pose->x, 0.0);
    EXPECT_EQ(found.pose->y, 0.0);
    EXPECT_TRUE(is_clear(found.pose->yaw)) << n;
    EXPECT_LE(std::fabs(found.pose->yaw), least + 0.002) << n;
    moved += found.pose->yaw != 0.0 ? 1 : 0;
  }
  EXPECT_GT(moved, 50);
}

}  // namespace
}  // namespace gjk::nearest_free_test
