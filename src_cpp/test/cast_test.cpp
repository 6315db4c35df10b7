// SPDX-FileCopyrightText: gjk_collision contributors
// SPDX-License-Identifier: Apache-2.0
// Moving shapes against dense sampling: nothing is missed, nothing is said late, most is free at
// once.
#include "gjk/motion/cast.hpp"

#include <gtest/gtest.h>

#include <random>

namespace gjk {
namespace {

constexpr double kTolerance = 0.005;

struct Case {
  Convex a;
  Convex b;
  Piece piece_a;
  Piece piece_b;

  Moving moving_a() const { return Moving::along(a, {&piece_a, 1}); }
  Moving moving_b() const { return Moving::along(b, {&piece_b, 1}); }
  double distance_at(double t) const {
    const auto place = [t](Room& room, const Convex& shape, const Piece& piece) {
      return room.place(shape, Transform::from_pose(piece.at(t, reach(shape)).pose));
    };
    Rooms rooms;
    return closest(place(rooms.p, a, piece_a), place(rooms.q, b, piece_b)).distance;
  }
};

class Cases {
 public:
  Case next() {
    const Pose a{real(9), real(9), real(3)};
    const Pose b{real(9), real(9), real(3)};
    const double spin = ++count_ % 3 == 0 ? 0.0 : real(count_ % 3 == 1 ? 2 : 20);
    return {Convex::view(car_x_, car_y_, 4, count_ % 5 == 0 ? 0.3 : 0.0),
            count_ % 2 == 0 ? Convex::view(car_x_, car_y_, 4) : Convex::view(rod_x_, rod_y_, 2),
            Piece::moving(a, {real(20), real(20), spin}),
            Piece::moving(b, {real(10), real(10), count_ % 4 == 0 ? real(1) : 0.0})};
  }

 private:
  double real(double most) { return std::uniform_real_distribution<double>(-most, most)(random_); }

  static constexpr double car_x_[4] = {3.8, -1.0, -1.0, 3.8};
  static constexpr double car_y_[4] = {0.9, 0.9, -0.9, -0.9};
  static constexpr double rod_x_[2] = {-2.0, 2.0};
  static constexpr double rod_y_[2] = {0.0, 0.0};
  std::mt19937_64 random_{5};
  int count_ = 0;
};

TEST(TimeOfImpact, holds_against_dense_sampling) {
  Cases cases;
  int hits = 0;
  long iterations = 0;
  constexpr int kCases = 2000;
  for (int i = 0; i < kCases; ++i) {
    const Case c = cases.next();
    const double margin = i % 4 == 0 ? 0.25 : 0.0;
    const Impact found = time_of_impact(c.moving_a(), c.moving_b(), 0.0, 3.0, {margin, kTolerance});
    ASSERT_EQ(found.status, Status::success) << i;
    iterations += found.iterations;
    hits += found.hit();
    for (int k = 0; k < 200; ++k) {
      const double t = 3.0 * k / 200;
      if (t < found.last_valid) {
        EXPECT_GT(c.distance_at(t), margin) << "case " << i << " at " << t;
      }
    }
    if (found.hit()) {
      EXPECT_LE(c.distance_at(found.time), margin + kTolerance + 1e-9) << i;
      EXPECT_EQ(found.time, found.last_valid);
    } else {
      EXPECT_EQ(found.verdict, Verdict::free);
      EXPECT_EQ(found.last_valid, 3.0);
    }
  }
  EXPECT_GT(hits, kCases / 10);
  EXPECT_LT(hits, kCases * 9 / 10);
  EXPECT_LT(iterations, 10L * kCases);
}

TEST(ClosestApproach, holds_against_dense_sampling) {
  Cases cases;
  for (int i = 0; i < 500; ++i) {
    const Case c = cases.next();
    const Approach found = closest_approach(c.moving_a(), c.moving_b(), 0.0, 3.0, kTolerance);
    ASSERT_EQ(found.status, Status::success) << i;
    double least = std::numeric_limits<double>::infinity();
    for (int k = 0; k <= 200; ++k) least = std::fmin(least, c.distance_at(3.0 * k / 200));
    EXPECT_LE(found.distance.lower, least) << i;
    if (found.distance.lower > 0.0) {
      EXPECT_LE(found.distance.upper, least + kTolerance + 1e-9) << i;
    }
    const Approach beyond =
        closest_approach(c.moving_a(), c.moving_b(), 0.0, 3.0, kTolerance, 0.5 * least);
    if (least > 0.1) {
      EXPECT_GE(beyond.distance.lower, 0.5 * least) << i;
    }
  }
}

TEST(TimeOfImpact, bad_input_is_never_free) {
  Cases cases;
  const Case c = cases.next();
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const double infinity = std::numeric_limits<double>::infinity();
  const auto verdict = [&](const Piece& piece, double t0, double t1, CastOptions options = {}) {
    return time_of_impact(Moving::along(c.a, {&piece, 1}), c.moving_b(), t0, t1, options).verdict;
  };
  const Piece still = Piece::still({100.0, 0.0, 0.0});
  EXPECT_EQ(verdict(still, 0.0, 0.1), Verdict::free);
  EXPECT_EQ(verdict(still, 1.0, 0.0), Verdict::unknown);
  EXPECT_EQ(verdict(still, nan, 1.0), Verdict::unknown);
  EXPECT_EQ(verdict(still, 0.0, infinity), Verdict::unknown);
  EXPECT_EQ(verdict(still, 0.0, 0.1, {-1.0, 0.1}), Verdict::unknown);
  EXPECT_EQ(verdict(still, 0.0, 0.1, {0.0, 0.0}), Verdict::unknown);
  EXPECT_EQ(verdict(still, 0.0, 0.1, {0.0, nan}), Verdict::unknown);
  EXPECT_EQ(verdict(still, 0.0, 0.1, {0.0, 0.1, 0}), Verdict::unknown);
  for (const double bad : {nan, infinity, 1e300}) {
    EXPECT_EQ(verdict(Piece::still({bad, 0.0, 0.0}), 0.0, 0.1), Verdict::unknown);
    EXPECT_EQ(verdict(Piece::still({0.0, 0.0, bad}), 0.0, 0.1), Verdict::unknown);
    EXPECT_EQ(verdict(Piece::moving({9.0, 9.0, 0.0}, {0.0, 0.0, bad}), 1.0, 2.0), Verdict::unknown);
    if (bad == 1e300) continue;  // away at that speed is free indeed
    EXPECT_EQ(verdict(Piece::moving({100.0, 0.0, 0.0}, {bad, 0.0, 0.0}), 0.0, 0.1),
              Verdict::unknown);
  }
  const Moving nowhere = Moving::along(c.a, {});
  EXPECT_EQ(time_of_impact(nowhere, c.moving_b(), 0.0, 1.0).status, Status::prediction_too_short);
}

TEST(RayCast, meets_the_near_side) {
  const double x[] = {1.0, -1.0, -1.0, 1.0}, y[] = {1.0, 1.0, -1.0, -1.0};
  const Convex square = Convex::view(x, y, 4);
  const Impact hit = ray_cast({-10.0, 0.5}, {2.0, 0.0}, 100.0, square, {});
  EXPECT_TRUE(hit.hit());
  EXPECT_NEAR(hit.time, 9.0, 1e-8);
  EXPECT_LE(hit.time, 9.0);
  EXPECT_EQ(ray_cast({-10.0, 1.5}, {2.0, 0.0}, 100.0, square, {}).verdict, Verdict::free);
  EXPECT_EQ(ray_cast({-10.0, 0.5}, {2.0, 0.0}, 8.0, square, {}).last_valid, 8.0);
  EXPECT_EQ(ray_cast({-10.0, 0.5}, {0.0, 0.0}, 8.0, square, {}).status, Status::invalid_input);
}

TEST(ShapeCast, is_as_precise_far_from_the_origin) {
  const double x[] = {1.0, -1.0, -1.0, 1.0}, y[] = {1.0, 1.0, -1.0, -1.0};
  const Convex square = Convex::view(x, y, 4);
  for (const double far : {0.0, 1e4, 5.5e6, 1e9}) {
    const Pose goal{far, -far, 0.5};
    const Impact ray = ray_cast({far - 10.0, -far}, {1.0, 0.0}, 100.0, square, goal);
    EXPECT_EQ(ray.verdict, Verdict::collision) << far;
    EXPECT_NEAR(ray.time, 10.0 - 1.0 / std::cos(0.5), 1e-8) << far;
    EXPECT_NEAR(ray.closest.point_b.x, far - 1.0 / std::cos(0.5), 1e-8 + 1e-15 * far) << far;
    EXPECT_NEAR(ray.closest.point_b.y, -far, 1e-8 + 1e-15 * far) << far;
    const Pose start{far - 10.0, -far, 0.3};
    const Impact shape = shape_cast(square, start, {1.0, 0.1}, 100.0, square, goal);
    EXPECT_EQ(shape.verdict, Verdict::collision) << far;
    EXPECT_EQ(shape_cast(square, start, {0.0, 1.0}, 100.0, square, goal).verdict, Verdict::free);
  }
}

}  // namespace
}  // namespace gjk
