// SPDX-FileCopyrightText: gjk_collision contributors
// SPDX-License-Identifier: Apache-2.0
// What sensors have seen: the union of regions, against points of the shapes.
#include "gjk/scene/coverage.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <numbers>
#include <random>
#include <vector>

#include "gjk/arithmetic.hpp"
#include "gjk/motion/motion.hpp"
#include "gjk/scene/region.hpp"
#include "gjk/shape/pose.hpp"
#include "gjk/shape/shape.hpp"
#include "gjk/shape/vec2.hpp"

namespace gjk::coverage_test {
namespace {

using Random = std::mt19937_64;

double uniform(Random& random, double low, double high) {
  return std::uniform_real_distribution<double>(low, high)(random);
}

// A star about a point, whose rays have jumps.
std::shared_ptr<const Region> star(Random& random) {
  const Vec2 center{uniform(random, -2, 2), uniform(random, -2, 2)};
  std::vector<Vec2> ring;
  double reach = 3.0;
  for (int k = 0; k < 60; ++k) {
    if (uniform(random, 0, 1) < 0.2) reach = uniform(random, 0.5, 5.0);
    const double angle = 2.0 * std::numbers::pi * k / 60.0;
    ring.push_back(center + Vec2{reach * std::cos(angle), reach * std::sin(angle)});
  }
  std::vector<Region::Segment> segments;
  for (std::size_t i = 0; i < ring.size(); ++i) {
    segments.push_back({ring[i], ring[(i + 1) % ring.size()], 0.0});
  }
  return std::make_shared<const Region>(segments);
}

Shape vehicle(double radius) {
  const std::array corners{Vec2{-0.4, -0.3}, Vec2{0.6, -0.3}, Vec2{0.6, 0.3}, Vec2{-0.4, 0.3}};
  Shape shape;
  shape.add_part(corners, radius);
  return shape;
}

struct World {
  explicit World(Random& random)
      : regions{star(random), star(random), star(random)},
        coverage({{regions[0], "a"}, {regions[1], "b"}, {regions[2], "c"}}) {}
  bool holds(Vec2 p) const {
    for (const auto& region : regions) {
      if (region->contains(p)) return true;
    }
    return false;
  }
  // A point of the vehicle, and within its radius and the margin.
  static Vec2 point(Random& random, const Pose& pose, double beyond) {
    const double angle = uniform(random, -4, 4);
    const double off = beyond * std::sqrt(uniform(random, 0, 1));
    const Vec2 local{uniform(random, -0.4, 0.6), uniform(random, -0.3, 0.3)};
    return Transform::from_pose(pose).apply(local) + off * Vec2{std::cos(angle), std::sin(angle)};
  }

  const std::vector<std::shared_ptr<const Region>> regions;
  const Coverage coverage;
};

Pose somewhere(Random& random) {
  return {uniform(random, -4, 4), uniform(random, -4, 4), uniform(random, -3, 3)};
}

TEST(Coverage, EachPointOfAShapeThatIsSeenIsInARegion) {
  Random random(1);
  int seen = 0;
  for (int n = 0; n < 400; ++n) {
    const World world(random);
    const double radius = n % 2 == 0 ? 0.0 : 0.1;
    const double margin = n % 3 == 0 ? 0.0 : 0.05;
    const Shape shape = vehicle(radius);
    const Pose pose = somewhere(random);
    const auto point = world.coverage.unseen(shape, {pose, 0.0}, margin);
    seen += static_cast<int>(!point);
    for (int k = 0; k < 200 && !point; ++k) {
      EXPECT_TRUE(world.holds(World::point(random, pose, 0.999 * (radius + margin))));
    }
    const double depth = world.coverage.depth(shape, pose, margin);
    EXPECT_LE(depth, point ? 10.0 : 0.0);
    for (int k = 0; k < 20 && depth > 0.0; ++k) {  // no shorter shift helps
      const double angle = uniform(random, -4, 4);
      const double way = uniform(random, 0.0, 0.999 * depth);
      const Pose moved{pose.x + way * std::cos(angle), pose.y + way * std::sin(angle), pose.yaw};
      EXPECT_TRUE(world.coverage.unseen(shape, {moved, 0.0}, margin));
    }
  }
  EXPECT_GT(seen, 40);
}

TEST(Coverage, AShapeIsSeenUntilItLeaves) {
  Random random(2);
  int left = 0;
  for (int n = 0; n < 300; ++n) {
    const World world(random);
    const Shape shape = vehicle(0.0);
    const Pose from = somewhere(random);
    const Pose to{from.x + uniform(random, -2, 2), from.y + uniform(random, -2, 2),
                  from.yaw + uniform(random, -1, 1)};
    const Piece line = Piece::between(1.0, from, 3.0, to);
    const Piece arc = Piece::arc(1.0, {from, 0.0, 0.0}, 3.0, {uniform(random, -2, 2), 0.0},
                                 uniform(random, -1, 1));
    for (const Piece& way : {line, arc}) {
      const auto end = world.coverage.leaving(shape, way, 0.0, 0.005);
      const double until = end ? end->time : 3.0;
      left += static_cast<int>(end && until > 1.0);
      for (int k = 0; k < 200 && until > 1.0; ++k) {
        const Pose pose = way.at(uniform(random, 1.0, until), 0.0).pose;
        EXPECT_TRUE(world.holds(World::point(random, pose, 0.0)));
      }
    }
  }
  EXPECT_GT(left, 20);
}

std::shared_ptr<const Region> rectangle(Vec2 low, Vec2 high) {
  const std::array corners{low, Vec2{high.x, low.y}, high, Vec2{low.x, high.y}};
  std::vector<Region::Segment> segments;
  for (std::size_t i = 0; i < 4; ++i) segments.push_back({corners[i], corners[(i + 1) % 4], 0.0});
  return std::make_shared<const Region>(segments);
}

TEST(Coverage, NothingIsLostWhereRegionsOverlapByTwentyMicrometres) {
  Random random(3);
  for (int n = 0; n < 300; ++n) {
    std::vector<Coverage::Member> members;
    // Tiles of random sizes; some share a corner with the vehicle at its own place.
    std::vector<double> x{-8.0, -0.4, 0.6, 8.0};
    std::vector<double> y{-8.0, -0.3, 0.3, 8.0};
    for (int k = 0; k < 4; ++k) {
      x.push_back(uniform(random, -3, 3));
      y.push_back(uniform(random, -3, 3));
    }
    std::ranges::sort(x);
    std::ranges::sort(y);
    for (std::size_t i = 0; i + 1 < x.size(); ++i) {
      for (std::size_t k = 0; k + 1 < y.size(); ++k) {
        members.push_back({rectangle({x[i], y[k]}, {x[i + 1] + 2e-5, y[k + 1] + 2e-5}), "tile"});
      }
    }
    const Coverage coverage(members);
    const Pose pose = n < 4 ? Pose{} : somewhere(random);
    const double radius = std::array{0.0, 0.1, 1e-4, 1e-6}[static_cast<std::size_t>(n % 4)];
    EXPECT_FALSE(coverage.unseen(vehicle(radius), {pose, 0.0}, 0.0)) << n;
    // Five vertices in a line, and a segment.
    Shape other;
    other.add_part(std::array{Vec2{-0.4, -0.3}, Vec2{-0.1, -0.3}, Vec2{0.1, -0.3}, Vec2{0.3, -0.3},
                              Vec2{0.6, -0.3}, Vec2{0.6, 0.3}, Vec2{-0.4, 0.3}},
                   0.0);
    other.add_part(std::array{Vec2{-0.5, 0.1}, Vec2{0.7, -0.2}}, radius);
    EXPECT_FALSE(coverage.unseen(other, {pose, 0.0}, 0.0)) << n;
  }
}

TEST(Coverage, WithoutRegionsNothingIsSeen) {
  const Coverage nothing({});
  EXPECT_TRUE(nothing.unseen(vehicle(0.0), {}, 0.0));
  EXPECT_EQ(nothing.nearest({}).first, nullptr);
  EXPECT_EQ(nothing.depth(vehicle(0.0), {}, 0.0), 0.0);
}

}  // namespace
}  // namespace gjk::coverage_test
