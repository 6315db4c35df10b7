// SPDX-FileCopyrightText: gjk_collision contributors
// SPDX-License-Identifier: Apache-2.0
// Margins of obstacles: what a query requires, and that no obstacle is left out of the search.
#include "gjk/scene/margins.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>

#include "gjk/scene/path.hpp"
#include "gjk/scene/scene.hpp"
#include "pairs.hpp"

namespace gjk::margins_test {
namespace {

using test::shape_of;

constexpr Mode kModes[] = {Mode::collide, Mode::distance, Mode::witness};

Shape point() { return shape_of({{0.0}, {0.0}}); }

// A point that never moves, at (10, 0).
Scene still(double margin, double rate, double stamp = 0.0, double time_error = 0.0) {
  const Piece piece = Piece::still({10.0, 0.0, 0.0});
  Scene scene;
  scene.add(point(), {10.0, 0.0, 0.0}, {&piece, 1}, stamp);
  scene.set_margins(std::span(&margin, 1), std::span(&rate, 1));
  scene.set_time_error(time_error);
  scene.build();
  return scene;
}

TEST(Margins, grow_after_the_stamp_only) {
  Margins margins;
  margins.assign(2, std::array{1.0, 0.0}, std::array{0.0, 0.5});
  margins.update([](std::size_t i) noexcept { return i == 0 ? 0.0 : 100.0; });
  EXPECT_FALSE(margins.none());
  EXPECT_EQ(margins.at(0, {1e9, 0.0}), 1.0);
  EXPECT_EQ(margins.at(1, {-1.0, 0.0}), 0.0);
  for (const double age : {1e-9, 1.0, 3.0, 1e6}) {
    EXPECT_GE(margins.at(1, {age, 0.0}), 0.5 * age);
    EXPECT_NEAR(margins.at(1, {age, 0.0}), 0.5 * age, 1e-14 * age);
    EXPECT_GE(margins.growth(100.0 + age, 0.0), margins.at(1, {age, 0.0}) * (1.0 - 1e-9));
  }
  EXPECT_EQ(margins.growth(99.0, 0.0), 0.0);
  EXPECT_GE(margins.bound(0), 1.0);
}

TEST(Margins, of_zeros_are_none) {
  Margins margins;
  margins.assign(2, {}, {});
  margins.update([](std::size_t) noexcept { return 0.0; });
  EXPECT_TRUE(margins.none());
  EXPECT_EQ(margins.fixed(1), 0.0);
  EXPECT_EQ(margins.at(1, {5.0, 1.0}), 0.0);
  EXPECT_EQ(margins.growth(5.0, 1.0), 0.0);
}

TEST(Margins, decide_between_margin_and_free) {
  const Shape vehicle = point();
  Scene::Ego ego(vehicle);
  for (const Mode mode : kModes) {
    for (const auto& [fixed, expected] :
         {std::pair{10.0, Verdict::margin}, {std::nextafter(10.0, 0.0), Verdict::free}}) {
      const Scene scene = still(fixed, 0.0);
      EXPECT_EQ(scene.check(ego, {}, {.mode = mode}).verdict, expected);
      EXPECT_EQ(scene.check(ego, {}, 1e9, {.mode = mode}).verdict, expected);
      EXPECT_EQ(scene.check(ego, {10.0, 0.0, 0.0}, {.mode = mode}).verdict, Verdict::collision);
    }
    const Scene grows = still(2.0, 0.5, 100.0, 1.0);
    EXPECT_EQ(grows.check(ego, {}, {.mode = mode}).verdict, Verdict::free);
    EXPECT_EQ(grows.check(ego, {}, 114.99, {.mode = mode}).verdict, Verdict::free);
    EXPECT_EQ(grows.check(ego, {}, 115.0, {.mode = mode}).verdict, Verdict::margin);
    EXPECT_EQ(grows.check(ego, {}, 113.5, {.margin = 1.0, .mode = mode}).verdict, Verdict::margin);
  }
}

TEST(Margins, beyond_the_domain_are_unknown) {
  const Shape vehicle = point();
  Scene::Ego ego(vehicle);
  for (const Mode mode : kModes) {
    const Scene scene = still(0.0, 1e15);
    EXPECT_EQ(scene.check(ego, {}, 0.5, {.mode = mode}).verdict, Verdict::margin);
    const PoseResult late = scene.check(ego, {}, 2.0, {.mode = mode});
    EXPECT_EQ(late.verdict, Verdict::unknown);
    EXPECT_EQ(late.status, Status::coord_range);
    EXPECT_EQ(scene.check(ego, {10, 0, 0}, 2.0, {.mode = mode}).verdict, Verdict::collision);
  }
}

// The requirement passes the distance of 10 m after 16 s.
TEST(Margins, end_a_path_in_time) {
  const Scene scene = still(2.0, 0.5);
  const std::array<Pose, 2> poses{};
  for (const double tolerance : {0.1, 0.005, 1e-4}) {
    const std::array times{0.0, 100.0};
    const PathResult found =
        check_path(scene, point(), poses, times, {.margin = 0.0, .tolerance = tolerance});
    EXPECT_EQ(found.verdict, Verdict::margin);
    EXPECT_EQ(found.obstacle, 0);
    EXPECT_LE(100.0 * found.last_valid_fraction, 16.0);
    EXPECT_GE(100.0 * found.last_valid_fraction, 16.0 - 3.0 * tolerance);
    const std::array early{0.0, 15.9};
    const PathResult free = check_path(scene, point(), poses, early, {.tolerance = 0.01});
    EXPECT_EQ(free.verdict, Verdict::free);
    EXPECT_GT(free.distance.lower, 9.9);
  }
}

}  // namespace
}  // namespace gjk::margins_test
