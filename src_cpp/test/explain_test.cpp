// SPDX-FileCopyrightText: gjk_collision contributors
// SPDX-License-Identifier: Apache-2.0
// Each mistake has an answer UNKNOWN, and a text that names it.
#include "gjk/scene/explain.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "gjk/motion/reeds_shepp.hpp"
#include "gjk/shape/make.hpp"
#include "gjk/text.hpp"

namespace gjk::explain_test {
namespace {

Shape unit_box() {
  Shape box;
  make_box(1.0, 1.0, box);
  return box;
}

Scene scene_at(const Pose& pose, Motion motion = {}) {
  Scene scene;
  scene.add(unit_box(), pose, motion);
  scene.build();
  return scene;
}

const Pose kFar{50.0, 0.0, 0.0};
const Piece kStands = Piece::still(kFar);

TEST(ExplainPoses, NamesWhatMakesThemUnknown) {
  struct Case {
    std::string text;
    Scene scene = scene_at(kFar, {&kStands, 1});
    Shape ego = unit_box();
    Pose pose{};
    std::vector<double> times{0.0};
    CheckOptions options{};
  };
  const Obstacles::Change missing{.index = 7};
  Scene unbuilt = scene_at(kFar);
  unbuilt.add(unit_box(), kFar);
  Scene shapeless;
  shapeless.add({}, kFar);
  shapeless.build();
  Scene wide = scene_at(kFar);
  const double most = 1e15;
  wide.set_margins({&most, 1}, {});
  wide.build();
  const Case cases[] = {
      {.text = "poses[0]: x, y and yaw must be finite (got (0, nan, 0))", .pose = {0.0, kNaN, 0.0}},
      {.text = "poses[0]: magnitude of x and y must not exceed 1e15 m (got (2e+15, 0, 0))",
       .pose = {2e15, 0.0, 0.0}},
      {.text = "poses[0]: magnitude of yaw must not exceed 1e6 rad (got (0, 0, 2e+06))",
       .pose = {0.0, 0.0, 2e6}},
      {.text = "poses[0]: must not move the shape out of the range of 1e15 m",
       .pose = {1e15, 0.0, 0.0}},
      {.text = "times[0]: must be finite (got nan)", .times = {kNaN}},
      {.text = "times[0]: magnitude must not exceed 1e10 s (got 2e+10)", .times = {2e10}},
      {.text = "times[0]: the pose of the obstacle with index 0 is not known at this time: give it "
               "a velocity (zeros: it never moves) or a longer path, use prediction='hold', or "
               "increase the horizon if it ends before",
       .scene = scene_at(kFar),
       .times = {1.0}},
      {.text = "margin: must not be negative (got -1)", .options = {.margin = -1.0}},
      {.text = "margin: must be finite (got nan)", .options = {.margin = kNaN}},
      {.text = "margin: must not exceed 1e15 m, with the margins of the scene",
       .scene = wide,
       .times = {},
       .options = {.margin = 1e15}},
      {.text = "shape: must have a part", .ego = {}},
      {.text = "scene: call build() after the last add()", .scene = unbuilt},
      {.text = "changes: must lie in [0, 1) (got 7)",
       .scene = scene_at(kFar).updated({&missing, 1})},
      {.text = "obstacles[0]: must have a part", .scene = shapeless},
      {.text = "obstacles[0]: x, y and yaw must be finite (got (nan, 0, 0))",
       .scene = scene_at({kNaN, 0.0, 0.0}),
       .times = {}},
  };
  for (const Case& c : cases) {
    const std::vector<Pose> poses{c.pose};
    EXPECT_EQ(text_of(explain_poses(c.scene, c.ego, poses, c.times, c.options)), c.text);
    for (const Mode mode : {Mode::collide, Mode::distance}) {
      CheckOptions options = c.options;
      options.mode = mode;
      std::vector<PoseResult> results(1);
      c.scene.check(c.ego, poses, c.times, options, results);
      EXPECT_EQ(results[0].verdict, Verdict::unknown) << c.text;
      Scene::Ego ego(c.ego);
      const PoseResult single = c.times.empty() ? c.scene.check(ego, c.pose, options)
                                                : c.scene.check(ego, c.pose, c.times[0], options);
      EXPECT_EQ(single.verdict, Verdict::unknown) << c.text;
      EXPECT_EQ(single.status, results[0].status) << c.text;
    }
  }
  const std::vector<Pose> poses(3);
  const std::vector<double> times(2);
  EXPECT_EQ(text_of(explain_poses(scene_at(kFar), unit_box(), poses, times)),
            "times: must be empty or hold one time for each of 3 (got 2)");
  EXPECT_FALSE(explain_poses(scene_at(kFar), unit_box(), poses));
}

TEST(ExplainPoses, ATimeThatIsNoTimeIsInvalid) {
  const Shape car = unit_box();
  const Scene with_motion = scene_at(kFar, {&kStands, 1});
  Scene empty;
  empty.build();
  for (const Scene& scene : {with_motion, scene_at(kFar), empty}) {
    for (const double time : {kNaN, std::numeric_limits<double>::infinity(), -2e10}) {
      Scene::Ego ego(car);
      EXPECT_EQ(scene.check(ego, {}, time, {}).status, Status::invalid_input);
      std::vector<Nearest> nearest;
      EXPECT_EQ(scene.nearest(ego, {}, time, 1, 1e3, nearest), Status::invalid_input);
      const std::vector<Pose> poses(100);  // enough for a group of poses with one time
      const std::vector<double> times(poses.size(), time);
      std::vector<PoseResult> results(poses.size());
      scene.check(car, poses, times, {}, results);
      for (const PoseResult& result : results) EXPECT_EQ(result.status, Status::invalid_input);
    }
  }
}

TEST(ExplainPath, NamesWhatMakesItUnknown) {
  struct Case {
    std::string text;
    std::vector<Pose> poses{{}, {1.0, 0.0, 0.0}};
    std::vector<double> times{};
    PathOptions options{};
    Shape ego = unit_box();
    Pose obstacle = kFar;
  };
  const Case cases[] = {
      {.text = "poses: must hold at least one pose", .poses = {}},
      {.text = "poses[1]: x, y and yaw must be finite (got (nan, 0, 0))",
       .poses = {{}, {kNaN, 0.0, 0.0}}},
      {.text = "times: must be empty or hold one time for each of 2 (got 1)", .times = {1.0}},
      {.text = "times[1]: must be finite (got nan)", .times = {1.0, kNaN}},
      {.text = "times[1]: must increase strictly (got 1)", .times = {1.0, 1.0}},
      {.text = "times: the pose of the obstacle with index 0 is not known at this time: give it a "
               "velocity (zeros: it never moves) or a longer path, use prediction='hold', or "
               "increase the horizon if it ends before",
       .times = {1.0, 2.0}},
      {.text = "margin: must not be negative (got -1)", .options = {.margin = -1.0}},
      {.text = "tolerance: must be greater than 0 and at most 1e15 m (got 0)",
       .options = {.tolerance = 0.0}},
      {.text = "time_error: must lie in [0, 1e10] s (got -1)", .options = {.time_error = -1.0}},
      {.text = "shape: must have a part", .ego = {}},
      {.text = "obstacles[0]: magnitude of yaw must not exceed 1e6 rad (got (9, 0, 1e+07))",
       .obstacle = {9.0, 0.0, 1e7}},
  };
  for (const Case& c : cases) {
    const Scene scene = scene_at(c.obstacle);
    EXPECT_EQ(text_of(explain_path(scene, c.ego, c.poses, c.times, c.options)), c.text);
    EXPECT_EQ(check_path(scene, c.ego, c.poses, c.times, c.options).verdict, Verdict::unknown)
        << c.text;
  }
  EXPECT_FALSE(explain_path(scene_at(kFar), unit_box(), std::vector<Pose>(2)));
}

TEST(ExplainPath, NamesTheArc) {
  struct Case {
    std::string text;
    Pose start;
    std::vector<Arc> arcs;
  };
  const Case cases[] = {
      {"start: x, y and yaw must be finite (got (nan, 0, 0))", {kNaN, 0.0, 0.0}, {{0.0, 1.0}}},
      {"arcs[1]: curvature and length must be finite (got (0, nan))",
       {},
       {{0.0, 1.0}, {0.0, kNaN}}},
      {"arcs: the yaw of the start and all turns must sum up to at most 1e6 rad, and a path must "
       "be at most 1e15 m long (got 2e+06 and 2)",
       {},
       {{1e6, 2.0}}},
  };
  const Scene scene = scene_at(kFar);
  for (const Case& c : cases) {
    EXPECT_EQ(text_of(explain_path(scene, unit_box(), ArcPath{c.start, c.arcs})), c.text);
    EXPECT_EQ(check_path(scene, unit_box(), ArcPath{c.start, c.arcs}, {}, {}).verdict,
              Verdict::unknown);
  }
}

TEST(ExplainPath, ListsThatDoNotFitAreNeverRead) {
  const Scene scene = scene_at(kFar);
  const std::vector<Pose> starts(2);
  const std::vector<Arc> arcs(3);
  using Offsets = std::vector<std::uint64_t>;
  for (const Offsets& first : {Offsets{}, Offsets{0, 3}, Offsets{0, 2, 4}, Offsets{0, 3, 2},
                               Offsets{0, 4, 3}, Offsets{1, 2, 3}}) {
    std::vector<PathResult> results(2);
    check_paths(scene, unit_box(), starts, first, arcs, {}, {}, results);
    for (const PathResult& result : results) EXPECT_EQ(result.status, Status::invalid_input);
  }
  const std::vector<double> times{0.0, 1.0, 2.0, 3.0};
  std::vector<PathResult> results(2);
  check_paths(scene, unit_box(), starts, Offsets{0, 1, 3}, arcs, times, {}, results);
  for (const PathResult& result : results) EXPECT_EQ(result.status, Status::invalid_input);
}

TEST(ExplainCurve, NamesWhatMakesItsLengthNaN) {
  const std::pair<std::string, Pose> goals[] = {
      {"b: x, y and yaw must be finite (got (nan, 0, 0))", {kNaN, 0.0, 0.0}},
      {"b: magnitude of yaw must not exceed 1e6 rad (got (0, 0, 1e+07))", {0.0, 0.0, 1e7}},
  };
  for (const auto& [text, goal] : goals) {
    EXPECT_TRUE(std::isnan(reeds_shepp({}, goal, 5.0).length()));
    EXPECT_EQ(text_of(explain_curve({}, goal, 5.0)), text);
  }
  EXPECT_EQ(text_of(explain_curve({}, {}, 0.0)),
            "radius: must be greater than 0 and at most 1e15 m (got 0)");
  EXPECT_EQ(text_of(explain_curve({}, {1e15, 0.0, 0.0}, 1e-300)),
            "b: no curve was found: the poses are too far apart for the radius");
  EXPECT_FALSE(explain_curve({}, {3.0, 4.0, 1.0}, 5.0));
}

TEST(ACopyOfAScene, DoesNotChangeTheOther) {
  // The copy gets a small obstacle, and the scene itself a large one in the same slot.
  Shape large, small;
  make_box(20.0, 20.0, large);
  make_box(0.1, 0.1, small);
  Scene scene = scene_at(kFar);
  Scene copy = scene;
  copy.add(small, {10.0, 0.0, 0.0});
  copy.build();
  const Shape car = unit_box();
  Scene::Ego ego(car);
  EXPECT_EQ(scene.check(ego, {}, {}).verdict, Verdict::free);
  const Obstacles::Change change{.index = 0, .pose = {1.0, 0.0, 0.0}};
  EXPECT_EQ(scene.updated({&change, 1}).check(ego, {}, {}).verdict, Verdict::collision);
  scene.add(large, {10.0, 0.0, 0.0});
  scene.build();
  EXPECT_EQ(scene.check(ego, {}, {}).verdict, Verdict::collision);
  EXPECT_EQ(copy.check(ego, {}, {}).verdict, Verdict::free);
}

}  // namespace
}  // namespace gjk::explain_test
