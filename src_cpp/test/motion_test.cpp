// SPDX-FileCopyrightText: gjk_collision contributors
// SPDX-License-Identifier: Apache-2.0
// Motions: the stated bounds against 64-bit mantissas, and how wide they are.
#include "gjk/motion/motion.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numbers>
#include <random>
#include <vector>

namespace gjk::motion_test {
namespace {

static_assert(sizeof(long double) > sizeof(double), "the reference needs more digits");

using Wide = long double;

constexpr Wide kWidePi = std::numbers::pi_v<Wide>;

class Random {
 public:
  explicit Random(unsigned seed) : random_(seed) {}
  double uniform(double low, double high) {
    return std::uniform_real_distribution<double>(low, high)(random_);
  }
  double magnitude(double low, double high) {
    return (chance(0.5) ? 1.0 : -1.0) * std::exp2(uniform(low, high));
  }
  bool chance(double p) { return uniform(0.0, 1.0) < p; }
  // Half of the values are 0.
  double perhaps(double value) { return chance(0.5) ? value : 0.0; }

 private:
  std::mt19937_64 random_;
};

struct WidePose {
  Wide x;
  Wide y;
  Wide yaw;
};

// The pose of a piece in real arithmetic, with its start and its rotation off by shares (-1 to 1)
// of their error bounds.
WidePose truly_at(const Piece& piece, Wide t, Wide of_time_error = 0, Wide of_yaw_error = 0) {
  const Wide share = (t - piece.start - of_time_error * piece.time_error) / piece.duration;
  return {piece.from.x + share * piece.change.x, piece.from.y + share * piece.change.y,
          piece.from.yaw + share * (piece.change.yaw + of_yaw_error * piece.yaw_error)};
}

// Upper bound on the distance between a point of the shape at both poses; attained for small turns.
Wide displacement(const WidePose& from, const Pose& to, double reach) {
  const Wide turn = std::fmin(std::fabs(from.yaw - to.yaw), 2.0L);
  return std::hypot(from.x - to.x, from.y - to.y) + turn * reach;
}

Piece any_piece(Random& random) {
  Piece piece;
  piece.start = random.perhaps(random.magnitude(-10, 30));
  piece.duration = std::fabs(random.magnitude(-20, 10));
  const double far = std::exp2(random.uniform(-10, 25));
  piece.from = {random.perhaps(random.uniform(-far, far)),
                random.perhaps(random.uniform(-far, far)),
                random.perhaps(random.magnitude(-10, 15))};
  const double way = std::exp2(random.uniform(-10, 10));
  piece.change = {random.perhaps(random.uniform(-way, way)),
                  random.perhaps(random.uniform(-way, way)), random.perhaps(random.uniform(-4, 4))};
  piece.yaw_error = random.perhaps(std::fabs(random.magnitude(-60, -20)));
  piece.time_error = random.perhaps(std::fabs(random.magnitude(-60, -10)));
  return piece;
}

TEST(Piece, error_covers_rounding_and_the_errors_of_time_and_yaw) {
  Random random(1);
  for (int round = 0; round < 40000; ++round) {
    const Piece piece = any_piece(random);
    const double t = piece.start + random.uniform(-2, 2) * piece.duration;
    const double reach = std::fabs(random.magnitude(-5, 8));
    const Placement at = piece.at(t, reach);
    Wide farthest = 0;
    for (const Wide late : {-1.0L, 1.0L}) {
      for (const Wide turned : {-1.0L, 1.0L}) {
        const WidePose truth = truly_at(piece, t, late, turned);
        farthest = std::fmax(farthest, displacement(truth, at.pose, reach));
      }
    }
    // Transform::from_pose() and travel() cover the rounding of the bound itself.
    ASSERT_LE(farthest, at.error * (1.0L + 4 * kUnitRoundoff)) << round;
    // Rounding counts for at most 64 u of the numbers added.
    const Wide share = std::fabs((Wide(t) - piece.start) / piece.duration);
    const Wide size = std::fabs(at.pose.x) + std::fabs(at.pose.y) + std::fabs(piece.from.x) +
                      std::fabs(piece.from.y) +
                      reach * (std::fabs(at.pose.yaw) + std::fabs(piece.from.yaw));
    const Wide lateness = Wide(piece.time_error) / piece.duration;
    const Wide errors = lateness * (std::fabs(piece.change.x) + std::fabs(piece.change.y) +
                                    reach * (std::fabs(piece.change.yaw) + Wide(piece.yaw_error))) +
                        share * piece.yaw_error * reach;
    ASSERT_LE(at.error, 1.001L * errors + 64 * kUnitRoundoff * size) << round;
  }
}

TEST(Piece, is_still_only_if_nothing_changes) {
  const Pose pose{1.0 / 3.0, -2.0 / 3.0, 0.7};
  const Piece still = Piece::still(pose);
  EXPECT_TRUE(still.is_still());
  EXPECT_EQ(still.begin, -kInfinity);
  EXPECT_EQ(still.end, kInfinity);
  const Placement placed = still.at(1e9, 3.0);
  EXPECT_EQ(placed.error, 0.0);
  EXPECT_EQ(placed.pose.x, pose.x);
  EXPECT_EQ(placed.pose.y, pose.y);
  EXPECT_EQ(placed.pose.yaw, pose.yaw);
  for (const Velocity& velocity :
       {Velocity{1e-9, 0, 0}, Velocity{0, 1e-9, 0}, Velocity{0, 0, 1e-9}}) {
    EXPECT_FALSE(Piece::moving(pose, velocity).is_still());
    EXPECT_GT(Piece::moving(pose, velocity).at(1.0, 3.0).error, 0.0);
  }
  Piece unsure = still;
  unsure.yaw_error = 1e-9;
  EXPECT_FALSE(unsure.is_still());
}

// Speeds and errors may be infinite if the duration is tiny, but nothing is NaN: a comparison with
// NaN could leave an obstacle out.
TEST(Piece, of_any_duration_has_no_nan) {
  for (const double duration : {5e-324, 1e-310, 1e-160, 1e-15}) {
    for (const Vec2 ahead : {Vec2{0.0, 0.0}, Vec2{1.0, 0.0}, Vec2{1e-300, 0.0}}) {
      for (const double turn : {0.0, 1.0}) {
        Piece piece = Piece::arc(0.0, {}, duration, ahead, turn);
        piece.time_error = 1e-14;
        for (const double reach : {0.0, 2.0}) {
          EXPECT_FALSE(std::isnan(piece.speed(reach)));
          for (const double t : {0.0, duration}) {
            const Placement there = piece.at(t, 2.0);
            EXPECT_FALSE(std::isnan(there.pose.x + there.pose.y + there.pose.yaw + there.error));
          }
        }
        // On a clock of its own, it has the same ends and no error of the time.
        const Placement end = piece.in_one_second().at(1.0, 2.0);
        EXPECT_EQ(end.pose.yaw, turn);
        EXPECT_LT(end.error, 1e-13);
      }
    }
    // A stop has no error, at any time.
    Piece stop = Piece::arc(0.0, {}, duration, {}, 0.0);
    stop.time_error = 1e-14;
    EXPECT_EQ(stop.at(-1.0, 2.0).error, 0.0);
    EXPECT_EQ(stop.at(-1.0, 2.0).pose.x, 0.0);
  }
}

TEST(Piece, moving_passes_the_pose_at_its_time) {
  const Piece piece = Piece::moving({1.0, 2.0, 0.5}, {3.0, -4.0, 0.25}, 10.0);
  const Pose at = piece.at(12.0, 0.0).pose;
  EXPECT_EQ(at.x, 7.0);
  EXPECT_EQ(at.y, -6.0);
  EXPECT_EQ(at.yaw, 1.0);
  EXPECT_EQ(piece.velocity(), (Vec2{3.0, -4.0}));
  EXPECT_EQ(piece.spin(), 0.25);
  EXPECT_EQ(piece.begin, -kInfinity);
  EXPECT_EQ(piece.end, kInfinity);
}

TEST(Piece, between_leads_from_pose_to_pose_the_shorter_way) {
  Random random(2);
  for (int round = 0; round < 20000; ++round) {
    const double begin = random.perhaps(random.magnitude(-5, 20));
    const double end = begin + std::fabs(random.magnitude(-5, 5));
    const Pose from{random.uniform(-9, 9), random.uniform(-9, 9), random.magnitude(-10, 19)};
    const Pose to{random.uniform(-9, 9), random.uniform(-9, 9),
                  random.chance(0.2) ? from.yaw : random.magnitude(-10, 19)};
    const Piece piece = Piece::between(begin, from, end, to);
    ASSERT_EQ(piece.begin, begin);
    ASSERT_EQ(piece.end, end);
    // Half a turn, up to the rounding of the difference of both yaws.
    ASSERT_LE(std::fabs(piece.change.yaw), 3.1415926536);
    const double reach = 2.0;
    for (const double t : {begin, end}) {
      const Pose& goal = t == begin ? from : to;
      const Placement at = piece.at(t, reach);
      const Wide off = std::remainder(Wide(at.pose.yaw) - goal.yaw, 2 * kWidePi);
      ASSERT_LE(displacement({goal.x, goal.y, at.pose.yaw - off}, at.pose, reach), at.error)
          << round;
    }
    const double largest = std::fabs(from.yaw) + std::fabs(to.yaw);
    ASSERT_LE(piece.yaw_error, from.yaw == to.yaw ? 0.0 : 16.0 * kUnitRoundoff * largest);
    ASSERT_GE(piece.yaw_error,
              std::fabs(std::remainder(Wide(to.yaw) - from.yaw - piece.change.yaw, 2 * kWidePi)));
  }
}

TEST(Piece, between_turns_by_up_to_half_a_turn) {
  constexpr double kPi = std::numbers::pi;
  const auto change = [](double from, double to) {
    return Piece::between(0.0, {0, 0, from}, 1.0, {0, 0, to}).change.yaw;
  };
  EXPECT_EQ(change(0.0, 3.0), 3.0);
  EXPECT_EQ(change(0.0, -3.0), -3.0);
  EXPECT_NEAR(change(0.0, 3.5), 3.5 - 2 * kPi, 1e-15);
  EXPECT_NEAR(change(3.0, -3.0), 2 * kPi - 6.0, 1e-15);
  EXPECT_NEAR(change(-20.0, 20.0), 40.0 - 12 * kPi, 1e-14);
  // Both ways are equally short: in the direction of the difference.
  EXPECT_EQ(change(0.0, kPi), kPi);
  EXPECT_EQ(change(kPi, 0.0), -kPi);
  EXPECT_EQ(change(-kPi, 0.0), kPi);
  EXPECT_EQ(change(0.0, 3 * kPi), kPi);
  EXPECT_EQ(change(0.0, -3 * kPi), -kPi);
}

TEST(Piece, between_at_one_time_is_the_first_pose) {
  const Piece piece = Piece::between(2.0, {1, 2, 3}, 2.0, {1, 2, 3});
  EXPECT_EQ(piece.duration, 1.0);
  EXPECT_TRUE(piece.is_still());
  EXPECT_EQ(piece.at(2.0, 1.0).pose.x, 1.0);
}

TEST(Piece, on_a_clock_holds_the_same_motion) {
  Random random(3);
  for (int round = 0; round < 40000; ++round) {
    Piece piece = any_piece(random);
    piece.begin =
        random.chance(0.1) ? -kInfinity : piece.start + random.perhaps(random.magnitude(-9, 9));
    piece.end = random.chance(0.1) ? kInfinity : piece.begin + std::fabs(random.magnitude(-30, 9));
    const double origin = random.magnitude(-10, 31);
    const double error = random.perhaps(std::fabs(random.magnitude(-60, -10)));
    const Piece local = piece.on_clock(origin, error);
    // Each end is moved outwards by the error, and rounded outwards twice.
    for (const bool is_end : {false, true}) {
      const double given = is_end ? piece.end : piece.begin;
      const double found = is_end ? local.end : local.begin;
      if (std::isinf(given)) {
        ASSERT_EQ(found, given);
        continue;
      }
      const Wide outwards = (is_end ? 1 : -1) * (Wide(found) - (Wide(given) - origin));
      ASSERT_GE(outwards, Wide(error)) << round;
      ASSERT_LE(outwards, Wide(error) + 8 * kUnitRoundoff * (std::fabs(found) + error)) << round;
    }
    const Wide rounding = std::fabs(Wide(piece.start) - origin - local.start);
    const Wide unsure = 0x1p-62L * std::fabs(local.start) + 1e-15L * local.time_error;
    ASSERT_GE(local.time_error, rounding + error + piece.time_error - unsure) << round;
    ASSERT_LE(local.time_error, rounding + error + piece.time_error + unsure) << round;
    ASSERT_EQ(local.duration, piece.duration);
    ASSERT_EQ(local.from.x, piece.from.x);
    ASSERT_EQ(local.change.yaw, piece.change.yaw);

    const LocalTime at = local_time(piece.start, origin, error);
    ASSERT_EQ(at.time, local.start);
    ASSERT_GE(at.error, rounding + error - unsure);
    ASSERT_LE(at.error, rounding + error + unsure);
  }
}

// Pieces of one second from time 0 on; the third takes no time.
std::vector<Piece> four_pieces() {
  std::vector<Piece> pieces;
  const double ends[] = {0.0, 1.0, 2.0, 2.0, 3.0};
  for (int i = 0; i < 4; ++i) {
    pieces.push_back(Piece::between(ends[i], {double(i), 0, 0}, ends[i + 1], {i + 1.0, 0, 0}));
  }
  return pieces;
}

TEST(PieceAt, is_the_one_valid_from_then_on) {
  const std::vector<Piece> pieces = four_pieces();
  const struct {
    double time;
    int piece;  // -1: none
  } kCases[] = {{-0.5, -1}, {0.0, 0}, {0.5, 0}, {1.0, 1}, {1.5, 1},
                {2.0, 3},   {2.5, 3}, {3.0, 3}, {3.5, -1}};
  for (const auto& [time, piece] : kCases) {
    for (std::size_t hint = 0; hint < 7; ++hint) {
      std::size_t found = hint;
      const Piece* at = piece_at(pieces, time, found);
      if (piece < 0) {
        ASSERT_EQ(at, nullptr) << time << " " << hint;
      } else {
        ASSERT_EQ(at, &pieces[static_cast<std::size_t>(piece)]) << time << " " << hint;
        ASSERT_EQ(found, static_cast<std::size_t>(piece)) << time << " " << hint;
      }
    }
  }
  std::size_t hint = 0;
  EXPECT_EQ(piece_at({}, 0.0, hint), nullptr);
  // A gap between two pieces is unknown.
  const std::vector<Piece> apart{pieces[0], pieces[3]};
  for (hint = 0; hint < 3; ++hint) {
    std::size_t found = hint;
    EXPECT_EQ(piece_at(apart, 1.5, found), nullptr);
  }
}

// Pieces through random poses; some take very little time.
std::vector<Piece> any_path(Random& random, int count) {
  std::vector<double> times{random.perhaps(random.uniform(-5, 5))};
  std::vector<Pose> poses;
  for (int i = 0; i <= count; ++i) {
    poses.push_back(
        {random.uniform(-9, 9), random.uniform(-9, 9), random.perhaps(random.uniform(-3, 3))});
    const double step = std::fabs(random.magnitude(random.chance(0.5) ? -30 : -3, 2));
    if (i < count) times.push_back(times.back() + step);
  }
  std::vector<Piece> pieces;
  append_path(times, poses, pieces);
  return pieces;
}

Wide moved(const std::vector<Piece>& path, double from, double to, double reach) {
  std::size_t hint = 0;
  const Pose a = piece_at(path, from, hint)->at(from, reach).pose;
  const Pose b = piece_at(path, to, hint)->at(to, reach).pose;
  // A point in the direction of the shift's perpendicular moves by the sum of both.
  const Wide turn = std::fabs(Wide(b.yaw) - a.yaw);
  const Wide shift = std::hypot(Wide(b.x) - a.x, Wide(b.y) - a.y);
  return shift + 2 * std::fabs(std::sin(turn / 2)) * reach;
}

TEST(Drift, bounds_the_way_within_the_error_of_a_time) {
  Random random(4);
  for (int round = 0; round < 20000; ++round) {
    const std::vector<Piece> path = any_path(random, 1 + round % 5);
    const double begin = path.front().begin;
    const double end = path.back().end;
    const LocalTime at{random.uniform(begin, end), std::fabs(random.magnitude(-25, 3))};
    std::size_t hint = 0;
    const Piece* piece = piece_at(path, at.time, hint);
    ASSERT_NE(piece, nullptr);
    const double reach = std::fabs(random.magnitude(-5, 3));
    const double found = drift(path, hint, at, reach);
    Wide fastest = 0;  // each piece adds at most its whole length, but the first and the last go on
    for (const Piece& other : path) {
      if (other.end < at.time - 1.001 * at.error || other.begin > at.time + 1.001 * at.error)
        continue;
      const bool goes_on = &other == &path.front() || &other == &path.back();
      const Wide time = goes_on ? at.error : std::fmin(other.end - other.begin, at.error);
      fastest += time * (norm(other.velocity()) + std::fabs(other.spin()) * reach);
    }
    ASSERT_LE(found, fastest * 1.000001L) << round;
    for (const double share : {-1.0, -0.5, 0.5, 1.0}) {
      double then = std::fmax(begin, std::fmin(end, at.time + share * at.error));
      if (std::fabs(Wide(then) - at.time) > at.error) then = std::nextafter(then, at.time);
      ASSERT_GE(found, moved(path, at.time, then, reach) - 1e-12L) << round << " " << share;
    }
  }
  const std::vector<Piece> path = four_pieces();
  EXPECT_EQ(drift(path, 1, {1.5, 0.0}, 1.0), 0.0);
  EXPECT_NEAR(drift(path, 1, {1.5, 0.25}, 1.0), 0.25, 1e-9);
  EXPECT_NEAR(drift(path, 0, {0.875, 0.25}, 1.0), 0.5, 1e-9);
  EXPECT_NEAR(drift(path, 1, {1.25, 0.25}, 1.0), 0.5, 1e-9);
  // The piece without a duration is within reach: a jump by a metre per second of 0 s.
  EXPECT_GE(drift(path, 1, {1.875, 0.25}, 1.0), 0.25);
  // 10 m/s for 0.01 s at both ends: beyond them, the shape moves on.
  const std::vector<Piece> ends{Piece::between(0, {0, 0, 0}, 0.01, {0.1, 0, 0}),
                                Piece::between(0.01, {0.1, 0, 0}, 1, {0.1, 0, 0}),
                                Piece::between(1, {0.1, 0, 0}, 1.01, {0.2, 0, 0})};
  EXPECT_GE(drift(ends, 0, {0.0, 0.1}, 0.0), 1.0);
  EXPECT_GE(drift(ends, 2, {1.01, 0.1}, 0.0), 1.0);
}

TEST(Drift, counts_a_piece_that_rounding_puts_out_of_reach) {
  // 1 s before 2^53 s is where the first piece ends, up to the rounding of the difference.
  const double far = 0x1p+53;
  const std::vector<Piece> pieces{Piece::between(far - 10, {0, 0, 0}, far - 2, {80, 0, 0}),
                                  Piece::between(far - 2, {80, 0, 0}, far + 4, {80, 0, 0}),
                                  Piece::between(far + 4, {80, 0, 0}, far + 8, {120, 0, 0})};
  EXPECT_GE(drift(pieces, 1, {far, 2.0}, 0.0), 20.0);
  EXPECT_GE(drift(pieces, 1, {far, 3.0}, 0.0), 30.0);
}

TEST(Reach, is_that_of_the_farthest_vertex) {
  const double x[] = {3.0, -6.0, 0.5}, y[] = {4.0, -8.0, 9.0};
  Convex shape = Convex::view(x, y, 3, 0.5);
  EXPECT_GE(reach(shape), 10.0);
  EXPECT_LE(reach(shape), 10.0 + 1e-14);
  shape.error = 0.25;
  EXPECT_GE(reach(shape), 10.25);
  EXPECT_LE(reach(shape), 10.25 + 1e-14);
  Random random(5);
  for (int round = 0; round < 10000; ++round) {
    const double vx = random.magnitude(-40, 40), vy = vx * random.uniform(-2, 2);
    const Wide truth = std::hypot(Wide(vx), Wide(vy));
    ASSERT_GE(reach(Convex::view(&vx, &vy, 1)), truth);
    ASSERT_LE(reach(Convex::view(&vx, &vy, 1)), truth * (1 + 1e-15L));
  }
}

TEST(Travel, bounds_the_distance_from_the_first_position) {
  Random random(6);
  for (int round = 0; round < 10000; ++round) {
    const std::vector<Piece> path = any_path(random, 1 + round % 5);
    double t0 = random.uniform(path.front().begin, path.back().end);
    double t1 = random.uniform(path.front().begin, path.back().end);
    if (t0 > t1) std::swap(t0, t1);
    const double reach = std::fabs(random.magnitude(-5, 3));
    const double bound = travel(path, reach, t0, t1);
    for (const double share : {0.0, 0.3, 0.7, 1.0}) {
      const double t = std::fmin(t1, t0 + share * (t1 - t0));
      ASSERT_GE(bound, moved(path, t0, t, reach)) << round;
    }
    Wide way = 0, turn = 0, error = 0;
    for (const Piece& piece : path) {
      const Wide time = std::fmin(t1, piece.end) - Wide(std::fmax(t0, piece.begin));
      if (time <= 0) continue;
      way += time * norm(piece.velocity());
      turn += time * std::fabs(piece.spin());
      error =
          std::fmax(error, piece.at(piece.begin, reach).error + piece.at(piece.end, reach).error);
    }
    ASSERT_LE(bound, (way + std::fmin(turn, 2.0L) * reach + 4 * error) * (1 + 1e-13L)) << round;
  }
}

TEST(Travel, of_a_straight_way_and_of_turns) {
  const auto moving = [](Velocity velocity) { return Piece::moving({1, 2, 0.5}, velocity); };
  const auto of = [](const Piece& piece, double t0, double t1) {
    return travel({&piece, 1}, 2.0, t0, t1);
  };
  EXPECT_NEAR(of(moving({3, -4, 0}), 1.0, 4.0), 15.0, 1e-12);
  EXPECT_NEAR(of(moving({0, 0, -0.25}), 1.0, 4.0), 1.5, 1e-12);
  EXPECT_NEAR(of(moving({0, 0, 10}), 0.0, 100.0), 4.0, 1e-11);
  EXPECT_NEAR(of(moving({3, -4, -0.25}), 1.0, 4.0), 16.5, 1e-12);
  EXPECT_EQ(of(Piece::still({1, 2, 3}), 0.0, 9.0), 0.0);
  EXPECT_NEAR(of(moving({3, -4, 0}), 1.0, 1.0), 0.0, 1e-12);
}

TEST(Travel, of_many_pieces_is_not_below_their_sum) {
  std::vector<Piece> path;
  for (int i = 0; i < 200; ++i) {
    path.push_back(Piece::between(i, {double(i), 0, 0}, i + 1, {double(i + 1), 0, 0}));
  }
  const double bound = travel(path, 1.0, 0.0, 200.0);
  EXPECT_GE(bound, 200.0);
  EXPECT_LE(bound, 200.0 * (1.0 + 1e-12));
}

TEST(Travel, is_infinite_where_the_motion_is_unknown) {
  const std::vector<Piece> path = four_pieces();
  EXPECT_NEAR(travel(path, 1.0, 0.5, 1.5), 1.0, 1e-12);
  EXPECT_NEAR(travel(path, 1.0, 0.0, 2.0), 2.0, 1e-12);
  EXPECT_NEAR(travel({path.data(), 2}, 1.0, 0.0, 2.0), 2.0, 1e-12);
  EXPECT_EQ(travel({path.data(), 2}, 1.0, 0.0, 2.5), kInfinity);
  EXPECT_EQ(travel(path, 1.0, -0.5, 1.5), kInfinity);
  EXPECT_EQ(travel(path, 1.0, 3.5, 4.0), kInfinity);
  EXPECT_EQ(travel({}, 1.0, 0.0, 0.0), kInfinity);
}

TEST(AppendPath, of_one_pose_is_known_at_its_time_only) {
  const double time = 2.0;
  const Pose pose{1, 2, 3};
  std::vector<Piece> pieces;
  append_path({&time, 1}, {&pose, 1}, pieces);
  ASSERT_EQ(pieces.size(), 1U);
  std::size_t hint = 0;
  EXPECT_EQ(piece_at(pieces, 1.5, hint), nullptr);
  EXPECT_NE(piece_at(pieces, 2.0, hint), nullptr);
  EXPECT_EQ(piece_at(pieces, 2.5, hint), nullptr);
}

TEST(AppendPath, joins_the_poses_in_order) {
  const double times[] = {1.0, 2.0, 4.0};
  const Pose poses[] = {{0, 0, 0}, {1, 2, 0}, {5, -2, 1}};
  std::vector<Piece> pieces;
  append_path(times, poses, pieces);
  ASSERT_EQ(pieces.size(), 2U);
  std::size_t hint = 0;
  for (int i = 0; i < 3; ++i) {
    const Pose at = piece_at(pieces, times[i], hint)->at(times[i], 0.0).pose;
    EXPECT_EQ(at.x, poses[i].x);
    EXPECT_EQ(at.y, poses[i].y);
    EXPECT_EQ(at.yaw, poses[i].yaw);
  }
  EXPECT_EQ(pieces[1].velocity(), (Vec2{2.0, -2.0}));
  EXPECT_EQ(pieces[1].spin(), 0.5);
}

}  // namespace
}  // namespace gjk::motion_test
