// SPDX-FileCopyrightText: gjk_collision contributors
// SPDX-License-Identifier: Apache-2.0
// Paths through a scene. gjk_verify and test/lib/test_path_durations.py sample them densely.
#include "gjk/scene/path.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace gjk::path_test {
namespace {

Shape shape_of(const std::vector<Vec2>& vertices, double radius = 0.0) {
  Shape shape;
  shape.add_part(vertices, radius);
  return shape;
}

Shape box(double length, double width) {
  const double x = 0.5 * length, y = 0.5 * width;
  return shape_of({{x, y}, {-x, y}, {-x, -y}, {x, -y}});
}

Scene scene_of(const Shape& shape, const Pose& pose, const std::vector<Piece>& motion = {}) {
  Scene scene;
  scene.add(shape, pose, motion);
  scene.build();
  return scene;
}

TEST(Path, meets_what_moves) {
  // Both 10 m/s towards each other from 100 m: boxes of 4 m touch after 4.8 s.
  const Piece oncoming = Piece::moving({100.0, 0.0, 0.0}, {-10.0, 0.0, 0.0});
  const Scene scene = scene_of(box(4, 2), {100.0, 0.0, 0.0}, {oncoming});
  const std::vector<Pose> poses{{0, 0, 0}, {40, 0, 0}, {80, 0, 0}};
  const std::vector<double> times{0, 4, 8};
  const PathResult result = check_path(scene, box(4, 2), poses, times, {});
  EXPECT_EQ(result.verdict, Verdict::collision);
  EXPECT_EQ(result.first_invalid_segment, 1);
  EXPECT_NEAR(result.first_collision_time, 4.8, 0.001);
  EXPECT_LE(result.first_collision_time, 4.8);
  EXPECT_NEAR(result.last_valid_fraction, 0.2, 0.001);
  EXPECT_EQ(result.obstacle, 0);
  // At rest the same obstacle is not in the way.
  EXPECT_EQ(check_path(scene, box(4, 2), poses, {}, {}).verdict, Verdict::free);
  // Of a path that outlives the prediction the rest is not known.
  Piece known = oncoming;
  known.begin = 0.0;
  known.end = 2.0;
  const Scene ending = scene_of(box(4, 2), {100.0, 0.0, 0.0}, {known});
  const PathResult early = check_path(ending, box(4, 2), poses, times, {});
  EXPECT_EQ(early.verdict, Verdict::unknown);
  EXPECT_EQ(early.status, Status::prediction_too_short);
  EXPECT_NEAR(early.last_valid_fraction, 0.5, 1e-9);
  EXPECT_EQ(early.distance.lower, -kInfinity);
}

TEST(Path, the_error_of_the_times_counts_at_the_ends_of_what_is_known) {
  // A point, known for 2 s, that is 0.3 m away from the ego at the first or the last time.
  const auto verdict = [](double start, double error, double margin) {
    for (const double direction : {1.0, -1.0}) {
      Piece piece = Piece::moving({direction * 102.3, 0.0, 0.0}, {-direction * 50.0, 0.0, 0.0});
      piece.begin = 0.0;
      piece.end = 2.0;
      Scene scene;
      scene.add(shape_of({{0.0, 0.0}}), {direction * 102.3, 0.0, 0.0}, std::vector<Piece>{piece});
      scene.set_time_error(error);
      scene.build();
      const std::vector<Pose> poses{{direction * (start == 0.0 ? 100.0 : 0.0), 0.0, 0.0}};
      const PathResult result =
          check_path(scene, box(4, 2), poses, std::vector<double>{start}, {.margin = margin});
      if (!is_free(result.verdict)) return result.verdict;
      EXPECT_LE(result.distance.lower, 0.3 - error * 50.0);
    }
    return Verdict::free;
  };
  for (const double start : {0.0, 2.0}) {
    EXPECT_EQ(verdict(start, 0.0, 0.0), Verdict::free) << start;
    EXPECT_EQ(verdict(start, 0.001, 0.0), Verdict::free) << start;
    EXPECT_EQ(verdict(start, 0.001, 0.28), Verdict::margin) << start;
    EXPECT_EQ(verdict(start, 0.01, 0.0), Verdict::collision) << start;
  }
}

// The other arguments: explain_test.cpp.
TEST(Path, bad_input_is_never_free) {
  const Scene scene = scene_of(box(4, 2), {100.0, 0.0, 0.0});
  const Shape ego = box(4, 2);
  const auto verdict = [&](const std::vector<Pose>& poses, const std::vector<double>& times,
                           const PathOptions& options, const Shape& shape) {
    return check_path(scene, shape, poses, times, options).verdict;
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
    EXPECT_NE(verdict(good, {}, {.tolerance = bad}, ego), Verdict::free) << bad;
    EXPECT_NE(verdict(good, {}, {}, shape_of({{0, 0}, {bad, 0}, {1, 1}})), Verdict::free) << bad;
    EXPECT_NE(verdict(good, {}, {}, shape_of({{0, 0}}, bad)), Verdict::free) << bad;
  }
}

}  // namespace
}  // namespace gjk::path_test
