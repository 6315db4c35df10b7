// SPDX-FileCopyrightText: gjk_collision contributors
// SPDX-License-Identifier: Apache-2.0
// Poses that are grouped by time: the groups, and the same answers as for each pose alone.
#include "gjk/scene/time_groups.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numbers>
#include <random>
#include <vector>

#include "gjk/scene/scene.hpp"

namespace gjk::time_groups_test {
namespace {

constexpr std::uint32_t kNone = TimeGroups::kNone;

std::vector<std::uint32_t> groups_of(const TimeGroups& groups, std::size_t poses) {
  std::vector<std::uint32_t> result;
  for (std::size_t n = 0; n < poses; ++n) result.push_back(groups.of(n));
  return result;
}

TEST(TimeGroups, times_with_enough_poses) {
  const std::vector<double> times{3, 1, 2, 3, 1, 3, 1, 7, 3};
  const TimeGroups groups(times.size(), times, 3);
  ASSERT_EQ(groups.size(), 2U);
  EXPECT_EQ(groups.time(0), 3.0);
  EXPECT_EQ(groups.time(1), 1.0);
  EXPECT_EQ(groups.others(), 2U);
  EXPECT_EQ(groups_of(groups, times.size()),
            (std::vector<std::uint32_t>{0, 1, kNone, 0, 1, 0, 1, kNone, 0}));

  GroupedPoses order;
  order.arrange(groups, 1, 9, 0, 2);
  EXPECT_EQ(std::vector<std::size_t>(order.of(0).begin(), order.of(0).end()),
            (std::vector<std::size_t>{3, 5, 8}));
  order.arrange(groups, 0, 7, 1, 1);
  EXPECT_EQ(std::vector<std::size_t>(order.of(0).begin(), order.of(0).end()),
            (std::vector<std::size_t>{1, 4, 6}));
}

TEST(TimeGroups, no_times_or_all_different) {
  const TimeGroups none(100, {}, 2);
  EXPECT_EQ(none.size(), 0U);
  EXPECT_EQ(none.others(), 100U);
  EXPECT_EQ(none.of(99), kNone);
  std::vector<double> times;
  for (int i = 0; i < 1000; ++i) times.push_back(i);
  times.resize(2000, std::numeric_limits<double>::quiet_NaN());  // equal to no time
  const TimeGroups different(times.size(), times, 50);
  EXPECT_EQ(different.size(), 0U);
  EXPECT_EQ(different.others(), 2000U);
  EXPECT_EQ(different.of(1999), kNone);
}

TEST(TimeGroups, answers_are_those_of_each_pose) {
  std::mt19937_64 random(16);
  const auto in = [&random](double low, double high) {
    return std::uniform_real_distribution<double>(low, high)(random);
  };
  const auto box = [](double length, double width) {
    Shape shape;
    const std::vector<Vec2> corners{{0, 0}, {length, 0}, {length, width}, {0, width}};
    shape.add_part(corners, 0.0);
    return shape;
  };
  const auto same = [](double a, double b) {
    return std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b);
  };
  int hits = 0;
  for (int round = 0; round < 30; ++round) {
    const double far = round % 3 == 0 ? 1e5 : 0.0;  // a local origin
    Scene scene;
    for (int i = 0; i < 1 + round; ++i) {
      const Pose pose{far + in(-20, 20), in(-20, 20), i % 3 == 0 ? 0.0 : in(-3, 3)};
      Piece piece = Piece::moving(pose, {in(-2, 2), in(-2, 2), i % 2 == 0 ? 0.0 : in(-1, 1)});
      if (i % 4 == 0) piece = Piece::still(pose);
      piece.begin = i == 6 ? 0.5 : 0.0;
      piece.end = i == 5 ? 1.5 : 9.0;  // unknown at some times
      scene.add(box(in(1, 4), in(1, 3)), pose, {&piece, 1}, 1e9);
    }
    scene.set_time_error(round % 2 == 0 ? 0.0 : 0.01);
    scene.build();
    Shape car = box(4, 2);
    if (round % 4 == 1) car.add(box(-3, -1));  // with a trailer
    if (round % 4 == 2) {                      // many vertices
      std::vector<Vec2> corners;
      for (int i = 0; i < 20; ++i) {
        const SinCos at = sin_cos(0.1 * std::numbers::pi * i);
        corners.push_back({2.0 * at.cos, at.sin});
      }
      car = {};
      car.add_part(corners, 0.1);
    }
    if (round % 4 == 3) {
      car = {};
      car.add_part(std::vector<Vec2>{{-1, 0}, {2, 0}}, 0.7);
    }
    std::vector<Pose> poses;
    std::vector<double> times;
    for (int i = 0; i < 600; ++i) {
      poses.push_back({far + in(-20, 20), in(-20, 20), i % 7 == 0 ? 0.0 : in(-3, 3)});
      times.push_back(1e9 + (i % 40 == 0 ? in(0, 4) : i % 3));
    }
    // Else this test compares each pose with itself.
    ASSERT_EQ(TimeGroups(poses.size(), times, 64).size(), 3U);
    Scene::Ego ego(car);
    std::vector<PoseResult> results(poses.size());
    for (const Mode mode : {Mode::collide, Mode::distance, Mode::witness}) {
      const CheckOptions options{.margin = 0.1 * (round % 2), .mode = mode};
      scene.check(car, poses, times, options, results, 1 + static_cast<unsigned>(round) % 3);
      for (std::size_t n = 0; n < poses.size(); ++n) {
        const PoseResult alone = scene.check(ego, poses[n], times[n], options);
        ASSERT_EQ(results[n].verdict, alone.verdict) << round << " " << n;
        ASSERT_EQ(results[n].status, alone.status) << round << " " << n;
        hits += alone.verdict == Verdict::collision ? 1 : 0;
        if (mode == Mode::collide) continue;
        ASSERT_TRUE(same(results[n].distance, alone.distance)) << round << " " << n;
        ASSERT_TRUE(same(results[n].lower_bound, alone.lower_bound)) << round << " " << n;
        ASSERT_EQ(results[n].nearest, alone.nearest) << round << " " << n;
        ASSERT_TRUE(same(results[n].witness_ego.x, alone.witness_ego.x)) << round << " " << n;
      }
    }
  }
  EXPECT_GT(hits, 5000);
}

}  // namespace
}  // namespace gjk::time_groups_test
