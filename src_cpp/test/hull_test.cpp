// SPDX-FileCopyrightText: gjk_collision contributors
// SPDX-License-Identifier: Apache-2.0
// Queries of hulls: points in any order, with each instruction set, against integers.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numbers>
#include <random>
#include <utility>
#include <vector>

#include "gjk/query.hpp"
#include "gjk/shape/convex.hpp"
#include "gjk/shape/points.hpp"
#include "isas.hpp"

namespace gjk::hull_test {
namespace {

struct IntPoint {
  std::int64_t x;
  std::int64_t y;
};
using Points = std::vector<IntPoint>;

// Whether n.p < n.q for all points.
bool separates(const Points& p, const Points& q, IntPoint n) {
  std::int64_t most = std::numeric_limits<std::int64_t>::min();
  std::int64_t least = std::numeric_limits<std::int64_t>::max();
  for (const IntPoint v : p) most = std::max(most, n.x * v.x + n.y * v.y);
  for (const IntPoint v : q) least = std::min(least, n.x * v.x + n.y * v.y);
  return most < least;
}

// The nearest points of disjoint hulls are two vertices, or a vertex and a point of an edge. So the
// difference of two vertices or the normal of an edge separates, and each edge joins two points.
bool are_apart(const Points& p, const Points& q) {
  for (const IntPoint a : p) {
    for (const IntPoint b : q) {
      if (separates(p, q, {b.x - a.x, b.y - a.y})) return true;
    }
  }
  for (const Points* of : {&p, &q}) {
    for (const IntPoint a : *of) {
      for (const IntPoint b : *of) {
        if (separates(p, q, {a.y - b.y, b.x - a.x})) return true;
      }
    }
  }
  return false;
}

struct Doubles {
  std::vector<double> x;
  std::vector<double> y;

  Doubles(const Points& points, double unit) {
    for (const IntPoint v : points) {
      x.push_back(unit * static_cast<double>(v.x));
      y.push_back(unit * static_cast<double>(v.y));
    }
  }
  Hull hull(double radius = 0.0) const {
    return {x.data(), y.data(), static_cast<int>(x.size()), radius};
  }
};

Points random_points(std::mt19937_64& random, std::int64_t shift) {
  // Many points on a small grid: most repeat, are collinear or lie inside.
  const std::size_t kinds[] = {1, 2, 3, 4, 5, 8, 9, 16, 24, 64, 65, 200};
  const std::size_t count = kinds[random() % 12];
  const std::int64_t size = 1 + static_cast<std::int64_t>(random() % 12);
  Points points;
  for (std::size_t i = 0; i < count; ++i) {
    const auto draw = [&] { return static_cast<std::int64_t>(random()) % (size + 1); };
    const std::int64_t x = draw();
    points.push_back({x + shift, draw()});
  }
  return points;
}

TEST(Hull, answers_agree_with_integers_in_any_order) {
  std::mt19937_64 random(20261124);
  const simd::Isa usual = simd::isa;
  int apart = 0;
  constexpr int kRounds = 1500;
  for (int round = 0; round < kRounds; ++round) {
    const Points p = random_points(random, 0);
    const Points q = random_points(random, static_cast<std::int64_t>(random() % 24));
    // Powers of two change nothing, up to the limits of the domain. With the last one, all
    // coordinates are tiny: the gap is below kTinyError, and a collision is allowed.
    constexpr double kUnits[] = {1.0, 0x1p-20, 0x1p+43, 0x1p-130, 0x1p-1074};
    const double unit = kUnits[round % 5];
    const Doubles a(p, unit);
    const Doubles b(q, unit);
    const bool is_apart = are_apart(p, q);
    apart += is_apart ? 1 : 0;
    for (const simd::Isa set : verify::available_isas()) {
      simd::isa = set;
      const Verdict verdict = collide(a.hull(), b.hull());
      const Bounds bounds = distance(a.hull(), b.hull());
      const Closest near = closest(a.hull(), b.hull());
      ASSERT_EQ(near.status, Status::success) << round;
      ASSERT_GE(bounds.lower, 0.0);
      ASSERT_LE(bounds.lower, bounds.upper);
      if (unit < 1e-100) {
        ASSERT_EQ(verdict, Verdict::collision) << round;
        ASSERT_EQ(bounds.lower, 0.0) << round;
        continue;
      }
      ASSERT_EQ(is_free(verdict), is_apart) << round;
      ASSERT_EQ(verdict == Verdict::collision, !is_apart) << round;
      ASSERT_EQ(bounds.lower > 0.0, is_apart) << round;
      ASSERT_EQ(near.distance > 0.0, is_apart) << round;
      // The features are points that were given, at that distance.
      const Vec2 at_a{a.x[static_cast<std::size_t>(near.feature_a.first)],
                      a.y[static_cast<std::size_t>(near.feature_a.first)]};
      const bool is_vertex = near.feature_a.first == near.feature_a.second;
      if (is_apart && is_vertex) {
        ASSERT_LE(norm(at_a - near.point_a), 1e-9 * near.distance) << round;
      }
      if (!is_apart) continue;
      ASSERT_LE(bounds.upper - bounds.lower, 1e-9 * bounds.upper) << round;
      ASSERT_LE(near.lower_bound, bounds.upper) << round;  // both hold the true distance
      ASSERT_LE(bounds.lower, near.distance) << round;
      // Just below and just above the distance, as radius or margin.
      ASSERT_TRUE(is_free(collide(a.hull(), b.hull(), 0.999 * bounds.lower))) << round;
      ASSERT_EQ(collide(a.hull(1.001 * bounds.upper), b.hull()), Verdict::collision) << round;
    }
    simd::isa = usual;
  }
  EXPECT_GT(apart, kRounds / 10);
  EXPECT_LT(apart, kRounds - kRounds / 10);
}

TEST(Hull, bad_points_are_unknown) {
  const double good_x[] = {0, 1, 1, 0, 0.5}, good_y[] = {0, 0, 1, 1, 0.5};
  for (const int n : {1, 2, 3, 4, 5}) {
    const Hull good{good_x, good_y, n};
    for (const double bad : {std::numeric_limits<double>::quiet_NaN(),
                             std::numeric_limits<double>::infinity(), -1.1e15, 1e300}) {
      for (int i = 0; i < n; ++i) {
        std::vector<double> x(good_x, good_x + n);
        std::vector<double> y(good_y, good_y + n);
        (i % 2 == 0 ? x : y)[static_cast<std::size_t>(i)] = bad;
        const Hull hull{x.data(), y.data(), n};
        EXPECT_EQ(collide(hull, good), Verdict::unknown) << n << " " << bad;
        EXPECT_EQ(collide(good, hull), Verdict::unknown) << n << " " << bad;
        EXPECT_TRUE(std::isnan(distance(hull, good).lower)) << n << " " << bad;
        EXPECT_EQ(closest(good, hull).status, Status::numeric_failure) << n << " " << bad;
      }
      const Hull radius{good_x, good_y, n, bad};
      EXPECT_EQ(collide(radius, good), Verdict::unknown) << n << " " << bad;
      EXPECT_TRUE(std::isnan(distance(good, radius).lower)) << n << " " << bad;
      EXPECT_EQ(collide(good, good, bad), Verdict::unknown) << bad;
    }
    EXPECT_EQ(collide(good, Hull{good_x, good_y, 0}), Verdict::unknown);
    EXPECT_EQ(collide(good, Hull{good_x, good_y, -3}), Verdict::unknown);
  }
}

// The memory for a hull is limited, the number of points is not.
TEST(Hull, any_number_of_points) {
  for (const int n : {100, 256, 257, 5000}) {
    std::vector<double> x;
    std::vector<double> y;
    for (int i = 0; i < n; ++i) {
      x.push_back(1000.0 * std::cos(2.0 * std::numbers::pi * i / n));
      y.push_back(1000.0 * std::sin(2.0 * std::numbers::pi * i / n));
    }
    const double far_x[] = {1001.0}, far_y[] = {0.0};
    const Hull point{far_x, far_y, 1};
    EXPECT_TRUE(is_free(collide(Hull{x.data(), y.data(), n}, point))) << n;  // an outline
    std::swap(x[10], x[50]);
    std::swap(y[10], y[50]);
    const Verdict verdict = collide(Hull{x.data(), y.data(), n}, point);
    EXPECT_EQ(is_free(verdict), n <= kMostHullVertices) << n;
    EXPECT_EQ(verdict == Verdict::unknown, n > kMostHullVertices) << n;
  }
  std::vector<double> x(100000, 1.0);
  std::vector<double> y(100000, 2.0);
  x.back() = -3.0;
  y.front() = 5.0;
  const double other_x[] = {0.0, -2.0}, other_y[] = {1.0, 2.0};
  const Bounds bounds = distance(Hull{x.data(), y.data(), 100000}, Hull{other_x, other_y, 2});
  EXPECT_EQ(bounds.lower, 0.0);  // (-2, 2) is on the edge from (-3, 2) to (1, 2)
}

}  // namespace
}  // namespace gjk::hull_test
