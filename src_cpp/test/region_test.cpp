// SPDX-FileCopyrightText: gjk_collision contributors
// SPDX-License-Identifier: Apache-2.0
#include "gjk/scene/region.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <numbers>
#include <random>
#include <vector>

#include "gjk/scene/gradient.hpp"
#include "gjk/scene/path.hpp"
#include "gjk/scene/scene.hpp"
#include "gjk/scene/time_to_collision.hpp"

namespace gjk::region_test {
namespace {

using Ring = std::vector<Vec2>;

// The area between rings: the first is counter-clockwise, the others are holes.
std::shared_ptr<const Region> region_of(const std::vector<Ring>& rings) {
  std::vector<Region::Segment> segments;
  for (const Ring& ring : rings) {
    for (std::size_t i = 0; i < ring.size(); ++i) {
      segments.push_back({ring[i], ring[(i + 1) % ring.size()], 0.0});
    }
  }
  return std::make_shared<const Region>(segments);
}

// 10 m by 10 m, with a notch from the top and a hole.
const std::vector<Ring> kRings{
    {{0, 0}, {10, 0}, {10, 10}, {6, 10}, {6, 4}, {5, 4}, {5, 10}, {0, 10}},
    {{2, 2}, {2, 3}, {3, 3}, {3, 2}}};

bool is_in_open(Vec2 p, double x0, double y0, double x1, double y1) {
  return p.x > x0 && p.x < x1 && p.y > y0 && p.y < y1;
}
bool is_in_closed(Vec2 p, double x0, double y0, double x1, double y1) {
  return p.x >= x0 && p.x <= x1 && p.y >= y0 && p.y <= y1;
}
bool is_inside(Vec2 p) {
  return is_in_open(p, 0, 0, 10, 10) && !is_in_closed(p, 5, 4, 6, 10) &&
         !is_in_closed(p, 2, 2, 3, 3);
}

Shape box(double x, double y) {
  Shape shape;
  shape.add_part(std::vector<Vec2>{{-x, -y}, {x, -y}, {x, y}, {-x, y}}, 0.0);
  return shape;
}

Scene scene_in(const std::shared_ptr<const Region>& region) {
  Scene scene;
  scene.set_region(region);
  scene.build();
  return scene;
}

TEST(Region, contains_the_points_of_a_grid) {
  const auto region = region_of(kRings);
  for (int x = -4; x <= 44; ++x) {
    for (int y = -4; y <= 44; ++y) {
      const Vec2 p{0.25 * x, 0.25 * y};
      EXPECT_EQ(region->contains(p), is_inside(p)) << p.x << " " << p.y;
      for (const double off : {-1e-13, 1e-13}) {
        const Vec2 near{p.x + off, p.y + off};
        EXPECT_EQ(region->contains(near), is_inside(near)) << p.x << " " << p.y << " " << off;
      }
    }
  }
  EXPECT_FALSE(region->contains({1e15, 1.0}));
  EXPECT_FALSE(region->contains({std::nan(""), 1.0}));
}

TEST(Region, a_segment_with_a_radius_excludes_what_is_within_it) {
  std::vector<Region::Segment> segments;
  for (std::size_t i = 0; i < 4; ++i) {
    const Vec2 corners[] = {{0, 0}, {1, 0}, {1, 1}, {0, 1}};
    segments.push_back({corners[i], corners[(i + 1) % 4], i == 0 ? 0.125 : 0.0});
  }
  const Region region(segments);
  EXPECT_TRUE(region.contains({0.5, 0.25}));
  EXPECT_FALSE(region.contains({0.5, 0.125}));
  EXPECT_TRUE(region.contains({0.5, 0.9375}));
}

TEST(Region, excursion_is_bounded_for_shapes_with_many_vertices) {
  Ring many;
  for (int i = 0; i < 200; ++i) {
    const double angle = 2.0 * std::numbers::pi * i / 200;
    many.push_back({3.0 * std::cos(angle), 3.0 * std::sin(angle)});
  }
  Shape ego;
  ego.add_part(many, 0.5);
  const Scene scene = scene_in(region_of(kRings));
  Scene::Ego memory(ego);
  const PoseResult found = scene.check(memory, {-20, 5, 0.0}, {.mode = Mode::distance});
  EXPECT_EQ(found.verdict, Verdict::collision);
  EXPECT_NEAR(found.distance, -23.5, 1e-9);
  EXPECT_NEAR(found.lower_bound, -23.5, 1e-3);
  EXPECT_LE(found.lower_bound, -23.5);
}

// The vehicle is inside and touches a side of the region: its points of contact are on that side.
TEST(Region, contact_is_where_the_boundary_is_touched) {
  const auto region = region_of({{{0, 0}, {10, 0}, {10, 10}, {0, 10}}});
  const Scene scene = scene_in(region);
  const Shape ego = box(1.0, 0.5);
  Scene::Ego memory(ego);
  for (const Pose pose : {Pose{9.0, 5.0, 0.0}, Pose{5.0, 0.5, 0.0}, Pose{1.0, 9.5, 0.0}}) {
    const PoseResult found = scene.check(memory, pose, {.mode = Mode::witness});
    EXPECT_EQ(found.verdict, Verdict::collision);
    EXPECT_EQ(found.distance, 0.0);
    for (const Vec2 p : {found.witness_ego, found.witness_obstacle}) {
      EXPECT_NEAR(std::min({p.x, p.y, 10.0 - p.x, 10.0 - p.y}), 0.0, 1e-12);
      EXPECT_LE(std::fabs(p.x - pose.x), 1.0 + 1e-12);
      EXPECT_LE(std::fabs(p.y - pose.y), 0.5 + 1e-12);
    }
  }
}

// [0, 10] x [0, 10]. Each segment may be off by `uncertainty` (m), beside the inflation.
std::shared_ptr<const Region> inflated_square(double inflation, double uncertainty) {
  const Ring ring{{0, 0}, {10, 0}, {10, 10}, {0, 10}};
  std::vector<Region::Segment> segments;
  for (std::size_t i = 0; i < ring.size(); ++i) {
    const double radius =
        uncertainty > 0.0 ? (inflation + uncertainty) * (1.0 + 0x1p-52) : inflation;
    segments.push_back({ring[i], ring[(i + 1) % ring.size()], radius});
  }
  return std::make_shared<const Region>(segments, inflation);
}

// An obstacle at 3.2 m is farther than a boundary at 3.29 m from which 0.2 m must be kept.
TEST(Region, inflation_decides_what_is_nearest) {
  const Shape ego = box(0.5, 0.4);
  const Pose pose{5.0, 3.69, 0.0};
  for (const double uncertainty : {0.0, 1e-9}) {
    Scene scene;
    Shape disc;
    disc.add_part(std::vector<Vec2>{{0.0, 0.0}}, 1.0);
    scene.add(disc, {5.0, 3.69 + 0.4 + 3.2 + 1.0, 0.0});
    scene.set_region(inflated_square(0.2, uncertainty));
    scene.build();
    const double off = 1e-12 + 2.0 * uncertainty;
    Scene::Ego memory(ego);
    const PoseResult found = scene.check(memory, pose, {.mode = Mode::witness});
    EXPECT_TRUE(is_free(found.verdict));
    EXPECT_EQ(found.nearest, 1);
    EXPECT_NEAR(found.distance, 3.09, off);
    EXPECT_NEAR(found.lower_bound, 3.09, off);
    EXPECT_NEAR(found.witness_ego.y, 3.29, off);
    EXPECT_NEAR(found.witness_obstacle.y, 0.2, off);
    for (const std::size_t k : {1, 3}) {
      std::vector<Nearest> nearest;
      ASSERT_EQ(scene.nearest(memory, pose, k, 1e9, nearest), Status::success);
      ASSERT_EQ(nearest.size(), std::min<std::size_t>(k, 2));
      EXPECT_EQ(nearest[0].obstacle, 1);
      EXPECT_NEAR(nearest[0].closest.distance, 3.09, off);
      EXPECT_NEAR(nearest[0].closest.lower_bound, 3.09, off);
      if (k > 1) {
        EXPECT_NEAR(nearest[1].closest.distance, 3.2, 1e-12);
      }
    }
    GradientQuery query(scene, ego, 1);
    std::vector<Gradient> gradients(1);
    ASSERT_EQ(query.at(pose, gradients), Status::success);
    EXPECT_EQ(gradients[0].obstacle, 1);
    EXPECT_NEAR(gradients[0].distance, 3.09, off);
    EXPECT_NEAR(gradients[0].by_y, 1.0, 1e-12);
    const PathResult path = check_path(scene, ego, {&pose, 1}, {}, {});
    EXPECT_TRUE(is_free(path.verdict));
    EXPECT_LE(path.distance.lower, 3.09);
    EXPECT_GE(path.distance.upper, 3.09 - 1e-12);
    EXPECT_LE(path.distance.upper, 3.1);
  }
}

}  // namespace
}  // namespace gjk::region_test
