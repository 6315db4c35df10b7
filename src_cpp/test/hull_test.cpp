// SPDX-FileCopyrightText: gjk_collision contributors
// SPDX-License-Identifier: Apache-2.0
// Queries of hulls. gjk_verify compares their answers with integers, with each instruction set.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numbers>
#include <utility>
#include <vector>

#include "gjk/query.hpp"
#include "gjk/shape/points.hpp"

namespace gjk::hull_test {
namespace {

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
