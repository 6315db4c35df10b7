// SPDX-FileCopyrightText: gjk_collision contributors
// SPDX-License-Identifier: Apache-2.0
// Storage of many obstacles: compact parts are the placed shapes, equal shapes are stored once, and
// several threads make the same scene.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <random>
#include <vector>

#include "gjk/scene/outlines.hpp"
#include "gjk/scene/packed_parts.hpp"
#include "gjk/scene/scene.hpp"
#include "pairs.hpp"

namespace gjk::large_scene_test {
namespace {

// As place() gives it.
void expect_placed(const PackedParts& parts, std::size_t i, const Convex& local,
                   const Transform& at) {
  std::vector<double> x(static_cast<std::size_t>(local.size));
  std::vector<double> y(x.size());
  Convex placed;
  place(local, at, x.data(), y.data(), placed);
  const Convex found = parts.convex(i);
  ASSERT_EQ(found.size, placed.size);
  EXPECT_EQ(found.radius, placed.radius);
  EXPECT_EQ(std::isnan(found.extent), std::isnan(placed.extent));
  if (std::isnan(placed.extent)) return;
  EXPECT_EQ(found.error, placed.error);
  EXPECT_EQ(found.extent, placed.extent);
  EXPECT_EQ(found.has_chains, placed.has_chains);
  EXPECT_TRUE(std::equal(x.begin(), x.end(), found.x));
  EXPECT_TRUE(std::equal(y.begin(), y.end(), found.y));
  for (int k = 0; k < 4; ++k) {
    EXPECT_EQ(found.extreme[k], placed.extreme[k]);
    EXPECT_EQ(found.extreme_x[k], placed.extreme_x[k]);
    EXPECT_EQ(found.extreme_y[k], placed.extreme_y[k]);
  }
  const Box box = parts.part(i).bounds();
  const Box expected = bounds(placed);
  EXPECT_EQ(box.low.x, expected.low.x);
  EXPECT_EQ(box.low.y, expected.low.y);
  EXPECT_EQ(box.high.x, expected.high.x);
  EXPECT_EQ(box.high.y, expected.high.y);
}

// If it fails, a query sees another obstacle than the one that was added.
TEST(PackedParts, are_the_placed_shapes) {
  std::mt19937_64 random(20261124);
  std::uniform_real_distribution<double> unit(-1.0, 1.0);
  PackedParts parts;
  parts.add_room(3);
  for (int round = 0; round < 5000; ++round) {
    const test::Outline outline = test::random_outline(random, 1 + round % 12, 1000);
    Convex local = outline.convex(round % 3 == 0 ? 0.0 : 0.25);
    if (round % 7 == 0) local.extent = std::numeric_limits<double>::quiet_NaN();
    const Pose pose{1e3 * unit(random), 1e3 * unit(random),
                    round % 2 == 0 ? 0.0 : 3.0 * unit(random)};
    const Transform at = Transform::from_pose(pose);
    parts.replace(0, local, at);  // other numbers of vertices than before
    expect_placed(parts, 0, local, at);
    parts.add(local, at, round);
    EXPECT_EQ(parts.part(parts.size() - 1).owner(), round);
    expect_placed(parts, parts.size() - 1, local, at);
    const PackedParts copy = parts;
    if (round % 500 == 0) expect_placed(copy, 0, local, at);
  }
}

Shape box_of(double length, double width) {
  return test::shape_of({{-length, length, length, -length}, {-width, -width, width, width}});
}

// If it fails, shapes that differ are taken for equal, and an obstacle has the shape of another.
TEST(Outlines, equal_shapes_are_stored_once_and_others_are_not) {
  std::mt19937_64 random(7);
  Outlines outlines;
  std::vector<Shape> shapes;
  for (int i = 0; i < 3000; ++i) {
    Shape shape = box_of(1.0 + static_cast<double>(random() % 5), 1.0);
    if (random() % 2 == 0) shape.add(box_of(0.5, 2.0 + static_cast<double>(random() % 3)));
    if (random() % 4 == 0) shape = shape.inflated(0.5);
    if (random() % 100 == 0) shape = Shape();
    outlines.add(shape);
    shapes.push_back(shape);
  }
  outlines.finish(true);
  std::size_t part = 0;
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    ASSERT_EQ(outlines.begin(i), part);
    ASSERT_EQ(outlines.end(i) - outlines.begin(i), static_cast<std::size_t>(shapes[i].parts()));
    for (int k = 0; k < shapes[i].parts(); ++k, ++part) {
      const Convex expected = shapes[i].part(k);
      const Convex found = outlines.part(part);
      ASSERT_EQ(outlines.owner(part), i);
      ASSERT_EQ(found.size, expected.size);
      EXPECT_EQ(found.radius, expected.radius);
      EXPECT_TRUE(std::equal(found.x, found.x + found.size, expected.x));
      EXPECT_TRUE(std::equal(found.y, found.y + found.size, expected.y));
      EXPECT_EQ(outlines.reach(part), reach(expected));
    }
  }
  EXPECT_EQ(outlines.parts(), part);
  EXPECT_LT(outlines.bytes(), 40 * shapes.size());
}

Scene boxes(std::size_t count, bool equal, unsigned threads, Vec2 middle = {}) {
  std::mt19937_64 random(3);
  const double half = 2.0 * std::sqrt(static_cast<double>(count));
  std::uniform_real_distribution<double> place(-half, half);
  Scene scene;
  scene.reserve(count);
  for (std::size_t i = 0; i < count; ++i) {
    const double length = equal ? 2.0 : 1.0 + 1e-6 * static_cast<double>(i);
    scene.add(box_of(length, 1.0),
              {middle.x + place(random), middle.y + place(random), 0.001 * place(random)});
  }
  scene.build(nullptr, threads);
  return scene;
}

// If it fails, a scene of a million boxes needs more memory than documented.
TEST(Scene, memory_of_boxes) {
  constexpr std::size_t kCount = 20000;
  EXPECT_LE(boxes(kCount, false, 1).bytes(), 250 * kCount);
  EXPECT_LE(boxes(kCount, true, 1).bytes(), 160 * kCount);
}

// If it fails, answers depend on the number of processors.
TEST(Scene, threads_make_the_same_scene) {
  for (const Vec2 middle : {Vec2{}, Vec2{6.6e5, 4e6}}) {
    const Scene one = boxes(100000, false, 1, middle);
    const Shape car = box_of(2.4, 0.9);
    std::vector<Pose> poses;
    std::mt19937_64 random(4);
    std::uniform_real_distribution<double> place(-600.0, 600.0);
    for (int n = 0; n < 5000; ++n) {
      poses.push_back({middle.x + place(random), middle.y + place(random), place(random)});
    }
    for (const unsigned threads : {2U, 3U, 8U}) {
      const Scene several = boxes(100000, false, threads, middle);
      EXPECT_EQ(several.obstacles().origin(), one.obstacles().origin());
      for (const Mode mode : {Mode::collide, Mode::distance}) {
        std::vector<PoseResult> expected(poses.size());
        std::vector<PoseResult> found(poses.size());
        one.check(car, poses, {}, {.mode = mode}, expected);
        several.check(car, poses, {}, {.mode = mode}, found);
        for (std::size_t n = 0; n < poses.size(); ++n) {
          ASSERT_EQ(found[n].verdict, expected[n].verdict);
          // In mode collide, any of several obstacles: the first in the tree.
          ASSERT_EQ(found[n].nearest, expected[n].nearest);
          if (mode == Mode::collide) continue;
          ASSERT_EQ(found[n].distance, expected[n].distance);
        }
      }
    }
  }
}

// If it fails, obstacles far from the frame's origin are placed with larger rounding errors, or the
// origin depends on the order in which they were added.
TEST(Scene, the_local_origin_is_that_of_all_obstacles) {
  const Shape box = box_of(2.0, 1.0);
  const auto origin = [&](const std::vector<Vec2>& places) {
    Scene scene;
    for (const Vec2 at : places) scene.add(box, {at.x, at.y, 0.0});
    scene.build();
    return scene.obstacles().origin();
  };
  const Vec2 far = origin({{6e5, 4e6}, {6e5 + 1000.0, 4e6 + 1000.0}});
  EXPECT_NEAR(far.x, 6e5, 2000.0);
  EXPECT_NEAR(far.y, 4e6, 2000.0);
  const Vec2 zero;
  std::vector<Vec2> places{{6e5, 4e6}, {6e5 + 1000.0, 4e6 + 1000.0}, {-10.0, -10.0}, {1e5, 2e5}};
  std::sort(places.begin(), places.end(), [](Vec2 a, Vec2 b) { return a.x < b.x; });
  do {
    EXPECT_EQ(origin(places), zero);
  } while (std::next_permutation(places.begin(), places.end(),
                                 [](Vec2 a, Vec2 b) { return a.x < b.x; }));
}

// If it fails, an update moves other obstacles that have the same shape or the same page.
TEST(Scene, an_update_of_equal_shapes_changes_its_obstacles_only) {
  const Scene before = boxes(1000, true, 1);
  const Shape large = box_of(5.0, 5.0);
  std::vector<Obstacles::Change> changes(2);
  changes[0].index = 3;
  changes[0].shape = &large;
  changes[0].pose = {500.0, 0.0, 0.0};
  changes[1].index = 700;
  changes[1].pose = {600.0, 0.0, 0.0};
  const Scene after = before.updated(changes);
  const Shape point = test::shape_of({{0.0}, {0.0}});
  Scene::Ego ego(point);
  EXPECT_EQ(after.check(ego, {504.0, 4.0, 0.0}, {}).nearest, 3);
  EXPECT_EQ(after.check(ego, {602.0, 0.0, 0.0}, {}).nearest, 700);
  EXPECT_EQ(after.check(ego, {602.0, 2.0, 0.0}, {}).verdict, Verdict::free);
  for (std::size_t i = 0; i < before.size(); ++i) {
    if (i == 3 || i == 700) continue;
    const Convex expected = before.obstacles().outlines().part(i);
    const Convex found = after.obstacles().outlines().part(i);
    ASSERT_TRUE(std::equal(found.x, found.x + found.size, expected.x));
    const Pose& pose = before.obstacles().pose(i);
    ASSERT_EQ(after.check(ego, pose, {}).verdict, Verdict::collision);
  }
  EXPECT_LE(after.bytes(), 180 * after.size());
}

}  // namespace
}  // namespace gjk::large_scene_test
