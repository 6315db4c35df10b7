// SPDX-FileCopyrightText: gjk_collision contributors
// SPDX-License-Identifier: Apache-2.0
// Placements: the stated rounding bounds, against 64-bit mantissas.
#include "gjk/shape/pose.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numbers>
#include <random>

namespace gjk::pose_test {
namespace {

static_assert(sizeof(long double) > sizeof(double), "the reference needs more digits");

void expect_good(double angle) {
  const SinCos found = sin_cos(angle);
  const auto x = static_cast<long double>(angle);
  ASSERT_LE(std::fabs(found.sin - std::sin(x)), kSinCosError) << std::hexfloat << angle;
  ASSERT_LE(std::fabs(found.cos - std::cos(x)), kSinCosError) << std::hexfloat << angle;
}

TEST(SinCos, error_is_within_its_bound) {
  std::mt19937_64 random(1);
  for (const double range : {1e-8, 1.0, 10.0, 1e3, kMaxYaw}) {
    std::uniform_real_distribution<double> any(-range, range);
    for (int i = 0; i < 200000; ++i) expect_good(any(random));
  }
}

TEST(SinCos, error_is_within_its_bound_beside_quarter_turns) {
  for (int k = -636619; k < 636619; k += 97) {
    double angle = k * (std::numbers::pi / 2);
    for (int step = 0; step < 3; ++step, angle = std::nextafter(angle, 1e9)) expect_good(angle);
  }
  expect_good(kMaxYaw);
  expect_good(-kMaxYaw);
}

TEST(SinCos, zero_is_exact) {
  EXPECT_EQ(sin_cos(0.0).sin, 0.0);
  EXPECT_EQ(sin_cos(0.0).cos, 1.0);
  EXPECT_EQ(sin_cos(-0.0).cos, 1.0);
}

// place() takes a pose for a translation if its sine is 0 and its cosine is 1: only at yaw 0.
TEST(Transform, no_other_yaw_is_taken_for_zero) {
  const auto is_rotated = [](double yaw) {
    return Transform::from_pose({0.0, 0.0, yaw}).is_rotated();
  };
  for (int turns = 1; turns * 2 * std::numbers::pi < kMaxYaw; ++turns) {
    double yaw = std::nextafter(turns * 2 * std::numbers::pi, 0.0);
    for (int step = 0; step < 3; ++step, yaw = std::nextafter(yaw, kMaxYaw)) {
      ASSERT_TRUE(is_rotated(yaw)) << turns;
      ASSERT_TRUE(is_rotated(-yaw)) << turns;
    }
  }
  for (const double yaw : {std::numeric_limits<double>::denorm_min(), 1e-300, 1e-9}) {
    EXPECT_TRUE(is_rotated(yaw)) << yaw;
  }
}

TEST(Transform, identity_has_no_error) {
  const Transform here = Transform::from_pose({0.0, 0.0, 0.0});
  EXPECT_TRUE(here.is_identity());
  EXPECT_EQ(here.error(1e15), 0.0);
  EXPECT_EQ(here.apply({0.1, -0.7}), (Vec2{0.1, -0.7}));
}

TEST(Transform, error_is_within_its_bound) {
  std::mt19937_64 random(2);
  std::uniform_real_distribution<double> unit(-1.0, 1.0);
  for (int i = 0; i < 500000; ++i) {
    const double extent = std::exp2(20.0 * unit(random));
    const double far = i % 3 == 0 ? 0.0 : std::exp2(20.0 * unit(random));
    const Pose pose{far * unit(random), far * unit(random), 1e3 * unit(random)};
    const Vec2 p{extent * unit(random), extent * unit(random)};
    const Transform transform = Transform::from_pose(pose);
    const Vec2 found = transform.apply(p);
    const long double c = std::cos(static_cast<long double>(pose.yaw));
    const long double s = std::sin(static_cast<long double>(pose.yaw));
    const long double dx = found.x - (c * p.x - s * p.y + pose.x);
    const long double dy = found.y - (s * p.x + c * p.y + pose.y);
    ASSERT_LE(std::hypot(dx, dy), transform.error(extent));
  }
}

TEST(SinCos, of_large_angles_is_not_a_number) {
  const double beyond = std::nextafter(kMaxYaw, INFINITY);
  for (const double angle : {beyond, -beyond, 1e300, HUGE_VAL, std::nan("")}) {
    EXPECT_TRUE(std::isnan(sin_cos(angle).sin)) << angle;
    EXPECT_TRUE(std::isnan(sin_cos(angle).cos)) << angle;
  }
}

TEST(Pose, domain_ends_at_its_largest_coordinates_and_yaw) {
  const double most = kMaxCoordinate;
  EXPECT_TRUE(is_in_domain({most, -most, kMaxYaw}));
  EXPECT_TRUE(is_in_domain({-most, most, -kMaxYaw}));
  for (const double sign : {-1.0, 1.0}) {
    const double beyond = sign * std::nextafter(most, INFINITY);
    EXPECT_FALSE(is_in_domain({beyond, 0, 0}));
    EXPECT_FALSE(is_in_domain({0, beyond, 0}));
    EXPECT_FALSE(is_in_domain({0, 0, sign * std::nextafter(kMaxYaw, INFINITY)}));
  }
  const double nan = std::nan("");
  for (const Pose& pose : {Pose{nan, 0, 0}, Pose{0, nan, 0}, Pose{0, 0, nan}, Pose{2e15, 0, 0}}) {
    EXPECT_FALSE(is_in_domain(pose));
    EXPECT_TRUE(std::isnan(Transform::from_pose(pose).t_error));
  }
  EXPECT_EQ(Transform::from_pose({most, most, kMaxYaw}).t_error, 0.0);
}

TEST(Transform, translation_is_relative_to_an_origin_with_its_error) {
  std::mt19937_64 random(3);
  std::uniform_real_distribution<double> unit(-1.0, 1.0);
  for (int i = 0; i < 50000; ++i) {
    const double far = std::exp2(20.0 * unit(random));
    const Pose pose{far * unit(random), far * unit(random), i % 2 == 0 ? 0.0 : unit(random)};
    const Vec2 origin{i % 3 == 0 ? 0.0 : far * unit(random), i % 5 == 0 ? 0.0 : far * unit(random)};
    const double pose_error = i % 7 == 0 ? 0.0 : std::exp2(-40.0 + 20.0 * unit(random));
    const Transform transform = Transform::from_pose(pose, origin, pose_error);
    const long double dx = static_cast<long double>(pose.x) - origin.x - transform.t.x;
    const long double dy = static_cast<long double>(pose.y) - origin.y - transform.t.y;
    const long double errors = std::fabs(dx) + std::fabs(dy) + pose_error;
    ASSERT_GE(transform.t_error, errors - 1e-18L * far) << i;
    ASSERT_LE(transform.t_error, errors * (1 + 1e-14L) + 1e-18L * far) << i;
    ASSERT_LE(std::fabs(dx), kUnitRoundoff * std::fabs(transform.t.x));
    ASSERT_LE(std::fabs(dy), kUnitRoundoff * std::fabs(transform.t.y));
  }
}

TEST(Transform, error_is_not_much_larger_than_the_coordinates_demand) {
  for (const double extent : {0.0, 1.0, 1e6}) {
    for (const Pose& pose :
         {Pose{3, -4, 0.5}, Pose{3, -4, 0}, Pose{0, 0, 0.5}, Pose{-1e6, 0, 2}, Pose{0, 1e6, 2}}) {
      const Transform transform = Transform::from_pose(pose);
      const double size = std::fabs(pose.x) + std::fabs(pose.y);
      EXPECT_FALSE(transform.is_identity());
      EXPECT_LE(transform.error(extent), (20.0 * extent + 2.0 * size) * kUnitRoundoff);
      EXPECT_GE(transform.error(extent), (13.0 * extent + size) * kUnitRoundoff);
    }
  }
}

TEST(Transform, rotations_are_inverse) {
  const Transform transform = Transform::from_pose({5, 7, 0.6});
  EXPECT_TRUE(transform.is_rotated());
  EXPECT_FALSE(Transform::from_pose({5, 7, 0}).is_rotated());
  EXPECT_TRUE(Transform::from_pose({5, 7, 2 * std::numbers::pi}).is_rotated());
  for (const Vec2 p : {Vec2{1, 0}, Vec2{0, 1}, Vec2{-3, 2}}) {
    const Vec2 turned = transform.rotate(p);
    EXPECT_NEAR(turned.x, std::cos(0.6) * p.x - std::sin(0.6) * p.y, 1e-14);
    EXPECT_NEAR(turned.y, std::sin(0.6) * p.x + std::cos(0.6) * p.y, 1e-14);
    EXPECT_NEAR(transform.rotate_back(turned).x, p.x, 1e-14);
    EXPECT_NEAR(transform.rotate_back(turned).y, p.y, 1e-14);
    EXPECT_EQ(transform.apply(p), (Vec2{turned.x + 5, turned.y + 7}));
  }
}

}  // namespace
}  // namespace gjk::pose_test
