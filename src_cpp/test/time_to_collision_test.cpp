// SPDX-FileCopyrightText: gjk_collision contributors
// SPDX-License-Identifier: Apache-2.0
#include "gjk/scene/time_to_collision.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

namespace gjk::time_to_collision_test {
namespace {

Shape box(double x, double y) {
  Shape shape;
  shape.add_part(std::vector<Vec2>{{-x, -y}, {x, -y}, {x, y}, {-x, y}}, 0.0);
  return shape;
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
