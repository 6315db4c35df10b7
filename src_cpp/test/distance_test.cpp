// SPDX-FileCopyrightText: gjk_collision contributors
// SPDX-License-Identifier: Apache-2.0
// Levels 2 and 3: bounds, witness points and direction. gjk_verify compares them with the truth.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <random>
#include <vector>

#include "gjk/narrow/penetration.hpp"
#include "gjk/query.hpp"
#include "gjk/shape/hull.hpp"
#include "pairs.hpp"

namespace gjk::distance_test {
namespace {

using namespace detail;

using test::Outline;

TEST(Closest, what_is_nearer_than_a_length_can_be_squared_has_a_direction) {
  // A vertex at the origin, and one that a pose leaves 4e-323 m beside it.
  const Outline p{{0, 2, 2}, {0, -1, 1}};
  const Outline q{{-4.4e-323, -1, -1}, {0, 1, -1}};
  for (const double yaw : {0.0, 0.6, -2.0}) {
    Rooms rooms;
    const Convex a = rooms.p.place(p.convex(), Transform::from_pose({0.0, 0.0, yaw}));
    const Convex b = rooms.q.place(q.convex(), Transform::from_pose({0.0, 0.0, yaw}));
    for (const Closest& near : {closest(a, b), closest(b, a)}) {
      EXPECT_EQ(near.status, Status::success);
      EXPECT_NEAR(norm(near.direction), 1.0, 1e-12) << yaw;
      EXPECT_NEAR(near.distance, 0.0, 1e-13);
      EXPECT_NEAR(near.lower_bound, 0.0, 1e-13);
      EXPECT_LT(norm(near.point_a) + norm(near.point_b), 1e-12);
    }
  }
}

TEST(Closest, deepest_points_lie_on_their_shapes_where_edges_are_nearly_in_line) {
  // At UTM coordinates two edges of q are as deep up to rounding; one lies beside what is deepest.
  const Outline p{{-1.3142938039279548, -0.65714690196397796, 0.6571469019639774,
                   1.3142938039279548, 0.65714690196397751, -0.65714690196397707},
                  {1.6095457001195689e-16, -1.1382118222380926, -1.1382118222380928, 0,
                   1.1382118222380928, 1.138211822238093}};
  const Outline q{{-1.0193053790547071, -0.68553690363418807, -0.36212426871406733,
                   -0.26316151624905815, 0.42957775100600626, 0.52854050347101555},
                  {1.0553875065817457, 0.42495021087221163, 0.081532721061736257,
                   0.010264007314916931, -0.48861698891281835, -0.55988570265963766}};
  Rooms rooms;
  const Convex a = rooms.p.place(
      p.convex(),
      Transform::from_pose({503492.23123767274, 5009947.9720420158, 1.6225093085719751}));
  const Convex b = rooms.q.place(
      q.convex(),
      Transform::from_pose({503491.97991811653, 5009946.9525909889, -1.9655915437469886}));
  const Closest found = closest(a, b);
  ASSERT_LT(found.distance, 0.0);
  EXPECT_LE(norm(found.point_a - a.vertex(0)), 1e-7);
}

// A polygon that counts how often its vertices are read.
struct Counted {
  std::vector<Vec2> vertices;
  int size = static_cast<int>(vertices.size());
  double error = 0.0;
  mutable long reads = 0;

  Vec2 vertex(int i) const noexcept {
    ++reads;
    return vertices[static_cast<std::size_t>(i)];
  }
};

Counted random_ellipse(std::mt19937_64& random, int size, Vec2 centre) {
  std::uniform_real_distribution<double> share(0.0, 1.0);
  std::vector<double> angles;
  for (int i = 0; i < size; ++i) angles.push_back(2.0 * std::numbers::pi * share(random));
  std::sort(angles.begin(), angles.end());
  const Vec2 axes{1.0 + 4.0 * share(random), 1.0 + 4.0 * share(random)};
  std::vector<Vec2> points;
  for (const double angle : angles) {
    points.push_back(centre + Vec2{axes.x * std::cos(angle), axes.y * std::sin(angle)});
  }
  return {convex_hull(points)};
}

// The smallest overlap over the normals of all edges of p, with all vertices.
long double least_overlap(const Counted& p, const Counted& q) {
  long double least = std::numeric_limits<long double>::infinity();
  for (int i = 0; i < p.size; ++i) {
    const Vec2 a = p.vertex(i);
    const Vec2 b = p.vertex((i + 1) % p.size);
    const long double u = static_cast<long double>(b.y) - a.y;
    const long double v = static_cast<long double>(a.x) - b.x;
    long double most = -std::numeric_limits<long double>::infinity();
    for (int j = 0; j < q.size; ++j) {
      const Vec2 c = q.vertex(j);
      most = std::max(most, u * (static_cast<long double>(a.x) - c.x) +
                                v * (static_cast<long double>(a.y) - c.y));
    }
    least = std::min(least, most / std::hypot(u, v));
  }
  return least;
}

TEST(Closest, the_depth_of_many_vertices_is_found_without_all_pairs) {
  std::mt19937_64 random(7);
  std::uniform_real_distribution<double> place(-0.7, 0.7);
  for (const int size : {70, 300, 1000, 4000}) {
    for (int round = 0; round < 10; ++round) {
      const Vec2 centre{1e3 * place(random), 1e3 * place(random)};
      const Counted p = random_ellipse(random, size, centre);
      const Counted q = random_ellipse(random, size, centre + Vec2{place(random), place(random)});
      const Penetration found = penetration(p, q);
      EXPECT_LE(p.reads + q.reads, 40L * (p.size + q.size) + (size < 300 ? 10000 : 0)) << size;
      const long double truth = std::min(least_overlap(p, q), least_overlap(q, p));
      EXPECT_NEAR(found.depth, static_cast<double>(truth), 1e-12) << "round " << round;
      EXPECT_LE(std::fabs(found.depth - static_cast<double>(truth)), found.rounding);
    }
  }
}

TEST(Closest, bad_input_has_no_distance) {
  const Outline p{{0, 1, kNaN}, {0, 0, 1}};
  const Outline q{{50, 51, 51}, {0, 0, 1}};
  const Closest found = closest(p.convex(), q.convex());
  EXPECT_NE(found.status, Status::success);
  EXPECT_TRUE(std::isnan(found.distance));
  EXPECT_TRUE(std::isnan(found.lower_bound));  // compares false with every margin
  EXPECT_TRUE(std::isnan(distance(p.convex(), q.convex()).lower));
}

}  // namespace
}  // namespace gjk::distance_test
