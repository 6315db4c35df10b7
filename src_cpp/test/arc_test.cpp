// SPDX-FileCopyrightText: gjk_collision contributors
// SPDX-License-Identifier: Apache-2.0
// Arcs against long double: the error bounds of poses and velocities, and paths of arcs.
#include "gjk/motion/arc.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

#include "gjk/scene/path.hpp"
#include "gjk/scene/scene.hpp"

namespace gjk::arc_test {
namespace {

using Real = long double;

struct RealPose {
  Real x = 0, y = 0, yaw = 0;
};

// The pose after `length` (m) of an arc: the integral of the heading's direction.
RealPose drive(const RealPose& from, Real curvature, Real length) {
  const Real turn = curvature * length;
  const Real yaw = from.yaw + turn;
  if (std::fabs(turn) < 1e-3L) {  // series; the next terms are below 1e-24 of the length
    const Real c = std::cos(from.yaw), s = std::sin(from.yaw);
    const Real t = turn * turn;
    const Real ahead = length * (1 - t / 6 + t * t / 120 - t * t * t / 5040);
    const Real beside = length * turn * (1.0L / 2 - t / 24 + t * t / 720);
    return {from.x + ahead * c - beside * s, from.y + ahead * s + beside * c, yaw};
  }
  return {from.x + (std::sin(yaw) - std::sin(from.yaw)) / curvature,
          from.y - (std::cos(yaw) - std::cos(from.yaw)) / curvature, yaw};
}

class Random {
 public:
  explicit Random(unsigned seed) : generator_(seed) {}
  double in(double low, double high) {
    return std::uniform_real_distribution<double>(low, high)(generator_);
  }
  double power(double low, double high) {
    return std::pow(10.0, in(low, high)) * (in(-1, 1) < 0 ? -1 : 1);
  }

 private:
  std::mt19937_64 generator_;
};

TEST(Arc, poses_and_velocities_are_within_their_bounds) {
  Random random(1);
  for (int i = 0; i < 20000; ++i) {
    const double far = i % 3 == 0 ? 1e6 : 10.0;
    const Pose from{random.in(-far, far), random.in(-far, far), random.in(-9, 9)};
    const double curvature = i % 7 == 0 ? 0.0 : random.power(-14, 2);
    const double length = random.power(-9, 2);
    if (std::fabs(curvature * length) > 50) continue;
    const double begin = i % 2 == 0 ? 0.0 : random.in(0, 1e3);
    const double end = begin + random.in(0.1, 30.0);
    const Piece piece = Piece::arc(begin, {from, 0.0, 0.0}, end, {length, 0.0}, curvature * length);
    const double t = i % 5 == 0 ? end : begin + random.in(0, 1) * (end - begin);
    const Real share = (static_cast<Real>(t) - begin) / (static_cast<Real>(end) - begin);
    const RealPose truth = drive({from.x, from.y, from.yaw}, curvature, share * length);
    const Reached there = piece.on_arc(t);
    const Real off = std::hypot(there.pose.x - truth.x, there.pose.y - truth.y);
    ASSERT_LE(off, there.shift) << curvature << ' ' << length << ' ' << t;
    ASSERT_LE(std::fabs(there.pose.yaw - truth.yaw), there.turn);
    ASSERT_LE(there.shift, 1e-13 * (std::fabs(length) * (1 + std::fabs(curvature * length)) + far));
    const RoundedVelocity now = piece.velocity_at(t);
    const Real speed = length / (static_cast<Real>(end) - begin);
    ASSERT_LE(std::hypot(now.velocity.x - speed * std::cos(truth.yaw),
                         now.velocity.y - speed * std::sin(truth.yaw)),
              now.error);
    ASSERT_LE(now.error, 1e-13 * (1 + std::fabs(curvature * length)) * std::fabs(speed));
  }
}

TEST(Arc, the_errors_of_many_arcs_add_up) {
  Random random(2);
  for (int i = 0; i < 2000; ++i) {
    const Pose start{random.in(-1e3, 1e3), random.in(-1e3, 1e3), random.in(-4, 4)};
    RealPose truth{start.x, start.y, start.yaw};
    Along along(start);
    for (int k = 0; k < 40; ++k) {
      const Arc arc{random.in(-1, 1) * (k % 3), random.in(-3, 3)};
      const Piece piece = along.next(arc, 0.0, std::fabs(arc.length));
      truth = drive(truth, arc.curvature, arc.length);
      const Placement end = piece.at(piece.end, 2.0);
      const Real off = std::hypot(end.pose.x - truth.x, end.pose.y - truth.y) +
                       2.0L * std::fabs(end.pose.yaw - truth.yaw);
      ASSERT_LE(off, end.error);
    }
  }
}

Shape box(double x, double y) {
  Shape shape;
  shape.add_part(std::vector<Vec2>{{-x, -y}, {x, -y}, {x, y}, {-x, y}}, 0.0);
  return shape;
}

TEST(Arc, a_free_curve_has_no_contact) {
  Random random(3);
  const Shape ego = box(2.0, 0.9);
  int free = 0, hit = 0;
  for (int i = 0; i < 300; ++i) {
    Scene scene;
    for (int k = 0; k < 12; ++k) {
      scene.add(box(1.0, 0.05), {random.in(-15, 15), random.in(-15, 15), random.in(-3, 3)});
    }
    scene.build();
    Scene::Ego placed(ego);
    std::vector<Arc> arcs;
    for (int k = 0; k <= i % 4; ++k) arcs.push_back({random.in(-0.5, 0.5), random.in(-4, 4)});
    const ArcPath curve{{random.in(-9, 9), random.in(-9, 9), random.in(-3, 3)}, arcs};
    for (const bool has_distance : {false, true}) {
      const PathResult result = check_path(scene, ego, curve, {}, {.has_distance = has_distance});
      bool touches = false;
      RealPose at{curve.start.x, curve.start.y, curve.start.yaw};
      for (const Arc& arc : arcs) {
        for (int s = 0; s <= 60 && !touches; ++s) {
          const RealPose there = drive(at, arc.curvature, arc.length * (s / 60.0L));
          const Pose pose{static_cast<double>(there.x), static_cast<double>(there.y),
                          static_cast<double>(there.yaw)};
          touches = scene.check(placed, pose, {}).verdict == Verdict::collision;
        }
        at = drive(at, arc.curvature, arc.length);
      }
      ASSERT_FALSE(is_free(result.verdict) && touches) << i;
      ++(is_free(result.verdict) ? free : hit);
    }
  }
  EXPECT_GT(free, 50);
  EXPECT_GT(hit, 50);
}

TEST(Arc, curves_out_of_range_are_refused) {
  Scene scene;
  scene.add(box(1.0, 1.0), {});
  scene.build();
  for (const Arc& arc : {Arc{NAN, 1.0}, Arc{0.1, NAN}, Arc{1e4, 1e4}, Arc{0.0, 1e16}}) {
    const ArcPath curve{{50.0, 50.0, 0.0}, {&arc, 1}};
    const PathResult result = check_path(scene, box(1.0, 1.0), curve, {}, {});
    EXPECT_EQ(result.verdict, Verdict::unknown);
    EXPECT_EQ(result.last_valid_fraction, 0.0);
    EXPECT_EQ(result.first_invalid_segment, 0);
  }
}

// An obstacle on an arc: no box excludes it.
TEST(Arc, an_obstacle_may_move_on_an_arc) {
  const double quarter = std::acos(-1.0) / 2.0;
  const Piece arc =
      Piece::arc(0.0, {{0.0, 0.0, 0.0}, 0.0, 0.0}, 10.0, {20.0 * quarter, 0.0}, 2.0 * quarter);
  Scene scene;
  scene.add(box(0.5, 0.5), {}, {&arc, 1});
  scene.build();
  const Shape ego = box(0.5, 0.5);
  Scene::Ego moving(ego);
  EXPECT_EQ(scene.check(moving, {10.0, 10.0, 0.0}, 5.0, {}).verdict, Verdict::collision);
  EXPECT_EQ(scene.check(moving, {5.0, 5.0, 0.0}, 5.0, {}).verdict, Verdict::free);
}

}  // namespace
}  // namespace gjk::arc_test
