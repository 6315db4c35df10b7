// SPDX-FileCopyrightText: gjk_collision contributors
// SPDX-License-Identifier: Apache-2.0
// Paths through a scene against dense sampling of the pairs: nothing is tunnelled through, nothing
// is said late, and what is refused does come near.
#include "gjk/scene/path.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "gjk/query.hpp"

namespace gjk::path_test {
namespace {

constexpr double kTolerance = 0.01;
constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

Shape shape_of(const std::vector<Vec2>& vertices, double radius = 0.0) {
  Shape shape;
  shape.add_part(vertices, radius);
  return shape;
}

Shape box(double length, double width) {
  const double x = 0.5 * length, y = 0.5 * width;
  return shape_of({{x, y}, {-x, y}, {-x, -y}, {x, -y}});
}

// The obstacles beside the scene made of them.
struct World {
  struct Obstacle {
    Shape shape;
    Pose pose;
    std::vector<Piece> motion;
  };

  void add(const Shape& shape, const Pose& pose, std::vector<Piece> motion = {}) {
    obstacles.push_back({shape, pose, std::move(motion)});
    scene.add(shape, pose, obstacles.back().motion);
  }
  // Of the ego at a pose to the nearest; at a time, if it is one.
  double distance_at(const Shape& ego, const Pose& pose, double time) const {
    double least = kInfinity;
    for (const Obstacle& obstacle : obstacles) {
      Pose place = obstacle.pose;
      if (!std::isnan(time)) {
        std::size_t hint = 0;
        place = piece_at(obstacle.motion, time, hint)->at(time, 0.0).pose;
      }
      Rooms rooms;
      least = std::min(least,
                       closest(rooms.p.place(ego.part(0), Transform::from_pose(pose)),
                               rooms.q.place(obstacle.shape.part(0), Transform::from_pose(place)))
                           .distance);
    }
    return least;
  }

  std::vector<Obstacle> obstacles;
  Scene scene;
};

// Of the motion within one segment, at a share of the way.
struct Sample {
  double share;
  double distance;
};
std::vector<Sample> samples(const World& world, const Shape& ego, const Piece& segment, bool timed,
                            int count) {
  std::vector<Sample> result;
  for (int i = 0; i <= count; ++i) {
    const double share = static_cast<double>(i) / count;
    const double time = segment.begin + share * (segment.end - segment.begin);
    const Pose pose = segment.at(time, 0.0).pose;
    result.push_back({share, world.distance_at(ego, pose, timed ? time : kNaN)});
  }
  return result;
}

TEST(Path, holds_against_dense_sampling) {
  constexpr int kSamples = 400;
  std::mt19937_64 random(7);
  const auto in = [&random](double low, double high) {
    return std::uniform_real_distribution<double>(low, high)(random);
  };
  int verdicts[4] = {0, 0, 0, 0};
  for (int round = 0; round < 250; ++round) {
    const bool timed = round % 2 == 1;
    const double margin = round % 3 == 0 ? 0.5 : 0.0;
    const Vec2 middle = round % 5 == 0 ? Vec2{6.6e5, 4e6} : Vec2{};
    const Shape ego = round % 7 == 0 ? shape_of({{0, 0}}, 0.8) : box(4.0, 1.8);
    World world;
    for (int i = 0; i < 12; ++i) {
      const Pose pose{middle.x + in(-25, 25), middle.y + in(-25, 25), in(-3, 3)};
      const Piece piece = Piece::moving(pose, {in(-4, 4), in(-4, 4), i % 2 ? in(-1, 1) : 0.0});
      const Shape shape =
          i % 4 == 0 ? shape_of({{-2, 0}, {2, 0}}, i % 8 == 0 ? 0.1 : 0.0) : box(in(0.5, 3), 0.5);
      world.add(shape, pose, {piece});
    }
    world.scene.build();
    std::vector<Pose> poses;
    std::vector<double> times;
    Pose pose{middle.x + in(-25, 25), middle.y + in(-25, 25), in(-3, 3)};
    for (int i = 0; i < 4; ++i) {
      poses.push_back(pose);
      if (timed) times.push_back(1.5 * i);
      pose = {pose.x + in(-8, 8), pose.y + in(-8, 8), pose.yaw + in(-1.5, 1.5)};
    }
    const PathResult result =
        check_path(world.scene, ego, poses, times, {.margin = margin, .tolerance = kTolerance});
    ++verdicts[static_cast<int>(result.verdict)];
    ASSERT_EQ(result.status, Status::success);
    const bool hit = result.verdict == Verdict::collision;

    double least = kInfinity;  // of what the result speaks of
    bool past_valid = false;
    for (std::size_t i = 0; i + 1 < poses.size(); ++i) {
      const double begin = timed ? times[i] : static_cast<double>(i);
      const double end = timed ? times[i + 1] : static_cast<double>(i + 1);
      const Piece segment = Piece::between(begin, poses[i], end, poses[i + 1]);
      const bool ends_here = static_cast<std::int64_t>(i) == result.first_invalid_segment;
      for (const auto& [share, distance] : samples(world, ego, segment, timed, kSamples)) {
        least = std::min(least, distance);
        if (ends_here && share >= result.last_valid_fraction) past_valid = true;
        if (past_valid) continue;
        ASSERT_GT(distance, margin - 1e-9) << "round " << round << " segment " << i << " " << share;
      }
      if (ends_here) {
        // There it does come near: the first moment is at most a tolerance early.
        const double time = begin + result.last_valid_fraction * (end - begin);
        const double there =
            world.distance_at(ego, segment.at(time, 0.0).pose, timed ? time : kNaN);
        ASSERT_LE(there, margin + kTolerance + 1e-9) << "round " << round;
        ASSERT_GE(result.obstacle, 0);
        past_valid = true;
      }
      if (hit && timed && result.first_collision_time <= end) break;
      if (hit && !timed && ends_here && margin == 0.0) break;
    }
    // Bounds on the least distance, of everything or of more than what was sampled.
    ASSERT_LE(result.distance.lower, least + 1e-9) << "round " << round;
    if (!hit) {
      ASSERT_GE(result.distance.upper, least - 0.1) << "round " << round;  // sampled every 0.05 m
      ASSERT_LE(result.distance.lower, result.distance.upper);
      ASSERT_EQ(result.verdict == Verdict::free, result.first_invalid_segment < 0);
      if (result.verdict == Verdict::free) {
        ASSERT_GT(result.distance.lower, margin);
      }
    } else {
      ASSERT_LE(result.distance.lower, kTolerance);
    }
  }
  EXPECT_GT(verdicts[static_cast<int>(Verdict::free)], 20);
  EXPECT_GT(verdicts[static_cast<int>(Verdict::collision)], 20);
  EXPECT_GT(verdicts[static_cast<int>(Verdict::margin)], 5);
}

TEST(Path, never_tunnels) {
  // A wire without width, across the way of a small ego that takes it in one step.
  std::mt19937_64 random(8);
  const auto in = [&random](double low, double high) {
    return std::uniform_real_distribution<double>(low, high)(random);
  };
  const Shape ego = box(0.2, 0.1);
  for (int round = 0; round < 500; ++round) {
    const double reach = std::pow(10.0, in(1, 5));
    World world;
    world.add(shape_of({{0, -0.5}, {0, 0.5}}), {0.0, 0.0, in(-1.2, 1.2)});
    world.scene.build();
    const std::vector<Pose> poses{{-reach, in(-0.1, 0.1), in(-3, 3)},
                                  {reach, in(-0.1, 0.1), in(-3, 3)}};
    const PathResult result = check_path(world.scene, ego, poses, {}, {});
    ASSERT_EQ(result.verdict, Verdict::collision) << "round " << round << " reach " << reach;
    ASSERT_EQ(result.first_invalid_segment, 0);
    const double at = -reach + result.last_valid_fraction * 2.0 * reach;
    ASSERT_LT(at, 0.0) << "round " << round;
    ASSERT_GT(at, -1.0) << "round " << round;
  }
}

TEST(Path, meets_what_moves) {
  // Both 10 m/s towards each other from 100 m: boxes of 4 m touch after 4.8 s.
  const Piece oncoming = Piece::moving({100.0, 0.0, 0.0}, {-10.0, 0.0, 0.0});
  World world;
  world.add(box(4, 2), {100.0, 0.0, 0.0}, {oncoming});
  world.scene.build();
  const std::vector<Pose> poses{{0, 0, 0}, {40, 0, 0}, {80, 0, 0}};
  const std::vector<double> times{0, 4, 8};
  const PathResult result = check_path(world.scene, box(4, 2), poses, times, {});
  EXPECT_EQ(result.verdict, Verdict::collision);
  EXPECT_EQ(result.first_invalid_segment, 1);
  EXPECT_NEAR(result.first_collision_time, 4.8, 0.001);
  EXPECT_LE(result.first_collision_time, 4.8);
  EXPECT_NEAR(result.last_valid_fraction, 0.2, 0.001);
  EXPECT_EQ(result.obstacle, 0);
  // At rest the same obstacle is not in the way.
  EXPECT_EQ(check_path(world.scene, box(4, 2), poses, {}, {}).verdict, Verdict::free);
  // Of a path that outlives the prediction the rest is not known.
  Piece known = oncoming;
  known.begin = 0.0;
  known.end = 2.0;
  World ending;
  ending.add(box(4, 2), {100.0, 0.0, 0.0}, {known});
  ending.scene.build();
  const PathResult early = check_path(ending.scene, box(4, 2), poses, times, {});
  EXPECT_EQ(early.verdict, Verdict::unknown);
  EXPECT_EQ(early.status, Status::prediction_too_short);
  EXPECT_NEAR(early.last_valid_fraction, 0.5, 1e-9);
  EXPECT_EQ(early.distance.lower, -kInfinity);
}

TEST(Path, bad_input_is_never_free) {
  World world;
  world.add(box(4, 2), {100.0, 0.0, 0.0});
  world.scene.build();
  const Shape ego = box(4, 2);
  const auto verdict = [&](const std::vector<Pose>& poses, const std::vector<double>& times,
                           const PathOptions& options, const Shape& shape) {
    return check_path(world.scene, shape, poses, times, options).verdict;
  };
  const std::vector<Pose> good{{0, 0, 0}, {10, 0, 0}};
  ASSERT_EQ(verdict(good, {}, {}, ego), Verdict::free);
  for (const double bad : {kNaN, kInfinity, -kInfinity, 1e300}) {
    for (const Pose& pose : {Pose{bad, 0, 0}, Pose{0, bad, 0}, Pose{0, 0, bad}}) {
      EXPECT_NE(verdict({good[0], pose}, {}, {}, ego), Verdict::free) << bad;
      EXPECT_NE(verdict({pose, good[0]}, {}, {}, ego), Verdict::free) << bad;
      EXPECT_NE(verdict({pose}, {}, {}, ego), Verdict::free) << bad;
    }
    EXPECT_NE(verdict(good, {0.0, bad}, {}, ego), Verdict::free) << bad;
    EXPECT_NE(verdict(good, {bad, 0.0}, {}, ego), Verdict::free) << bad;
    EXPECT_NE(verdict(good, {}, {.margin = bad}, ego), Verdict::free) << bad;
    EXPECT_NE(verdict(good, {}, {}, shape_of({{0, 0}, {bad, 0}, {1, 1}})), Verdict::free) << bad;
    EXPECT_NE(verdict(good, {}, {}, shape_of({{0, 0}}, bad)), Verdict::free) << bad;
  }
  EXPECT_NE(verdict({}, {}, {}, ego), Verdict::free);
  EXPECT_NE(verdict(good, {1.0, 1.0}, {}, ego), Verdict::free);
  EXPECT_NE(verdict(good, {1.0}, {}, ego), Verdict::free);
  EXPECT_NE(verdict(good, {}, {.margin = -1.0}, ego), Verdict::free);
  EXPECT_NE(verdict(good, {}, {.tolerance = 0.0}, ego), Verdict::free);
  EXPECT_NE(verdict(good, {}, {.tolerance = kNaN}, ego), Verdict::free);
  EXPECT_NE(verdict(good, {}, {}, Shape{}), Verdict::free);
}

}  // namespace
}  // namespace gjk::path_test
