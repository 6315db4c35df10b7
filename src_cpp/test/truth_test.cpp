// SPDX-FileCopyrightText: gjk_collision contributors
// SPDX-License-Identifier: Apache-2.0
// The truth that gjk_verify and the fuzz targets use: it resolves the smallest double, and does not
// depend on the order of the points.
#include "truth.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace gjk::verify {
namespace {

constexpr double kLeast = std::numeric_limits<double>::denorm_min();  // 2^-1074

TruePose at(double x, double y, double yaw) { return TruePose::of({x, y, yaw}); }

// A vertical wall whose left side is x = 0, turned about the origin.
const Polygon kWall{{0.0, 1.0, 1.0, 0.0}, {-1.0, -1.0, 1.0, 1.0}};

TEST(Truth, ResolvesTheSmallestDouble) {
  for (const double yaw : {0.0, 0.7, -2.0, 1e5}) {
    const auto compare = [&](double x) {
      return Truth({{x}, {0.0}}, at(0, 0, yaw), kWall, at(0, 0, yaw)).compare({0.0});
    };
    EXPECT_EQ(compare(-kLeast), 1) << yaw;
    EXPECT_EQ(compare(kLeast), -1) << yaw;
    EXPECT_EQ(compare(0.0), 0) << yaw;
  }
}

// The same of a gap that is the product of the smallest double and a sine: of 0.5, 1e-3 and of the
// smallest double itself.
TEST(Truth, ResolvesTheProductOfASineAndTheSmallestDouble) {
  for (const double yaw : {0.5, 1e-3, 1e-300, kLeast}) {
    const auto compare = [&](double y) {  // turned by yaw, (0, y) lies at x = -y sin(yaw)
      return Truth({{0.0}, {y}}, at(0, 0, yaw), kWall, at(0, 0, 0)).compare({0.0});
    };
    EXPECT_EQ(compare(kLeast), 1) << yaw;
    EXPECT_EQ(compare(-kLeast), -1) << yaw;
  }
}

// A distance of cos(yaw) times the least double against that double: smaller by 2^-1074 (1 - cos).
TEST(Truth, ResolvesACosineTimesTheSmallestDouble) {
  const Truth truth({{-kLeast}, {0.0}}, at(0, 0, 0.5), kWall, at(0, 0, 0));
  EXPECT_EQ(truth.compare({kLeast}), -1);
  EXPECT_EQ(truth.compare({0.0}), 1);
}

TEST(Truth, IsExactWithoutATurn) {
  for (const double x : {5e5, 1e15, 1e-160, kLeast}) {
    const Truth truth({{-x}, {0.0}}, at(0, 0, 0), kWall, at(0, 0, 0));
    EXPECT_EQ(truth.compare({x}), 0) << x;
    EXPECT_EQ(truth.compare({x, -kLeast}), 1) << x;
    EXPECT_EQ(truth.compare({x, kLeast}), -1) << x;
    EXPECT_EQ(truth.compare({x, 1e-300, -1e-300}), 0) << x;
  }
}

// No vertex order, repeated vertices, points inside: the hull is what counts.
TEST(Truth, TakesTheHullOfThePointsItself) {
  const Polygon mixed{{0.0, 1.0, 1.0, 0.0, 0.5, 0.0, 0.25}, {-1.0, 1.0, -1.0, 1.0, 0.0, 1.0, 0.75}};
  for (const double yaw : {0.0, 0.3}) {
    for (const double x : {-0.25, 0.25}) {
      const Polygon point{{x}, {0.0}};
      const Truth truth(point, at(0, 0, yaw), mixed, at(0, 0, yaw));
      EXPECT_EQ(truth.compare({-x}), 0) << x << " " << yaw;
      EXPECT_EQ(truth.polygons_meet(), x > 0.0);
    }
  }
}

TEST(Truth, KnowsTheDepthOfAnOverlap) {
  const Polygon square{{-0.25, 0.25, 0.25, -0.25}, {-0.25, -0.25, 0.25, 0.25}};
  for (const double yaw : {0.0, 1.0}) {
    const Truth truth(square, at(0, 0, yaw), kWall, at(0, 0, yaw));
    EXPECT_TRUE(truth.depth_at_least({0.25}));
    EXPECT_TRUE(truth.depth_at_most({0.25}));
    EXPECT_FALSE(truth.depth_at_least({0.25, kLeast}));
    EXPECT_FALSE(truth.depth_at_most({0.25, -kLeast}));
  }
}

// Half a turn leads from (1, 0) to (-1, 0), up to what no double resolves.
TEST(Truth, KnowsPi) {
  const TruePose half{0, 0, 0, 1};
  const Placing placing = placed_exactly({{1.0}, {0.0}}, half, kWideFraction);
  const mpz_class one = mpz_class(1) << kWideFraction;
  EXPECT_LE(abs(placing.points[0].x + one), placing.error);
  EXPECT_LE(abs(placing.points[0].y), placing.error);
}

}  // namespace
}  // namespace gjk::verify
