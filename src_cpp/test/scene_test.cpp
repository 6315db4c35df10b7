// SPDX-FileCopyrightText: gjk_collision contributors
// SPDX-License-Identifier: Apache-2.0
// Scenes from C++: a batch is its pairs, and nothing bad is free.
#include "gjk/scene/scene.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <thread>
#include <vector>

#include "gjk/motion/prediction.hpp"
#include "gjk/scene/pairwise.hpp"
#include "gjk/scene/path.hpp"
#include "pairs.hpp"

namespace gjk::scene_test {
namespace {

using test::shape_of;

Shape square() { return shape_of({{-1, 1, 1, -1}, {-1, -1, 1, 1}}); }

Scene scene_of(const std::vector<Vec2>& places) {
  Scene scene;
  for (const Vec2 at : places) scene.add(square(), {at.x, at.y, 0.0});
  scene.build();
  return scene;
}

TEST(Scene, a_result_nobody_filled_is_not_free) {
  const PoseResult result;
  EXPECT_EQ(result.verdict, Verdict::unknown);
  EXPECT_EQ(result.status, Status::undefined);
  EXPECT_TRUE(std::isnan(result.distance));
  EXPECT_EQ(static_cast<int>(Verdict{}), static_cast<int>(Verdict::unknown));
}

TEST(Scene, bad_ego_poses_are_never_free) {
  const Scene scene = scene_of({{50.0, 0.0}});
  const Shape car = square();
  Scene::Ego ego(car);
  for (const double bad : {kNaN, kInfinity, -kInfinity}) {
    for (const Pose& pose : {Pose{bad, 0, 0}, Pose{0, bad, 0}, Pose{0, 0, bad}}) {
      for (const Mode mode : {Mode::collide, Mode::distance}) {
        const PoseResult result = scene.check(ego, pose, {.margin = 0.0, .mode = mode});
        EXPECT_EQ(result.verdict, Verdict::unknown) << pose.x << " " << pose.y << " " << pose.yaw;
        EXPECT_NE(result.status, Status::success);
      }
    }
  }
  // Beyond kMaxYaw the sine has lost its error bound, beyond kMaxCoordinate the predicates theirs.
  EXPECT_NE(scene.check(ego, {0, 0, 2.0 * kMaxYaw}, {}).verdict, Verdict::free);
  EXPECT_NE(scene.check(ego, {2.0 * kMaxCoordinate, 0, 0}, {}).verdict, Verdict::free);
}

TEST(Scene, bad_obstacles_are_never_free) {
  const Shape car = square();
  Scene::Ego ego(car);
  const auto verdict = [&ego](const Shape& shape, const Pose& pose, Mode mode) {
    Scene scene;
    scene.add(square(), {90.0, 0.0, 0.0});
    scene.add(shape, pose);
    scene.build();
    return scene.check(ego, {}, {.margin = 0.0, .mode = mode}).verdict;
  };
  for (const Mode mode : {Mode::collide, Mode::distance}) {
    EXPECT_NE(verdict(shape_of({{50, kNaN, 51}, {0, 0, 1}}), {}, mode), Verdict::free);
    EXPECT_NE(verdict(shape_of({{kNaN}, {kNaN}}), {}, mode), Verdict::free);
    EXPECT_NE(verdict(shape_of({{50}, {0}}, kNaN), {}, mode), Verdict::free);
    EXPECT_NE(verdict(square(), {50.0, 0.0, kNaN}, mode), Verdict::free);
  }
}

TEST(Scene, an_obstacle_that_was_not_built_in_is_never_free) {
  const Shape car = square();
  const auto expect_unknown = [&](const Scene& scene) {
    Scene::Ego ego(car);
    const std::vector<Pose> poses(20);
    for (const Mode mode : {Mode::collide, Mode::distance}) {
      EXPECT_EQ(scene.check(ego, {}, {.mode = mode}).status, Status::invalid_input);
      std::vector<PoseResult> results(poses.size());
      scene.check(car, poses, {}, {.mode = mode}, results);
      for (const PoseResult& result : results) EXPECT_EQ(result.verdict, Verdict::unknown);
    }
    std::vector<Nearest> nearest;
    EXPECT_EQ(scene.nearest(ego, {}, 1, 1e3, nearest), Status::invalid_input);
    EXPECT_EQ(check_path(scene, car, std::vector<Pose>{{}, {1, 0, 0}}, {}, {}).verdict,
              Verdict::unknown);
  };
  Scene scene;
  scene.add(square(), {50.0, 0.0, 0.0});
  expect_unknown(scene);
  const Obstacles::Change change{.index = 0, .pose = {60.0, 0.0, 0.0}};
  expect_unknown(scene.updated({&change, 1}));
  scene.build();
  const Obstacles::Change missing{.index = 1};
  expect_unknown(scene.updated({&missing, 1}));
  scene.add(square(), {0.5, 0.0, 0.0});
  expect_unknown(scene);
  scene.build();
  Scene::Ego ego(car);
  EXPECT_EQ(scene.check(ego, {}, {}).verdict, Verdict::collision);
}

TEST(Scene, lists_of_other_lengths_than_the_poses_are_never_free) {
  const Scene scene = scene_of({{50.0, 0.0}});
  const std::vector<Pose> poses(20);
  const std::vector<double> times(3);
  std::vector<PoseResult> results(poses.size());
  scene.check(square(), poses, times, {}, results);
  for (const PoseResult& result : results) EXPECT_EQ(result.status, Status::invalid_input);
  std::vector<PoseResult> few(3);
  scene.check(square(), poses, {}, {}, few);
  for (const PoseResult& result : few) EXPECT_EQ(result.status, Status::invalid_input);
}

// Everything that a result holds, bit by bit.
void expect_same(const PoseResult& one, const PoseResult& other, std::size_t n) {
  ASSERT_EQ(one.verdict, other.verdict) << n;
  ASSERT_EQ(one.status, other.status) << n;
  ASSERT_EQ(one.nearest, other.nearest) << n;
  const auto same = [](double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); };
  ASSERT_TRUE(same(one.distance, other.distance)) << n;
  ASSERT_TRUE(same(one.lower_bound, other.lower_bound)) << n;
  ASSERT_TRUE(same(one.witness_ego.x, other.witness_ego.x)) << n;
  ASSERT_TRUE(same(one.witness_obstacle.y, other.witness_obstacle.y)) << n;
}

TEST(Scene, a_batch_is_its_poses) {
  // Poses that jump, hop, creep and are none, in any order, and many obstacles on one spot.
  std::mt19937_64 random(47);
  const auto in = [&random](double low, double high) {
    return std::uniform_real_distribution<double>(low, high)(random);
  };
  const Shape car = shape_of({{-1, 4, 4, -1}, {-1, -1, 1, 1}});
  Scene::Ego ego(car);
  int verdicts[4] = {0, 0, 0, 0};
  for (int round = 0; round < 40; ++round) {
    Scene scene;
    for (int i = 0; i < 20 * round; ++i) {
      const double far = i < 400 && round % 2 ? 3.0 : 90.0;
      scene.add(shape_of(test::random_outline(random, 8, 4)),
                {in(-far, far), in(-far, far), in(-3, 3)});
    }
    scene.build();
    std::vector<Pose> poses(1000);
    Pose pose;
    for (Pose& each : poses) {
      const double kind = in(0.0, 1.0);
      if (kind < 0.2) {
        pose = {in(-80, 80), in(-80, 80), in(-3, 3)};
      } else {
        pose.x += kind < 0.3 ? 5.0 : 0.5;
      }
      each = pose;
      if (kind > 0.9) each.yaw = 2.0 * kMaxYaw;
    }
    const CheckOptions options{.margin = round % 3 ? 0.5 : 0.0};
    std::vector<PoseResult> batch(poses.size());
    scene.check(car, poses, {}, options, batch);
    for (std::size_t n = 0; n < poses.size(); ++n) {
      expect_same(batch[n], scene.check(ego, poses[n], options), n);
      ++verdicts[static_cast<int>(batch[n].verdict)];
      if (n % 50 != 0 || scene.size() == 0) continue;
      Scene alone;
      alone.add(car, poses[n]);
      alone.build();
      std::vector<PairResult> pairs(scene.size());  // without the tree
      check_pairs(alone, scene, {}, options, pairs);
      Verdict worst = Verdict::free;
      for (const PairResult& pair : pairs) {
        if (severity(pair.verdict) > severity(worst)) worst = pair.verdict;
      }
      ASSERT_EQ(batch[n].verdict, worst) << n;
    }
  }
  for (const int count : verdicts) EXPECT_GT(count, 500);
}

TEST(Scene, a_batch_is_never_free_of_bad_poses) {
  const Scene scene = scene_of({{50.0, 0.0}});
  for (const Mode mode : {Mode::collide, Mode::distance}) {
    const std::vector<Pose> poses{
        {0, 0, kMaxYaw},         {0, 0, kMaxYaw}, {0.1, 0, kMaxYaw}, {0.2, 0, kMaxYaw},
        {0.2, 0, kMaxYaw + 1.0}, {0.2, kNaN, 0},  {0.2, 0, kNaN},    {0.2, 0, 0}};
    std::vector<PoseResult> results(poses.size());
    scene.check(square(), poses, {}, {.mode = mode}, results);
    for (const std::size_t n : {0U, 1U, 2U, 3U, 7U}) EXPECT_EQ(results[n].verdict, Verdict::free);
    for (const std::size_t n : {4U, 5U, 6U}) EXPECT_EQ(results[n].verdict, Verdict::unknown) << n;
  }
}

TEST(Scene, an_update_leaves_the_scene_to_its_readers) {
  std::vector<Vec2> places;
  for (int i = 0; i < 300; ++i) {
    const int row = i / 20;
    places.push_back({4.0 * (i % 20), 4.0 * row});
  }
  const Scene before = scene_of(places);
  const Shape car = square();
  std::vector<Pose> poses;
  for (const Vec2 at : places) poses.push_back({at.x + 2.5, at.y, 0.0});
  std::vector<PoseResult> then(poses.size()), during(poses.size());
  before.check(car, poses, {}, {.mode = Mode::distance}, then);
  std::jthread reader([&] {
    for (int i = 0; i < 50; ++i) before.check(car, poses, {}, {.mode = Mode::distance}, during);
  });
  Scene now = before;
  for (std::size_t i = 0; i < 50; ++i) {
    const Obstacles::Change change{
        7 * i % 300, nullptr, {1000.0, 10.0 * static_cast<double>(i), 0}, {}};
    now = now.updated({&change, 1});
  }
  reader.join();
  for (std::size_t n = 0; n < poses.size(); ++n) expect_same(then[n], during[n], n);
  Scene::Ego ego(car);
  for (std::size_t i = 0; i < 50; ++i) {
    const Pose there{1000.0, 10.0 * static_cast<double>(i), 0.0};
    EXPECT_EQ(now.check(ego, there, {}).nearest, static_cast<std::int64_t>(7 * i % 300));
    EXPECT_EQ(before.check(ego, there, {}).verdict, Verdict::free);
  }
  EXPECT_GT(before.bytes(), 300 * sizeof(Pose));
}

TEST(Scene, motions_beyond_the_domain_are_never_free) {
  const Shape car = square();
  Scene::Ego ego(car);
  for (const double speed : {1e14, 1e200, 1e308}) {
    Scene scene;
    const Piece piece = Piece::moving({50.0, 0.0, 0.0}, {speed, 0.0, 0.0});
    for (int i = 1; i < 20; ++i) {
      const Pose pose{50.0, 10.0 * i, 0.0};
      const Piece still = Piece::still(pose);
      scene.add(square(), pose, {&still, 1});
    }
    scene.add(square(), {50.0, 0.0, 0.0}, {&piece, 1});
    scene.build();
    for (const Mode mode : {Mode::collide, Mode::distance}) {
      EXPECT_EQ(scene.check(ego, {}, 50.0, {.mode = mode}).verdict, Verdict::unknown) << speed;
    }
  }
}

TEST(Scene, a_part_that_is_not_convex_is_unknown) {
  const Shape box = test::shape_of({{-1, 1, 1, -1}, {-1, -1, 1, 1}});
  for (const test::Outline& outline :
       {test::Outline{{0, 4, 4, 0, 2}, {0, 0, 3, 3, -2}},
        test::Outline{{0, 0, 4, 4}, {0, 3, 3, 0}},  // clockwise
        test::Outline{{0, 2, 0, 2}, {0, 0, 2, 2}},  // a bow tie
        test::Outline{{0, 2, 0, 2, 1}, {0, 2, 2, 0, 3}},
        // a notch whose cross products underflow
        test::Outline{{-2, 2, 2, 5e-324, 0, -3e-323, -2}, {-2, -2, 2, 2e-323, 0, 3e-42, 2}}}) {
    Scene scene;
    scene.add(test::shape_of(outline), {20.0, 0.0, 0.0});
    scene.build();
    Scene::Ego ego(box);
    for (const Mode mode : {Mode::collide, Mode::distance}) {
      CheckOptions options;
      options.mode = mode;
      EXPECT_EQ(scene.check(ego, {}, options).verdict, Verdict::unknown) << outline.literal();
      EXPECT_EQ(scene.check(ego, {1e6, 0.0, 0.0}, options).verdict, Verdict::unknown);
    }
  }
}

// An update is the scene that is built from the same data.
TEST(Scene, an_update_of_shapes_motions_and_margins_is_a_new_scene) {
  std::mt19937_64 random(61);
  const auto in = [&random](double low, double high) {
    return std::uniform_real_distribution<double>(low, high)(random);
  };
  struct Obstacle {
    Shape shape = square();
    Pose pose;
    std::vector<Piece> pieces;
    double margin = 0.0;
    double rate = 0.0;
  };
  Shape two = square();
  two.add_part(std::vector<Vec2>{{2, 0}, {5, 0}, {5, 1}}, 0.2);
  int hits = 0;
  int unknown = 0;
  for (int round = 0; round < 60; ++round) {
    std::vector<Obstacle> obstacles(12);
    for (Obstacle& each : obstacles) {
      each.pose = {in(-15, 15), in(-15, 15), in(-3, 3)};
      if (round % 2 == 0) each.pieces = {Piece::still(each.pose)};
    }
    const auto build = [&](const Vec2* at) {
      Scene scene;
      std::vector<double> margins;
      std::vector<double> rates;
      for (const Obstacle& each : obstacles) {
        scene.add(each.shape, each.pose, {each.pieces.data(), each.pieces.size()}, 0.0);
        margins.push_back(each.margin);
        rates.push_back(each.rate);
      }
      scene.set_margins(margins, rates);
      scene.build(at);
      return scene;
    };
    Scene updated = build(nullptr);
    for (int step = 0; step < 3; ++step) {
      Obstacle& changed = obstacles[random() % obstacles.size()];
      Obstacles::Change change;
      change.index = static_cast<std::size_t>(&changed - obstacles.data());
      changed.pose = {in(-15, 15), in(-15, 15), in(-3, 3)};
      changed.pieces = {Piece::moving(changed.pose, {in(-3, 3), in(-3, 3), in(-1, 1)})};
      if (round % 3 == 0) changed.shape = step == 1 ? square() : two;
      if (round % 4 == 1) changed.margin = 0.5, changed.rate = 0.25;
      change.pose = changed.pose;
      change.motion = {changed.pieces.data(), changed.pieces.size()};
      change.margin = changed.margin;
      change.margin_rate = changed.rate;
      if (round % 3 == 0) change.shape = &changed.shape;
      updated = updated.updated({&change, 1});
    }
    const Scene anew = build(nullptr);
    const Shape car = square();
    Scene::Ego one(car);
    Scene::Ego other(car);
    for (int n = 0; n < 100; ++n) {
      const Pose pose{in(-15, 15), in(-15, 15), in(-3, 3)};
      const double time = in(0, 3);
      const CheckOptions options{.mode = n % 2 == 0 ? Mode::collide : Mode::distance};
      const PoseResult a = updated.check(one, pose, time, options);
      const PoseResult b = anew.check(other, pose, time, options);
      EXPECT_EQ(a.verdict, b.verdict) << round << " " << n;
      EXPECT_EQ(a.status, b.status) << round << " " << n;
      if (n % 2 == 1 && std::isfinite(b.distance)) {
        EXPECT_NEAR(a.distance, b.distance, 1e-12) << round << " " << n;
      }
      EXPECT_EQ(updated.check(one, pose, options).verdict,
                anew.check(other, pose, options).verdict);
      hits += a.verdict == Verdict::collision ? 1 : 0;
      unknown += a.verdict == Verdict::unknown ? 1 : 0;
    }
  }
  EXPECT_GT(hits, 500);
  EXPECT_GT(unknown, 500);  // obstacles without a motion
}

}  // namespace
}  // namespace gjk::scene_test
