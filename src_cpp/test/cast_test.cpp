// SPDX-FileCopyrightText: gjk_collision contributors
// SPDX-License-Identifier: Apache-2.0
// Moving shapes against dense sampling: nothing is missed, nothing is said late, most is free at
// once.
#include "gjk/motion/cast.hpp"

#include <gtest/gtest.h>

#include <random>

#include "gjk/certificate.hpp"
#include "gjk/motion/underway.hpp"
#include "gjk/query.hpp"
#include "gjk/shape/placing.hpp"

namespace gjk::cast_test {
namespace {

constexpr double kTolerance = 0.005;

constexpr double kX[] = {1.0, -1.0, -1.0, 1.0}, kY[] = {1.0, 1.0, -1.0, -1.0};
const Convex square = Convex::view(kX, kY, 4);

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

// gjk_verify compares the answers with the truth.
TEST(TimeOfImpact, needs_few_iterations) {
  Cases cases;
  long iterations = 0;
  constexpr int kCases = 2000;
  for (int i = 0; i < kCases; ++i) {
    const Case c = cases.next();
    const double margin = i % 4 == 0 ? 0.25 : 0.0;
    const Impact found = time_of_impact(c.moving_a(), c.moving_b(), 0.0, 3.0, {margin, kTolerance});
    ASSERT_EQ(found.status, Status::success) << i;
    iterations += found.iterations;
  }
  EXPECT_LT(iterations, 10L * kCases);
}

TEST(ClosestApproach, holds_against_dense_sampling) {
  Cases cases;
  constexpr int kCases = 500;
  long iterations = 0;
  int unfinished = 0;
  int bounded = 0;
  for (int i = 0; i < kCases; ++i) {
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
    iterations += found.iterations;
    // Without enough iterations, a coarser search has a bound.
    const double infinity = std::numeric_limits<double>::infinity();
    const Approach short_of =
        closest_approach(c.moving_a(), c.moving_b(), 0.0, 3.0, 1e-6, infinity, 30);
    EXPECT_LE(short_of.distance.lower, least) << i;
    if (short_of.status == Status::iteration_limit && least > 1.0) {
      ++unfinished;
      bounded += short_of.distance.lower > 0.0;
    }
  }
  EXPECT_LT(iterations, 20L * kCases);  // a bisection needs 30
  EXPECT_GT(unfinished, kCases / 10);
  EXPECT_GT(bounded, unfinished * 9 / 10);
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

TEST(ShapeCast, is_as_precise_far_from_the_origin) {
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
    const Impact nowhere = ray_cast({far - 10.0, -far}, {}, 8.0, square, goal);
    EXPECT_EQ(nowhere.status, Status::invalid_input);
  }
}

// ---- the bound that each step rests on

// A piece of motion in 64-bit mantissas, its start and rotation off by shares (-1 to 1) of their
// errors.
struct Truly {
  const Convex& shape;
  const Piece& piece;
  long double of_time_error;
  long double of_yaw_error;

  // Largest n.v of the vertices at time t.
  long double support(long double t, Vec2 n) const {
    const long double share = (t - piece.start - of_time_error * piece.time_error) / piece.duration;
    const long double yaw =
        piece.from.yaw + share * (piece.change.yaw + of_yaw_error * piece.yaw_error);
    const long double x = piece.from.x + share * piece.change.x;
    const long double y = piece.from.y + share * piece.change.y;
    const long double c = std::cos(yaw), s = std::sin(yaw);
    long double most = -INFINITY;
    for (int i = 0; i < shape.size; ++i) {
      const Vec2 v = shape.vertex(i);
      most = std::fmax(most, n.x * (c * v.x - s * v.y + x) + n.y * (s * v.x + c * v.y + y));
    }
    return most;
  }
};

class Bounded {
 public:
  double uniform(double low, double high) {
    return std::uniform_real_distribution<double>(low, high)(random_);
  }
  double perhaps(double value) { return uniform(0.0, 1.0) < 0.5 ? value : 0.0; }
  Piece piece() {
    const double far = std::exp2(uniform(-2.0, 30.0));
    Piece piece;
    piece.start = perhaps(uniform(-2.0, 2.0));
    piece.duration = std::exp2(uniform(-3.0, 3.0));
    piece.from = {perhaps(uniform(-far, far)), perhaps(uniform(-far, far)),
                  perhaps(uniform(-9, 9))};
    piece.change = {perhaps(uniform(-9, 9)), perhaps(uniform(-9, 9)), perhaps(uniform(-3, 3))};
    piece.yaw_error = perhaps(std::exp2(uniform(-50.0, -20.0)));
    piece.time_error = perhaps(std::exp2(uniform(-50.0, -10.0)));
    return piece;
  }

 private:
  std::mt19937_64 random_{20261124};
};

TEST(Underway, gap_is_below_the_true_one_and_hardly_smaller) {
  static constexpr double kCarX[] = {3.8, 3.8, -1.0, -1.0}, kCarY[] = {-0.9, 0.9, 0.9, -0.9};
  static constexpr double kFarX[] = {40.0, 38.0}, kFarY[] = {-30.0, 31.0};
  static constexpr double kZero[] = {0.0};
  Bounded random;
  int proven = 0;
  for (int round = 0; round < 5000; ++round) {
    const auto shape = [&] {
      const double radius = random.perhaps(0.5);
      Convex result = round % 3 == 0   ? Convex::view(kCarX, kCarY, 4, radius)
                      : round % 3 == 1 ? Convex::view(kFarX, kFarY, 2, radius)
                                       : Convex::view(kZero, kZero, 1, radius);
      result.error = random.perhaps(std::exp2(random.uniform(-50.0, -10.0)));
      return result;
    };
    const Convex shapes[] = {shape(), shape()};
    const Piece pieces[] = {random.piece(), random.piece()};
    const Moving a = Moving::along(shapes[0], {&pieces[0], 1});
    const Moving b = Moving::along(shapes[1], {&pieces[1], 1});
    const double t = random.uniform(-2.0, 2.0);
    const double s = random.perhaps(random.uniform(0.0, 2.0));
    const detail::Underway from = detail::Underway::from(a, pieces[0], t);
    const detail::Underway to = detail::Underway::from(b, pieces[1], t);
    const double turn = random.uniform(-4.0, 4.0);
    const Vec2 n{std::cos(turn), std::sin(turn)};
    long double truth = INFINITY;
    for (const long double late : {-1.0L, 1.0L}) {
      for (const long double turned : {-1.0L, 1.0L}) {
        const auto at = static_cast<long double>(t) + s;
        const long double near = Truly{shapes[0], pieces[0], late, turned}.support(at, n);
        const long double far = Truly{shapes[1], pieces[1], -late, turned}.support(at, -n);
        const long double opposite = Truly{shapes[1], pieces[1], late, -turned}.support(at, -n);
        truth = std::fmin(truth, -near - std::fmax(far, opposite));
      }
    }
    truth -= shapes[0].radius + shapes[1].radius;
    const long double errors = static_cast<long double>(shapes[0].error) + shapes[1].error;
    for (const bool any_turn : {false, true}) {
      const double lower = Certificate::moving(from, to, n, s, any_turn).lower();
      ASSERT_LE(lower, truth - errors) << round << " " << any_turn;
      // What it gives away: the second order of the turns, or all of them; errors; rounding.
      long double given = 1e-15L * 200 * std::fabs(lower) + 1e-12L;
      for (int k = 0; k < 2; ++k) {
        const Moving& moving = k == 0 ? a : b;
        const Piece& piece = pieces[k];
        const detail::Underway& there = k == 0 ? from : to;
        const long double phi = std::fabs(s * piece.spin());
        given += moving.reach * (!any_turn || piece.spin() == 0.0 ? phi * phi * (1 + phi) : 2.0L);
        given += 8.0L * (piece.at(t, moving.reach).error + shapes[k].error +
                         s * piece.yaw_error / piece.duration * moving.reach);
        given += 4e-14L * (norm1(there.at.t) + (1 + phi) * (1 + phi) * moving.reach +
                           s * norm1(there.velocity));
      }
      ASSERT_GE(lower, truth - errors - given) << round << " " << any_turn;
      proven += lower > 0.0;
      // Concave in s: no lower in between than at both ends.
      if (s > 0.0) {
        const Certificate now = Certificate::moving(from, to, n, 0.0, any_turn);
        const Certificate then = Certificate::moving(from, to, n, s, any_turn);
        const double middle = Certificate::moving(from, to, n, 0.5 * s, any_turn).lower();
        const double size = 1.0 + std::fabs(now.lower()) + std::fabs(then.lower());
        ASSERT_GE(middle, Certificate::during(now, then).lower() - 1e-12 * size) << round;
      }
    }
  }
  EXPECT_GT(proven, 500);
}

TEST(Underway, that_leaves_the_domain_is_unknown) {
  const auto stays = [&](const Pose& pose, const Velocity& velocity, double s) {
    const Piece piece = Piece::moving(pose, velocity);
    const Moving moving = Moving::along(square, {&piece, 1});
    const auto underway = detail::Underway::from(moving, piece, 0.0);
    const Piece still = Piece::still({});
    const auto other = detail::Underway::from(Moving::along(square, {&still, 1}), still, 0.0);
    const bool proves = Certificate::moving(underway, other, {1, 0}, s, false).lower() > -INFINITY;
    EXPECT_EQ(proves, underway.stays_in_domain(s));
    EXPECT_EQ(Certificate::moving(other, underway, {1, 0}, s, false).lower() > -INFINITY, proves);
    return proves;
  };
  const double most = kMaxCoordinate;
  EXPECT_TRUE(stays({0, 0, 0}, {0, 0, 0}, 0.0));
  for (const double sign : {-1.0, 1.0}) {
    EXPECT_TRUE(stays({sign * (most - 2), 0, 0}, {0, 0, 0}, 1.0));
    EXPECT_FALSE(stays({sign * (most - 1), 0, 0}, {0, 0, 0}, 1.0));
    EXPECT_FALSE(stays({0, sign * (most - 1), 0}, {0, 0, 0}, 1.0));
    EXPECT_FALSE(stays({sign * (most - 1), 0, 0}, {-9 * sign, 0, 0}, 1.0));
    EXPECT_TRUE(stays({0, 0, 0}, {sign * (most - 2), 0, 0}, 1.0));
    EXPECT_FALSE(stays({0, 0, 0}, {sign * (most - 2), 0, 0}, 1.5));
    EXPECT_FALSE(stays({0, 0, 0}, {0, sign * (most - 2), 0}, 1.5));
    EXPECT_TRUE(stays({0, 0, sign * kMaxYaw}, {0, 0, 0}, 1.0));
    EXPECT_TRUE(stays({0, 0, 0}, {0, 0, sign * kMaxYaw}, 1.0));
    EXPECT_FALSE(stays({0, 0, 0}, {0, 0, sign * kMaxYaw}, 1.5));
    EXPECT_FALSE(stays({0, 0, sign * 2 * kMaxYaw}, {0, 0, -sign * kMaxYaw}, 1.5));
  }
}

TEST(TimeOfImpact, of_an_interval_that_has_no_length_or_is_too_long) {
  const Piece away = Piece::still({100.0, 0.0, 0.0});
  const Piece here = Piece::still({});
  const auto status = [&](double t0, double t1) {
    return time_of_impact(Moving::along(square, {&away, 1}), Moving::along(square, {&here, 1}), t0,
                          t1)
        .status;
  };
  EXPECT_EQ(status(2.0, 2.0), Status::success);
  EXPECT_EQ(status(2.0, 1.0), Status::invalid_input);
  EXPECT_EQ(status(0.0, std::nextafter(kMaxCoordinate, 0.0)), Status::success);
  EXPECT_EQ(status(0.0, kMaxCoordinate), Status::invalid_input);
}

// Circles of 1 m at (0, 0) and (0, 10); the other shape has circles of 1 m at (20, 0), (15, 10) and
// (0, 40), and moves by -1 m/s in x. The nearest circles touch after 13 s.
TEST(TimeOfImpact, of_shapes_with_parts_is_that_of_the_first_parts) {
  Shape a;
  Shape b;
  for (const Vec2 at : {Vec2{0, 0}, Vec2{0, 10}}) a.add_part(std::vector{at}, 1.0);
  for (const Vec2 at : {Vec2{20, 0}, Vec2{15, 10}, Vec2{0, 40}}) b.add_part(std::vector{at}, 1.0);
  const Piece still = Piece::still({});
  const Piece moving = Piece::moving({}, {-1.0, 0.0, 0.0});
  const Impact hit = time_of_impact(a, {&still, 1}, b, {&moving, 1}, 0.0, 30.0);
  EXPECT_EQ(hit.verdict, Verdict::collision);
  EXPECT_LE(hit.time, 13.0);
  EXPECT_GE(hit.time, 13.0 - 2 * kTolerance);
  EXPECT_LE(hit.last_valid, hit.time);
  const Impact none = time_of_impact(a, {&still, 1}, b, {&moving, 1}, 0.0, 12.9);
  EXPECT_EQ(none.verdict, Verdict::free);
  EXPECT_EQ(none.last_valid, 12.9);
  EXPECT_NEAR(shape_cast(a, {}, {1.0, 0.0}, 30.0, b, {}).time, 13.0, 1e-6);
  const Approach near = closest_approach(a, {&still, 1}, b, {&moving, 1}, 0.0, 3.0);
  EXPECT_LE(near.distance.lower, 10.0);
  EXPECT_GE(near.distance.upper, 10.0);
  EXPECT_NEAR(near.distance.upper, 10.0, 2 * kTolerance);
}

// One pair is free up to 2 s only, the other one collides at 5 s.
TEST(TimeOfImpact, after_an_unknown_part_is_not_later_than_it) {
  Impact unknown;
  unknown.status = Status::iteration_limit;
  unknown.last_valid = 2.0;
  Impact hit;
  hit.verdict = Verdict::collision;
  hit.status = Status::success;
  hit.time = hit.last_valid = 5.0;
  Impact free;
  free.verdict = Verdict::free;
  free.status = Status::success;
  free.last_valid = 9.0;
  for (const Impact& found : {earlier(unknown, hit), earlier(hit, unknown)}) {
    EXPECT_EQ(found.verdict, Verdict::collision);
    EXPECT_EQ(found.time, 2.0);
    EXPECT_EQ(found.last_valid, 2.0);
  }
  for (const Impact& found : {earlier(unknown, free), earlier(free, unknown)}) {
    EXPECT_EQ(found.verdict, Verdict::unknown);
    EXPECT_EQ(found.last_valid, 2.0);
  }
  EXPECT_EQ(earlier(free, hit).time, 5.0);
}

}  // namespace
}  // namespace gjk::cast_test
