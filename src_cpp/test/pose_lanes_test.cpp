// SPDX-FileCopyrightText: gjk_collision contributors
// SPDX-License-Identifier: Apache-2.0
// Poses in lanes: every set gives the same proofs, they agree with the query in double precision,
// and batches have the results of single poses.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>
#include <span>
#include <vector>

#include "gjk/scene/pose_groups.hpp"
#include "gjk/scene/scene.hpp"
#include "isas.hpp"

namespace gjk::pose_lanes_test {
namespace {

Shape polygon(const std::vector<Vec2>& vertices, double radius = 0.0) {
  Shape shape;
  shape.add_part(vertices, radius);
  return shape;
}
Shape box(double length, double width) {
  return polygon({{-length, -width}, {length, -width}, {length, width}, {-length, width}});
}

double real(std::mt19937_64& random, double low, double high) {
  return std::uniform_real_distribution<double>(low, high)(random);
}

// The answers for a group of all the poses.
PoseGroup::Answers answers_of(const Scene& scene, const LaneShape& ego,
                              const std::vector<Pose>& poses, double margin = 0.0) {
  std::vector<std::size_t> numbers(poses.size());
  std::iota(numbers.begin(), numbers.end(), 0);
  const PoseGroup group(ego, poses, numbers);
  EXPECT_EQ(group.size(), static_cast<int>(poses.size()));
  const Obstacles& obstacles = scene.obstacles();
  EXPECT_TRUE(group.is_in_range(obstacles.origin()));
  const FloatBox around = group.around(obstacles.origin(), margin);
  Bvh::Hits hits;
  std::size_t found = 0;
  const Exhausted search = obstacles.overlapping({&around, 1}, Obstacles::at_rest(), hits, found);
  return group.compare(
      search, std::span(hits).first(found), obstacles.origin(),
      [&](std::size_t part) { return obstacles.at_rest(part); },
      [&](std::size_t) { return margin; }, false);
}

TEST(PoseLanes, decide_what_is_clear) {
  Scene scene;
  scene.add(box(0.5, 0.5), {3.0, 0.0, 0.0});
  scene.build();
  const Shape robot = box(0.5, 0.3);
  const LaneShape ego(robot);
  const std::vector<Pose> poses{{1.9, 0.0, 0.0},   {1.999, 0.0, 0.0}, {2.0, 0.0, 0.0},
                                {2.001, 0.0, 0.0}, {2.5, 0.0, 0.7},   {3.0, 0.9, 0.0}};
  const PoseGroup::Answers answers = answers_of(scene, ego, poses);
  EXPECT_EQ(answers.free.poses(), 0b100011U);
  EXPECT_EQ(answers.hit, 0b011000U);  // the pose that touches is left open
  EXPECT_EQ(answers_of(scene, ego, poses, 0.05).free.poses(), 0b100001U);
}

TEST(PoseLanes, groups_end_before_what_is_far_or_not_a_number) {
  const Shape robot = box(0.5, 0.3);
  const LaneShape ego(robot);
  const std::vector<std::size_t> numbers{0, 1, 2, 3, 4, 5, 6, 7, 8};
  const auto size_of = [&](const std::vector<Pose>& poses) {
    return PoseGroup(ego, poses, std::span(numbers).first(poses.size())).size();
  };
  const Pose at{2.3, 0.0, 0.0};
  for (const Pose bad : {Pose{kNaN, 0.0, 0.0},
                         {0.0, kNaN, 0.0},
                         {0.0, 0.0, kNaN},
                         {0.0, kInfinity, 0.0},
                         {0.0, 0.0, 2e6},
                         {-0.1, 0.0, 0.0}}) {
    EXPECT_EQ(size_of({at, at, bad, at}), 2);  // -0.1: wider than 4 times 0.583 m
  }
  EXPECT_EQ(size_of({{kNaN, 0.0, 0.0}, at}), 0);
  EXPECT_EQ(size_of({{0.0, 0.0, 0.0}, at, at}), 3);
  EXPECT_EQ(size_of(std::vector<Pose>(9, at)), 8);
  const std::vector<Pose> poses(2, at);
  const PoseGroup group(ego, poses, std::span(numbers).first(2));
  EXPECT_TRUE(group.is_in_range({}));
  EXPECT_FALSE(group.is_in_range({1e7, 0.0}));
  EXPECT_FALSE(LaneShape(polygon({{0.0, 0.0}})).is_usable());  // no reach: no slack
  EXPECT_TRUE(LaneShape(polygon({{0.0, 0.0}}, 0.3)).is_usable());
}

struct Batch {
  Scene scene;
  Shape robot;
  std::vector<Pose> poses;
  std::vector<double> times;
  std::vector<PoseResult> check(const CheckOptions& options, unsigned threads = 1) const {
    std::vector<PoseResult> results(poses.size());
    scene.check(robot, poses, times, options, results, threads);
    return results;
  }
};

// Trajectories of 20 poses among polygons, circles and capsules, with a robot of two parts.
Batch trajectories(std::mt19937_64& random, bool timed, Vec2 origin) {
  Batch batch;
  batch.robot = box(0.5, 0.3);
  batch.robot.add_part(std::vector<Vec2>{{-0.9, -0.1}, {-0.4, -0.1}, {-0.4, 0.1}}, 0.0);
  for (int k = 0; k < 60; ++k) {
    const Pose at{origin.x + real(random, -4.0, 4.0), origin.y + real(random, -4.0, 4.0),
                  real(random, -3.0, 3.0)};
    const Pose later{at.x + real(random, -1.0, 1.0), at.y, at.yaw};
    const Shape shape = k % 3 == 0   ? polygon({{0.0, 0.0}}, 0.1)
                        : k % 3 == 1 ? polygon({{-0.2, 0.0}, {0.2, 0.0}}, 0.05)
                                     : box(0.2, 0.1);
    const Piece piece = Piece::between(0.0, at, 5.0, later);
    batch.scene.add(shape, at, timed ? Motion(&piece, 1) : Motion{});
  }
  batch.scene.build();
  for (int r = 0; r < 150; ++r) {
    Pose at{origin.x + real(random, -3.0, 3.0), origin.y, real(random, -3.0, 3.0)};
    const double rate = real(random, -0.1, 0.1);
    for (int k = 0; k < 20; ++k) {
      at = {at.x + 0.05 * std::cos(at.yaw), at.y + 0.05 * std::sin(at.yaw), at.yaw + rate};
      batch.poses.push_back(at);
      if (timed) batch.times.push_back(0.05 * k);
    }
  }
  return batch;
}

void expect_same(const std::vector<PoseResult>& a, const std::vector<PoseResult>& b,
                 bool with_nearest) {
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t n = 0; n < a.size(); ++n) {
    ASSERT_EQ(a[n].verdict, b[n].verdict) << n;
    ASSERT_EQ(a[n].status, b[n].status) << n;
    ASSERT_TRUE(!with_nearest || a[n].nearest == b[n].nearest) << n;
  }
}

TEST(PoseLanes, batches_have_the_results_of_single_poses) {
  std::mt19937_64 random(20261127);
  const simd::Isa usual = simd::isa;
  for (const bool timed : {false, true}) {
    for (const Vec2 origin : {Vec2{}, Vec2{5e5, 5e6}}) {
      const Batch batch = trajectories(random, timed, origin);
      for (const double margin : {0.0, 0.1}) {
        const CheckOptions options{.margin = margin};
        Scene::Ego ego(batch.robot);
        std::vector<PoseResult> alone;
        int hits = 0;
        for (std::size_t n = 0; n < batch.poses.size(); ++n) {
          alone.push_back(timed ? batch.scene.check(ego, batch.poses[n], batch.times[n], options)
                                : batch.scene.check(ego, batch.poses[n], options));
          hits += static_cast<int>(!is_free(alone.back().verdict));
        }
        EXPECT_GT(hits, 200);
        EXPECT_LT(hits, 2800);
        CheckOptions stop = options;
        stop.stop_at_first = true;
        stop.trajectory = 20;
        std::vector<PoseResult> first = alone;
        for (std::size_t n = 0; n < first.size(); ++n) {
          const bool is_stopped = n % 20 != 0 && !is_free(first[n - 1].verdict);
          if (is_stopped) first[n] = {};
        }
        for (const simd::Isa set : verify::available_isas()) {
          simd::isa = set;
          for (const unsigned threads : {1U, 2U}) {
            expect_same(batch.check(options, threads), alone, !timed);
            expect_same(batch.check(stop, threads), first, !timed);
          }
        }
        simd::isa = usual;
      }
    }
  }
}

// The bits of a distance do not depend on the instruction set, the threads or the other poses.
TEST(PoseLanes, distances_are_those_of_single_poses) {
  constexpr double kNear = 1e-9;  // m
  std::mt19937_64 random(20261129);
  const simd::Isa usual = simd::isa;
  for (const Vec2 origin : {Vec2{}, Vec2{5e5, 5e6}}) {
    Batch batch = trajectories(random, false, origin);
    batch.poses[3].yaw = 0.0;  // exact: not in lanes
    std::vector<std::size_t> order(batch.poses.size());
    std::iota(order.begin(), order.end(), 0);
    std::shuffle(order.begin(), order.end(), random);
    Batch shuffled = batch;
    for (std::size_t n = 0; n < order.size(); ++n) shuffled.poses[n] = batch.poses[order[n]];
    for (const double margin : {0.0, 0.1}) {
      const CheckOptions options{.margin = margin, .mode = Mode::distance};
      const std::vector<PoseResult> first = batch.check(options);
      Scene::Ego ego(batch.robot);
      for (std::size_t n = 0; n < first.size(); ++n) {
        const PoseResult alone = batch.scene.check(ego, batch.poses[n], options);
        ASSERT_EQ(first[n].verdict, alone.verdict) << n;
        ASSERT_EQ(first[n].status, alone.status) << n;
        ASSERT_NEAR(first[n].distance, alone.distance, kNear) << n;
        ASSERT_NEAR(first[n].lower_bound, alone.lower_bound, kNear) << n;
        ASSERT_LE(first[n].lower_bound, first[n].distance) << n;
        if (n == 3) {
          ASSERT_EQ(first[n].distance, alone.distance);
        }
      }
      const auto expect_bits = [&first](const std::vector<PoseResult>& found, const auto& at) {
        for (std::size_t n = 0; n < found.size(); ++n) {
          ASSERT_EQ(found[n].distance, first[at(n)].distance) << n;
          ASSERT_EQ(found[n].lower_bound, first[at(n)].lower_bound) << n;
          ASSERT_EQ(found[n].nearest, first[at(n)].nearest) << n;
        }
      };
      const auto same = [](std::size_t n) { return n; };
      for (const simd::Isa set : verify::available_isas()) {
        simd::isa = set;
        for (const unsigned threads : {1U, 2U}) expect_bits(batch.check(options, threads), same);
        expect_bits(shuffled.check(options), [&order](std::size_t n) { return order[n]; });
      }
      simd::isa = usual;
    }
  }
}

// A wall that is parallel to the vehicle is left to the query of one pose, with other rounding
// errors. It matters only to the poses to which it is nearest.
TEST(PoseLanes, distances_do_not_depend_on_neighbours) {
  std::mt19937_64 random(20261130);
  constexpr double kYaw = 0.3;
  const Vec2 across{-std::sin(kYaw), std::cos(kYaw)};
  Batch batch;
  batch.robot = box(2.0, 1.0);
  for (const double away : {-7.0, -6.0, 6.0, 7.0}) {
    batch.scene.add(box(20.0, 0.1), {away * across.x, away * across.y, kYaw});
  }
  for (int k = 0; k < 12; ++k) {
    const Shape shape = polygon({{1.21, 0.47}, {0.9, 2.98}, {-1.16, 1.31}});
    batch.scene.add(shape, {real(random, -8.0, 8.0), real(random, -8.0, 8.0), 0.0});
  }
  batch.scene.build();
  for (int n = 0; n < 3000; ++n) {
    batch.poses.push_back({real(random, -5.0, 5.0), real(random, -5.0, 5.0), kYaw});
  }
  CheckOptions options{.mode = Mode::distance};
  const std::vector<PoseResult> together = batch.check(options);
  for (std::size_t n = 0; n < batch.poses.size(); ++n) {
    PoseResult alone;
    batch.scene.check(batch.robot, {&batch.poses[n], 1}, {}, options, {&alone, 1});
    ASSERT_EQ(together[n].distance, alone.distance) << n;
    ASSERT_EQ(together[n].lower_bound, alone.lower_bound) << n;
    ASSERT_EQ(together[n].nearest, alone.nearest) << n;
  }
  options.stop_at_first = true;
  options.trajectory = 11;
  const std::vector<PoseResult> stopped = batch.check(options, 2);
  for (std::size_t n = 0; n < stopped.size(); ++n) {
    if (stopped[n].status == Status::undefined) continue;  // behind the stop
    ASSERT_EQ(stopped[n].distance, together[n].distance) << n;
    ASSERT_EQ(stopped[n].nearest, together[n].nearest) << n;
  }
}

TEST(PoseLanes, see_each_pose_with_its_own_shape) {
  std::mt19937_64 random(20261128);
  const Batch batch = trajectories(random, false, {});
  const Shape small = box(0.1, 0.1);
  const std::vector<const Shape*> shapes{&batch.robot, &small};
  std::vector<std::uint32_t> which;
  for (std::size_t n = 0; n < batch.poses.size(); ++n) {
    which.push_back(static_cast<std::uint32_t>(n / 7 % 3 == 0));
  }
  std::vector<PoseResult> together(batch.poses.size());
  batch.scene.check_each(shapes, which, batch.poses, {}, {},
                         [&](std::size_t begin, std::size_t end, const PoseResult& r) {
                           std::fill(&together[begin], &together[end], r);
                         });
  std::vector<PoseResult> alone;
  Scene::Ego robot(batch.robot);
  Scene::Ego other(small);
  for (std::size_t n = 0; n < batch.poses.size(); ++n) {
    alone.push_back(batch.scene.check(which[n] == 0 ? robot : other, batch.poses[n], {}));
  }
  expect_same(together, alone, true);
}

// More parts near a group than one search can return.
TEST(PoseLanes, crowds_take_the_present_query) {
  Scene scene;
  for (int i = 0; i < 40; ++i) {
    for (int j = 0; j < 40; ++j) scene.add(box(0.01, 0.01), {0.05 * i, 0.05 * j, 0.0});
  }
  scene.build();
  const Shape robot = box(0.5, 0.3);
  std::vector<Pose> poses;
  for (int k = 0; k < 200; ++k) poses.push_back({-2.0 + 0.01 * k, 1.0, 0.01 * k});
  std::vector<PoseResult> together(poses.size());
  scene.check(robot, poses, {}, {}, together);
  std::vector<PoseResult> alone;
  Scene::Ego ego(robot);
  for (const Pose& pose : poses) alone.push_back(scene.check(ego, pose, {}));
  expect_same(together, alone, true);
}

}  // namespace
}  // namespace gjk::pose_lanes_test
