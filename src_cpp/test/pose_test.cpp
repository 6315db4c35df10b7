// SPDX-FileCopyrightText: gjk_collision contributors
// SPDX-License-Identifier: Apache-2.0
// Placements: the stated rounding bounds, against 64-bit mantissas.
#include "gjk/shape/pose.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <random>

namespace gjk {
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

}  // namespace
}  // namespace gjk
