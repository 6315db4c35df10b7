// SPDX-FileCopyrightText: gjk_collision contributors
// SPDX-License-Identifier: Apache-2.0
// Shapes at poses, placed into a room: against 64-bit mantissas.
#include "gjk/shape/placing.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

#include "gjk/query.hpp"
#include "isas.hpp"
#include "pairs.hpp"

namespace gjk::placing_test {
namespace {

static_assert(sizeof(long double) > sizeof(double), "the reference needs more digits");

struct Point {
  long double x;
  long double y;
};

Point truly_placed(Vec2 p, const Pose& pose) {
  const long double c = std::cos(static_cast<long double>(pose.yaw));
  const long double s = std::sin(static_cast<long double>(pose.yaw));
  return {c * p.x - s * p.y + pose.x, s * p.x + c * p.y + pose.y};
}

class Poses {
 public:
  // Near and far, half of them without a rotation.
  Pose next() {
    const double far = std::exp2(30.0 * unit_(random_));
    return {far * unit_(random_), far * unit_(random_),
            random_() % 2 == 0 ? 0.0 : 7.0 * unit_(random_)};
  }
  // On a grid of thirds, so that sums with a translation are rounded.
  test::Outline outline() {
    test::Outline outline = test::random_outline(random_, random_() % 8 == 0 ? 2000 : 30, 4000);
    for (double& x : outline.x) x /= 3.0;
    for (double& y : outline.y) y /= 3.0;
    return outline;
  }

 private:
  std::mt19937_64 random_{20261122};
  std::uniform_real_distribution<double> unit_{-1.0, 1.0};
};

TEST(Room, what_sums_do_not_round_is_exact) {
  const test::Outline outline{{0, 2, 2, 0}, {0, 0, 1, 1}};
  Room room;
  EXPECT_EQ(room.place(outline.convex(), Transform::from_pose({0.5, -7, 0})).error, 0.0);
  EXPECT_GT(room.place(outline.convex(), Transform::from_pose({0.1, -7, 0})).error, 0.0);
  EXPECT_GT(room.place(outline.convex(), Transform::from_pose({0.5, -7, 0.25})).error, 0.0);
}

TEST(Room, extremes_are_alike_on_all_instruction_sets) {
  Poses poses;
  const simd::Isa usual = simd::isa;
  for (int round = 0; round < 1000; ++round) {
    const test::Outline outline = poses.outline();
    const Transform at = Transform::from_pose(poses.next());
    for (const simd::Isa isa : verify::available_isas()) {
      simd::isa = isa;
      Room room(outline.size());
      const Convex& placed = room.place(outline.convex(), at);
      Convex expected = placed;
      expected.find_extremes();
      for (int k = 0; k < 4; ++k) {
        ASSERT_EQ(placed.extreme[k], expected.extreme[k]) << round;
        ASSERT_EQ(placed.extreme_x[k], expected.extreme_x[k]) << round;
        ASSERT_EQ(placed.extreme_y[k], expected.extreme_y[k]) << round;
      }
      ASSERT_EQ(placed.extent, expected.extent);
      ASSERT_EQ(placed.has_chains, expected.has_chains);
    }
  }
  simd::isa = usual;
}

TEST(Room, extremes_of_as_many_vertices_as_fit_a_vector_of_bits_and_of_more) {
  for (const int size : {7, 8, 9, 63, 64, 65, 66, 127, 128, 200}) {
    test::Outline outline;  // on a circle
    for (int i = 0; i < size; ++i) {
      outline.x.push_back(std::cos(6.283185307179586 * i / size));
      outline.y.push_back(std::sin(6.283185307179586 * i / size));
    }
    ASSERT_LE(outline.convex().extent, 1.0) << size;
    for (const double yaw : {0.0, 0.3, 2.0, -2.5}) {
      const Pose pose{3.0, -4.0, yaw};
      Room room(size);
      const Convex& placed = room.place(outline.convex(), Transform::from_pose(pose));
      Convex expected = placed;
      expected.find_extremes();
      for (int k = 0; k < 4; ++k) ASSERT_EQ(placed.extreme[k], expected.extreme[k]) << size;
      for (int i = 0; i < size; ++i) {
        const Point truth = truly_placed(outline.convex().vertex(i), pose);
        ASSERT_LE(std::hypot(placed.x[i] - truth.x, placed.y[i] - truth.y), placed.error) << size;
      }
    }
  }
}

TEST(BoxAt, what_may_leave_the_domain_may_be_anywhere) {
  const test::Outline outline{{0, 2, 2, 0}, {0, 0, 1, 1}};
  const Box far = box_at(outline.convex(), Transform::from_pose({1e15, 0, 0}));
  EXPECT_LE(far.low.x, -1e15);
  const Convex nothing;
  Rooms rooms;
  const double kNaN = std::numeric_limits<double>::quiet_NaN();
  for (const Pose& pose : {Pose{1e15, 0, 0}, Pose{kNaN, 0, 0}, Pose{0, 0, kNaN}, Pose{9, 9, 1e7}}) {
    const Transform at = Transform::from_pose(pose);
    EXPECT_EQ(collide(outline.convex(), at, outline.convex(), {}, rooms), Verdict::unknown);
    EXPECT_EQ(collide(nothing, at, outline.convex(), {}, rooms), Verdict::unknown);
  }
}

TEST(Room, error_bounds_how_far_a_vertex_is_from_its_true_place) {
  Poses poses;
  for (int round = 0; round < 1000; ++round) {
    const test::Outline outline = poses.outline();
    const Pose pose = poses.next();
    const Transform at = Transform::from_pose(pose, {}, round % 2 == 0 ? 0.0 : 1e-6);
    Convex local = outline.convex(0.25);
    local.error = round % 3 == 0 ? 0.0 : 1e-5;
    Room room(outline.size());
    const Convex& placed = room.place(local, at);
    ASSERT_EQ(placed.radius, 0.25);
    long double rounding = 0.0L;  // of the sums, which is what counts without a rotation
    for (int i = 0; i < placed.size; ++i) {
      const Point truth = truly_placed(local.vertex(i), pose);
      rounding = std::fmax(rounding, std::hypot(placed.x[i] - truth.x, placed.y[i] - truth.y));
    }
    const double given = local.error + at.t_error;
    ASSERT_GE(placed.error, (given + rounding) * (1.0L - 1e-15L)) << round;
    if (pose.yaw == 0.0) {
      ASSERT_LE(placed.error, given + 3.0L * rounding + 1e-20L) << round;
    } else {
      ASSERT_LE(placed.error, given + 1.01 * at.error(local.extent)) << round;
    }
  }
}

TEST(Room, a_coordinate_too_small_for_exact_arithmetic_is_an_error) {
  const test::Outline outline{{0, 2, 2, 0}, {0, 0, 1, 1}};
  Room room;
  for (const double tiny : {1e-41, -1e-300}) {
    EXPECT_EQ(room.place(outline.convex(), Transform::from_pose({tiny, 0, 0})).error,
              kMinExactCoordinate);
    EXPECT_EQ(room.place(outline.convex(), Transform::from_pose({0, tiny, 0})).error,
              kMinExactCoordinate);
  }
  EXPECT_DOUBLE_EQ(room.place(outline.convex(), Transform::from_pose({1e-39, 0, 0})).error, 2e-39);
  Convex uncertain = outline.convex();
  uncertain.error = 0.5;
  EXPECT_DOUBLE_EQ(room.place(uncertain, Transform::from_pose({1e-300, 0, 0})).error, 0.5);
}

TEST(Room, of_a_shape_that_is_not_known_is_not_known) {
  const test::Outline outline{{0, 2, 2, 0}, {0, 0, 1, 1}};
  const test::Outline far{{0, 2e15, 2e15, 0}, {0, 0, 1, 1}};
  const double kNaN = std::numeric_limits<double>::quiet_NaN();
  Room room;
  for (const double yaw : {0.0, 0.5}) {
    EXPECT_EQ(room.place(outline.convex(), Transform::from_pose({1, 2, 0})).extent, 3.0);
    EXPECT_TRUE(std::isnan(room.place(far.convex(), Transform::from_pose({1, 2, yaw})).extent));
    EXPECT_TRUE(
        std::isnan(room.place(outline.convex(), Transform::from_pose({2e15, 2, yaw})).extent));
    EXPECT_TRUE(
        std::isnan(room.place(outline.convex(), Transform::from_pose({kNaN, 2, yaw})).extent));
    EXPECT_TRUE(std::isnan(room.place(Convex{}, Transform::from_pose({1, 2, yaw})).extent));
  }
}

TEST(BoxAt, is_not_much_larger_than_the_rotated_box_of_the_shape) {
  Poses poses;
  for (int round = 0; round < 600; ++round) {
    const test::Outline outline = poses.outline();
    const Pose pose = poses.next();
    const double t_error = round % 3 == 0 ? 0.0 : 0.25;
    Convex local = outline.convex(round % 2 == 0 ? 0.0 : 0.75);
    local.error = round % 5 == 0 ? 0.0 : 0.125;
    const Transform at = Transform::from_pose(pose, {}, t_error);
    const Box box = box_at(local, at);
    long double low[2]{INFINITY, INFINITY}, high[2]{-INFINITY, -INFINITY};
    for (int i = 0; i < 4; ++i) {
      const Point corner =
          truly_placed({local.extreme_x[i < 2 ? 0 : 2], local.extreme_y[i % 2 == 0 ? 1 : 3]}, pose);
      low[0] = std::fmin(low[0], corner.x);
      low[1] = std::fmin(low[1], corner.y);
      high[0] = std::fmax(high[0], corner.x);
      high[1] = std::fmax(high[1], corner.y);
    }
    const double by = local.radius + local.error + t_error;
    const double slack = 1e-13 * (1.0 + local.extent + norm1(at.t));
    const long double off[4]{low[0] - by - box.low.x, low[1] - by - box.low.y,
                             box.high.x - high[0] - by, box.high.y - high[1] - by};
    for (const long double beyond : off) {
      ASSERT_GE(beyond, 0.0L) << round;
      ASSERT_LE(beyond, slack) << round;
    }
  }
}

TEST(PlacedExtent, bounds_the_coordinates_of_the_shape) {
  Poses poses;
  for (int round = 0; round < 600; ++round) {
    const test::Outline outline = poses.outline();
    const Pose pose = poses.next();
    const Transform at = Transform::from_pose(pose, {}, 0.25);
    const double extent = placed_extent(outline.convex(), at);
    for (int i = 0; i < outline.size(); ++i) {
      const Point truth = truly_placed(outline.convex().vertex(i), pose);
      ASSERT_GE(extent, 0.25L + std::fmax(std::fabs(truth.x), std::fabs(truth.y))) << round;
    }
    ASSERT_LE(extent, norm1({pose.x, pose.y}) + 2.0 * outline.convex().extent + 0.26) << round;
  }
  EXPECT_TRUE(std::isnan(placed_extent(Convex{}, Transform::from_pose({}))));
  EXPECT_TRUE(std::isnan(placed_extent(Convex{}, Transform::from_pose({2e15, 0, 0}))));
}

}  // namespace
}  // namespace gjk::placing_test
