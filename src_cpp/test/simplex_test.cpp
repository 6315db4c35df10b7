// SPDX-FileCopyrightText: gjk_collision contributors
// SPDX-License-Identifier: Apache-2.0
// Every region of the paper's S1D and S2D: the vertices that stay, newest first.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "gjk/narrow/gjk.hpp"

namespace gjk::simplex_test {
namespace {

using namespace detail;

// Vertices carry their place in the list as index, so that what stays can be named.
Simplex simplex(const std::vector<Vec2>& points) {
  Simplex s;
  for (std::size_t i = 0; i < points.size(); ++i) {
    s.vertex[i] = {points[i], static_cast<int>(i), static_cast<int>(i)};
  }
  s.size = static_cast<int>(points.size());
  return s;
}

std::vector<int> kept(const Simplex& s) {
  std::vector<int> names;
  for (int i = 0; i < s.size; ++i) names.push_back(s.vertex[i].p);
  std::sort(names.begin(), names.end());
  return names;
}

using Names = std::vector<int>;

Names after_s1d(const std::vector<Vec2>& points) {
  Simplex s = simplex(points);
  s1d(s, 0, 1);
  return kept(s);
}

TEST(S1D, regions) {
  EXPECT_EQ(after_s1d({{1, 1}, {3, 1}}), Names({0}));      // O before A
  EXPECT_EQ(after_s1d({{-3, 1}, {-1, 1}}), Names({1}));    // O past B
  EXPECT_EQ(after_s1d({{-1, 1}, {2, 1}}), Names({0, 1}));  // O beside AB
}

TEST(S1D, borders_belong_to_the_vertex) {
  EXPECT_EQ(after_s1d({{0, 1}, {3, 1}}), Names({0}));
  EXPECT_EQ(after_s1d({{-3, 1}, {0, 1}}), Names({1}));
}

TEST(S1D, an_edge_without_length_is_a_vertex) {
  EXPECT_EQ(after_s1d({{2, 1}, {2, 1}}), Names({0}));
}

// BC is the edge that A was sought from, so O and A lie on the same side of it: A is tried all
// around O, and the answer compared with the nearest point found by sampling the edges.
TEST(S2D, keeps_the_part_nearest_the_origin) {
  const Vec2 b{-1.0, -1.0};
  const Vec2 c{1.5, -1.0};
  int regions[4] = {0, 0, 0, 0};
  for (int i = 0; i < 40; ++i) {
    for (int j = 0; j < 40; ++j) {
      const Vec2 a{-4.0 + 0.2 * i + 0.01, -0.97 + 0.1 * j};
      Simplex s = simplex({a, b, c});
      const bool enclosed = s2d(s);
      const auto nearest_on = [](Vec2 p, Vec2 q) {
        double best = norm(p);
        for (int k = 1; k <= 4000; ++k) best = std::min(best, norm(p + (k / 4000.0) * (q - p)));
        return best;
      };
      const double truth = std::min({nearest_on(a, b), nearest_on(a, c), nearest_on(b, c)});
      const bool inside =
          (cross(b, c) > 0) == (cross(c, a) > 0) && (cross(b, c) > 0) == (cross(a, b) > 0);
      ASSERT_EQ(enclosed, inside) << a.x << " " << a.y;
      if (enclosed) {
        ++regions[3];
        EXPECT_EQ(kept(s), Names({0, 1, 2}));
        continue;
      }
      ASSERT_LT(s.size, 3);
      EXPECT_EQ(s.vertex[0].p * (s.size == 2 ? s.vertex[1].p : 0), 0) << "the newest stays";
      ++regions[s.size == 1 ? 0 : kept(s)[1]];
      ASSERT_NEAR(distance_upper_bound(s), truth, 2e-3) << a.x << " " << a.y;
    }
  }
  for (const int count : regions) EXPECT_GT(count, 5);  // A, AB, CA and enclosed: barycodes 4 6 5 7
}

TEST(EnclosesOrigin, is_strict_and_never_guesses) {
  EXPECT_TRUE(encloses_origin({-1, -1}, {1, -1}, {0, 1}));
  EXPECT_TRUE(encloses_origin({1, -1}, {-1, -1}, {0, 1}));
  EXPECT_FALSE(encloses_origin({-1, 0}, {1, 0}, {0, 1}));  // on the border
  EXPECT_FALSE(encloses_origin({-1, 1}, {1, 1}, {0, 3}));
  EXPECT_FALSE(encloses_origin({-1e-170, 1e-200}, {1e-170, 1e-200}, {0, 1}));  // underflow
  EXPECT_FALSE(encloses_origin({NAN, -1}, {1, -1}, {0, 1}));
}

}  // namespace
}  // namespace gjk::simplex_test
