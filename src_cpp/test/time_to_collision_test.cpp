// SPDX-FileCopyrightText: gjk_collision contributors
// SPDX-License-Identifier: Apache-2.0
#include "gjk/scene/time_to_collision.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <vector>

namespace gjk::time_to_collision_test {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

Shape box(double x, double y) {
  Shape shape;
  shape.add_part(std::vector<Vec2>{{-x, -y}, {x, -y}, {x, y}, {-x, y}}, 0.0);
  return shape;
}

Shape circle(double radius) {
  Shape shape;
  shape.add_part(std::vector<Vec2>{{0.0, 0.0}}, radius);
  return shape;
}

TEST(TimeToCollision, is_that_of_circles) {
  std::mt19937_64 generator(5);
  const auto in = [&](double low, double high) {
    return std::uniform_real_distribution<double>(low, high)(generator);
  };
  int hits = 0;
  for (int i = 0; i < 5000; ++i) {
    const Pose a{in(-9, 9), in(-9, 9), in(-3, 3)}, b{in(-9, 9), in(-9, 9), in(-3, 3)};
    const double speed = in(0, 8);
    const Velocity moving{in(-5, 5), in(-5, 5), 0.0};
    Piece piece = Piece::moving(b, moving);
    piece.begin = 0.0;
    piece.end = 1.0;  // the velocity at the time counts, not the end of the prediction
    Scene scene;
    scene.add(circle(0.7), b, {&piece, 1});
    scene.build();
    const TimeToCollision found =
        time_to_collision(scene, circle(0.5), a, {speed, 0.0, 0.0}, 0.0, {5.0, 1e-6});
    // |d + t v| = 1.2
    const long double dx = b.x - a.x, dy = b.y - a.y;
    const long double vx = moving.x - speed * std::cos(static_cast<long double>(a.yaw));
    const long double vy = moving.y - speed * std::sin(static_cast<long double>(a.yaw));
    const long double q = vx * vx + vy * vy, p = dx * vx + dy * vy;
    const long double c = dx * dx + dy * dy - 1.44L;
    const long double root = p * p - q * c;
    long double expected = std::numeric_limits<long double>::infinity();
    if (c <= 0) {
      expected = 0;
    } else if (root >= 0 && p < 0) {
      expected = (-p - std::sqrt(root)) / q;
    }
    if (expected > 5) expected = std::numeric_limits<long double>::infinity();
    ASSERT_LE(found.time, expected + 1e-12L);
    const bool grazes = root > -1e-3L && root < 1e-3L;
    if (std::isfinite(found.time) && !grazes) {
      ASSERT_NEAR(found.time, static_cast<double>(expected), 1e-3);
    }
    ASSERT_EQ(found.time == kInfinity, is_free(found.verdict));
    hits += static_cast<int>(found.verdict == Verdict::collision);
  }
  EXPECT_GT(hits, 200);
}

TEST(TimeToCollision, of_an_unknown_velocity_is_unknown) {
  Scene scene;
  scene.add(box(1, 1), {100.0, 0.0, 0.0});
  scene.build();
  const TimeToCollision found = time_to_collision(scene, box(1, 1), {}, {}, 0.0);
  EXPECT_EQ(found.verdict, Verdict::unknown);
  EXPECT_EQ(found.status, Status::prediction_too_short);
  EXPECT_TRUE(std::isnan(found.time));
  EXPECT_EQ(found.obstacle, 0);
}

TEST(TimeToCollision, refuses_bad_input) {
  Scene scene;
  scene.build();
  const auto status = [&](const Twist& twist, double time, double horizon) {
    return time_to_collision(scene, box(1, 1), {}, twist, time, {horizon, 0.005}).status;
  };
  EXPECT_EQ(status({}, 0.0, 1.0), Status::success);
  EXPECT_EQ(status({NAN, 0.0, 0.0}, 0.0, 1.0), Status::invalid_input);
  EXPECT_EQ(status({0.0, 0.0, kInfinity}, 0.0, 1.0), Status::invalid_input);
  EXPECT_EQ(status({}, NAN, 1.0), Status::invalid_input);
  EXPECT_EQ(status({}, 0.0, 0.0), Status::invalid_input);
  EXPECT_EQ(status({}, 0.0, kInfinity), Status::invalid_input);
}

}  // namespace
}  // namespace gjk::time_to_collision_test
