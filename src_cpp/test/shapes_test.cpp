// SPDX-FileCopyrightText: gjk_collision contributors
// SPDX-License-Identifier: Apache-2.0
// Queries about two shapes of several parts, shapes from points, and texts.
#include "gjk/shapes.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "gjk/shape/make.hpp"
#include "gjk/text.hpp"

namespace gjk::shapes_test {
namespace {

// A U, open to the top: its hull contains more than itself.
Shape make_u() {
  const std::vector<Vec2> u{{0, 0}, {6, 0}, {6, 3}, {5, 3}, {5, 1}, {1, 1}, {1, 3}, {0, 3}};
  Shape shape;
  EXPECT_FALSE(make_polygon(u, shape));
  EXPECT_GT(shape.parts(), 1);
  return shape;
}
Shape unit_box() {
  Shape shape;
  EXPECT_FALSE(make_box(1.0, 1.0, shape));
  return shape;
}

TEST(Shapes, AnswerForTheNearestOfAllParts) {
  const Shape u = make_u();
  const Shape box = unit_box();
  struct Case {
    Pose at;  // of the box
    double distance;
    Verdict verdict;
  };
  const Case cases[] = {
      {{3.0, 2.0, 0.0}, 0.5, Verdict::free},       // in the opening: 0.5 above the base
      {{3.0, 1.5, 0.0}, 0.0, Verdict::collision},  // stands on it
      {{2.0, 1.25, 0.0}, -0.25, Verdict::collision},
      {{8.5, 2.0, 0.0}, 2.0, Verdict::free},  // beside an arm
      {{-2.0, 2.0, 0.0}, 1.5, Verdict::free},
  };
  for (const Case& c : cases) {
    EXPECT_EQ(collide(u, box, {}, c.at), c.verdict) << c.at.x;
    EXPECT_EQ(collide(box, u, c.at, {}), c.verdict) << c.at.x;
    EXPECT_NEAR(distance(u, box, {}, c.at), c.distance, 1e-12) << c.at.x;
    const ClosestShapes found = closest(u, box, {}, c.at);
    EXPECT_EQ(found.closest.status, Status::success);
    EXPECT_LE(found.closest.lower_bound, c.distance);
    // The parts that it names are as near.
    Room room;
    const Closest pair =
        closest(u.part(found.part_a), room.place(box.part(0), Transform::from_pose(c.at)));
    EXPECT_EQ(pair.distance, found.closest.distance);
  }
  EXPECT_EQ(collide(u, box, {}, {3.0, 2.0, 0.0}, 0.49), Verdict::free);
  EXPECT_EQ(collide(u, box, {}, {3.0, 2.0, 0.0}, 0.5), Verdict::collision);
}

TEST(Shapes, AreUnknownOutsideTheDomainAndSayWhy) {
  const Shape box = unit_box();
  struct Case {
    Shape a;
    Pose pose_a;
    Pose pose_b;
    std::string reason;
  };
  const Case cases[] = {
      {box, {}, {kNaN, 0.0, 0.0}, "pose_b: x, y and yaw must be finite (got (nan, 0, 0))"},
      {box,
       {0.0, 0.0, 1e7},
       {},
       "pose_a: magnitude of yaw must not exceed 1e6 rad (got (0, 0, 1e+07))"},
      {box, {1e15, 0.0, 1.0}, {}, "pose_a: must not move the shape out of the range of 1e15 m"},
      {{}, {}, {}, "a: must have a part"},
  };
  for (const Case& c : cases) {
    EXPECT_EQ(collide(c.a, box, c.pose_a, c.pose_b), Verdict::unknown) << c.reason;
    EXPECT_TRUE(std::isnan(distance(c.a, box, c.pose_a, c.pose_b))) << c.reason;
    EXPECT_EQ(text_of(explain_pair(c.a, box, c.pose_a, c.pose_b)), c.reason);
  }
  EXPECT_FALSE(explain_pair(box, box));
}

TEST(Shapes, AreRefusedWithTheTextOfPython) {
  Shape shape = unit_box();
  const std::vector<Vec2> bad{{0, 0}, {1, 0}, {kNaN, 1}}, line{{0, 0}, {1, 1}, {2, 2}};
  const std::vector<Vec2> concave{{0, 0}, {2, 0}, {1, 0.5}, {1, 2}};
  EXPECT_EQ(text_of(make_polygon(bad, shape)), "xy[2]: must be finite");
  EXPECT_EQ(text_of(make_polygon(line, shape)), "xy: all vertices lie on one line: no area");
  EXPECT_EQ(text_of(make_polygon(concave, shape, 0.0, ConcavePolicy::reject)),
            "xy[2]: the outline is not convex at this vertex");
  EXPECT_EQ(text_of(make_hull({}, shape)), "points: must hold at least 1 point");
  EXPECT_EQ(text_of(make_hull(line, shape, -1.0)), "radius: must not be negative (got -1)");
  EXPECT_EQ(text_of(make_box(0.0, 1.0, shape)), "length: must be greater than 0");
  EXPECT_NEAR(distance(shape, unit_box(), {3.0, 0.0, 0.0}), 2.0, 1e-12);  // unchanged
}

TEST(Points, AreCountedByAnyTypeOfIntegers) {
  const std::vector<double> x{0, 1, 1, 0}, y{0, 0, 1, 1};
  const Hull hull{x.data(), y.data(), x.size()};
  EXPECT_EQ(collide(hull, Hull{x.data(), y.data(), 4}), Verdict::collision);
  EXPECT_EQ(Convex::view(x.data(), y.data(), x.size()).size, 4);
  for (const auto none : {std::int64_t{-1}, std::int64_t{1} << 40}) {
    EXPECT_EQ(collide(hull, Hull{x.data(), y.data(), none}), Verdict::unknown);
  }
}

TEST(Texts, NameResults) {
  EXPECT_EQ(to_string(Verdict::free), "FREE");
  EXPECT_EQ(to_string(Status::coord_range), "COORD_RANGE");
  EXPECT_EQ(to_string(Status::success), "SUCCESS");
  PoseResult result;
  result.status = Status::prediction_too_short;
  result.nearest = 3;
  EXPECT_EQ(to_string(result), "UNKNOWN: PREDICTION_TOO_SHORT, obstacle 3");
  result.verdict = Verdict::collision;
  result.distance = -0.25;
  EXPECT_EQ(to_string(result), "COLLISION, obstacle 3, distance -0.25 m");
}

}  // namespace
}  // namespace gjk::shapes_test
