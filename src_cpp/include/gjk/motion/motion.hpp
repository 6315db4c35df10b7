// SPDX-FileCopyrightText: gjk_collision contributors
// SPDX-License-Identifier: Apache-2.0
// Motion of a shape: pieces with a constant rate of turn. The velocity of the shape's origin is
// constant, or turns with the shape.
#pragma once

#include <algorithm>
#include <cmath>
#include <span>
#include <vector>

#include "gjk/arithmetic.hpp"
#include "gjk/shape/convex.hpp"
#include "gjk/shape/expansion.hpp"
#include "gjk/shape/pose.hpp"
#include "gjk/shape/vec2.hpp"

namespace gjk {

// Velocity in the world frame (m/s), and rotation about the shape's origin (rad/s).
struct Velocity {
  double x = 0.0;
  double y = 0.0;
  double yaw = 0.0;
};

// A rounded pose, and an error bound (m): the maximum distance of a point of the shape from its
// position in real arithmetic.
struct Placement {
  Pose pose;
  double error = 0.0;
};

// A rounded pose, with error bounds of its position (m) and of its yaw (rad).
struct Reached {
  Pose pose;
  double shift = 0.0;
  double turn = 0.0;
};

// A rounded velocity (m/s), with its error bound.
struct RoundedVelocity {
  Vec2 velocity;
  double error = 0.0;
};

namespace detail {

// sin(x) / x, given sin(x) from sin_cos(). Error below 12 u: for small x the series, cut below
// 2^-53; otherwise |x| > 1/2, so that the error of sin(x) is at most doubled.
inline double sinc(double x, double sin) noexcept {
  if (std::fabs(x) > 0.5) return sin / x;
  const double t = x * x;
  return 1.0 + t * (-1.0 / 6 +
                    t * (1.0 / 120 +
                         t * (-1.0 / 5040 + t * (1.0 / 362880 + t * (-1.0 / 39916800 +
                                                                     t * (1.0 / 6227020800.0))))));
}

}  // namespace detail

// pose(t) = from + (t - start) / duration * change, for begin <= t <= end. If it is an arc, the
// velocity turns with the shape: `change` is that of the initial velocity, see on_arc().
struct Piece {
  double begin = -kInfinity;  // s
  double end = kInfinity;     // s
  double start = 0.0;         // s
  double duration = 1.0;      // s, > 0
  Pose from;
  Pose change;
  double yaw_error = 0.0;   // rad, error bound of `change.yaw`
  double time_error = 0.0;  // s, error bound of `start`
  bool is_arc = false;
  double from_shift = 0.0;  // m, error bound of the position `from`, of an arc
  double from_turn = 0.0;   // rad, error bound of the yaw `from`, of an arc

  static Piece still(const Pose& pose) noexcept {
    Piece piece;
    piece.from = pose;
    return piece;
  }
  // Passes `pose` at `time` (s), with constant velocity before and after.
  static Piece moving(const Pose& pose, const Velocity& velocity, double time = 0.0) noexcept {
    Piece piece = still(pose);
    piece.start = time;
    piece.change = {velocity.x, velocity.y, velocity.yaw};
    return piece;
  }
  // Moves from one pose to the next in a straight line, turning the shorter way, like OMPL's SE2
  // space and nav2. More than half a turn needs a pose in between. If both ways are equally short,
  // up to rounding, it turns in the direction of to.yaw - from.yaw.
  static Piece between(double begin, const Pose& from, double end, const Pose& to) noexcept {
    constexpr double kTurn = 0x1.921fb54442d18p+2;
    Piece piece;
    piece.begin = piece.start = begin;
    piece.end = end;
    piece.duration = end > begin ? end - begin : 1.0;
    piece.from = from;
    const double turn = to.yaw - from.yaw;
    const double turns = turn / kTurn;
    const double nearest = std::rint(turns);
    const double whole = std::fabs(turns - nearest) == 0.5 ? std::trunc(turns) : nearest;
    piece.change = {to.x - from.x, to.y - from.y, turn - kTurn * whole};
    // Subtracting whole turns is not exact in doubles. If the yaw does not change, none are
    // subtracted.
    if (turn != 0.0) {
      piece.yaw_error = 4.0 * kUnitRoundoff * (std::fabs(from.yaw) + std::fabs(to.yaw));
    }
    return piece;
  }

  // Moves from `from` with a constant twist: the velocity is constant in the frame of the shape.
  // `ahead` (m, in that frame) is the way that it would drive without the turn, and `turn` (rad) is
  // its turn.
  static Piece arc(double begin, const Reached& from, double end, Vec2 ahead,
                   double turn) noexcept {
    const SinCos heading = sin_cos(from.pose.yaw);
    Piece piece;
    piece.begin = piece.start = begin;
    piece.end = end;
    piece.duration = end > begin ? end - begin : 1.0;
    piece.from = from.pose;
    piece.change = {heading.cos * ahead.x - heading.sin * ahead.y,
                    heading.sin * ahead.x + heading.cos * ahead.y, turn};
    piece.is_arc = true;
    piece.from_shift = from.shift;
    piece.from_turn = from.turn;
    return piece;
  }

  // The same way on a clock of its own: driven in one second, from the time 0 on. Between two times
  // that are adjacent doubles, there are no times.
  Piece in_one_second() const noexcept {
    Piece piece = *this;
    piece.begin = piece.start = piece.time_error = 0.0;
    piece.end = piece.duration = 1.0;
    return piece;
  }
  // The same motion on a clock that starts at `origin` (s), with times known to within `error` (s).
  // The ends are rounded outwards: it begins no later and ends no earlier.
  Piece on_clock(double origin, double error) const noexcept {
    Piece piece = *this;
    const TwoTerms since = two_difference(start, origin);
    piece.begin = rounded_down(two_sum(rounded_down(two_difference(begin, origin)), -error));
    piece.end = rounded_up(two_sum(rounded_up(two_difference(end, origin)), error));
    piece.start = since.high;
    piece.time_error = time_error + std::fabs(since.low) + error;
    return piece;
  }

  // Whether it stands still. Then at() rounds nothing.
  bool is_still() const noexcept {
    return change.x == 0.0 && change.y == 0.0 && change.yaw == 0.0 && yaw_error == 0.0;
  }
  // m/s; of an arc, at the time `start`
  Vec2 velocity() const noexcept { return {change.x / duration, change.y / duration}; }
  double spin() const noexcept { return change.yaw / duration; }  // rad/s
  // m/s. Speed of the fastest point that is at most `reach` (m) from the origin. If the duration is
  // tiny, the speed of the origin or the rate of turn may be infinite.
  double speed(double reach) const noexcept {
    return norm(velocity()) + (reach > 0.0 ? std::fabs(spin()) * reach : 0.0);
  }
  // How much of a change (m or rad) takes place within the error of the time. Infinite if the
  // duration is tiny, but never NaN.
  double late(double whole) const noexcept {
    return whole == 0.0 ? 0.0 : time_error / duration * std::fabs(whole);
  }

  // Pose at time t, for a shape with vertices at most `reach` (m) from its origin. The error bound
  // covers a difference of times, a quotient, a product and a sum per coordinate. Proof:
  // motion.at.gappa. An error of a coordinate moves the shape by as much, and an error of the yaw
  // moves a vertex by at most `reach` times as much.
  Placement at(double t, double reach) const noexcept {
    if (is_arc) {
      const Reached there = on_arc(t);
      return {there.pose, (there.shift + there.turn * reach) * (1.0 + 16.0 * kUnitRoundoff)};
    }
    if (is_still()) return {from, 0.0};
    constexpr double kRelative = 8.0 * kUnitRoundoff;
    const double share = (t - start) / duration;
    const Pose moved{share * change.x, share * change.y, share * change.yaw};
    const double shift = kRelative * (std::fabs(from.x) + std::fabs(from.y) + std::fabs(moved.x) +
                                      std::fabs(moved.y)) +
                         late(norm1({change.x, change.y}));
    const double turn = kRelative * (std::fabs(from.yaw) + std::fabs(moved.yaw)) +
                        std::fabs(share) * yaw_error + late(yaw_error) + late(change.yaw);
    return {{from.x + moved.x, from.y + moved.y, from.yaw + moved.yaw},
            (shift + turn * reach) * (1.0 + 16.0 * kUnitRoundoff)};
  }

  // Pose of an arc at time t. The chord from `from` has the direction of the mean of both headings,
  // and sin(h) / h of the length of the arc, where h is half of the angle between them.
  //
  // With u = 2^-53, L the length of the arc so far, and w its angle: `change` is off by 7 u of the
  // length in each coordinate, and the share by 3 u. The half angle is off by 3 u |w|, which turns
  // and shortens the chord by less than 3 u |w| L. sinc() is off by 12 u, the sine and cosine by
  // 4 u each, and 4 products and sums round. Together less than (48 + 3 |w|) u L, and L is at most
  // |ahead|_1. The yaw has the errors of at(), and one of the product in `change`.
  Reached on_arc(double t) const noexcept {
    if (is_still()) return {from, from_shift, from_turn};
    const double share = (t - start) / duration;
    const Vec2 ahead{share * change.x, share * change.y};
    const double turned = share * change.yaw;
    const double half = 0.5 * turned;
    const SinCos mean = sin_cos(half);
    const double chord = detail::sinc(half, mean.sin);
    const Vec2 moved{chord * (mean.cos * ahead.x - mean.sin * ahead.y),
                     chord * (mean.sin * ahead.x + mean.cos * ahead.y)};
    const double rounding = 64.0 * kUnitRoundoff * (1.0 + std::fabs(turned)) * norm1(ahead) +
                            8.0 * kUnitRoundoff * norm1({from.x, from.y});
    const double off = from_turn + std::fabs(share) * yaw_error;  // rad
    return {
        {from.x + moved.x, from.y + moved.y, from.yaw + turned},
        (from_shift + off * norm1(ahead) + late(norm1({change.x, change.y})) + rounding) *
            (1.0 + 16.0 * kUnitRoundoff),
        (off + late(change.yaw) + 8.0 * kUnitRoundoff * (std::fabs(from.yaw) + std::fabs(turned))) *
            (1.0 + 16.0 * kUnitRoundoff)};
  }

  // Velocity of the shape's origin at time t. That of an arc is off by the errors of `change`, of
  // the sine and cosine, of the products and of the angle: less than (24 + 3 |w|) u.
  RoundedVelocity velocity_at(double t) const noexcept {
    if (!is_arc) return {velocity(), 0.0};
    const double share = (t - start) / duration;
    const double turned = share * change.yaw;
    const SinCos turn = sin_cos(turned);
    const Vec2 first = velocity();
    const double relative = 64.0 * kUnitRoundoff * (1.0 + std::fabs(turned)) + from_turn +
                            std::fabs(share) * yaw_error + late(change.yaw);
    return {{turn.cos * first.x - turn.sin * first.y, turn.sin * first.x + turn.cos * first.y},
            relative * norm1(first)};
  }
};

// Pieces in order of time; each begins where the previous one ends. The view does not own them.
using Motion = std::span<const Piece>;

// A time (s) on the clock of a motion, with its error bound (s).
struct LocalTime {
  double time = 0.0;
  double error = 0.0;
};

// Converts time t (s), known to within `error` (s), to a clock that starts at `origin` (s).
inline LocalTime local_time(double t, double origin, double error) noexcept {
  const TwoTerms since = two_difference(t, origin);
  return {since.high, std::fabs(since.low) + error};
}

// The piece valid from time t on, or at t if none follows; null if the motion is unknown at t.
// `hint` is the index to try first, and becomes the index of the answer.
inline const Piece* piece_at(Motion motion, double t, std::size_t& hint) noexcept {
  const auto holds = [&](std::size_t i) {
    return i < motion.size() && motion[i].begin <= t && t < motion[i].end;
  };
  if (holds(hint)) return &motion[hint];
  ++hint;
  if (!holds(hint)) {
    const auto after = std::partition_point(motion.begin(), motion.end(),
                                            [t](const Piece& piece) { return piece.end <= t; });
    hint = static_cast<std::size_t>(after - motion.begin());
    if (after == motion.end() && !motion.empty() && motion.back().end == t) --hint;
    if (hint == motion.size() || !(motion[hint].begin <= t)) return nullptr;
  }
  return &motion[hint];
}

// Calls visit(piece) for each piece that is valid at some time within at.error of at.time. Piece
// `i`, which comes first, is valid at at.time.
template <class Visit>
void visit_within_error(Motion motion, std::size_t i, const LocalTime& at, Visit&& visit) {
  visit(motion[i]);
  if (at.error == 0.0) return;
  // Wider by the rounding of the sums, so that no piece is missed.
  const double wide = at.error + 4.0 * kUnitRoundoff * std::fabs(at.time);
  for (std::size_t k = i; k > 0 && motion[k].begin >= at.time - wide; --k) visit(motion[k - 1]);
  for (std::size_t k = i + 1; k < motion.size() && motion[k].begin <= at.time + wide; ++k) {
    visit(motion[k]);
  }
}

// Upper bound (m) on how far a point of a shape with this reach moves between at.time and any time
// within at.error of it. Piece `i` is valid at at.time. Before the first and after the last piece,
// the shape moves on as in this piece.
inline double drift(Motion motion, std::size_t i, const LocalTime& at, double reach) noexcept {
  if (at.error == 0.0) return 0.0;
  double sum = 0.0;
  visit_within_error(motion, i, at, [&](const Piece& piece) noexcept {
    const bool goes_on = &piece == &motion.front() || &piece == &motion.back();
    const double time = goes_on ? at.error : std::fmin(piece.end - piece.begin, at.error);
    sum += time > 0.0 ? time * piece.speed(reach) : 0.0;
  });
  return sum * (1.0 + 0x1p-40);
}

// Appends the pieces through poses at strictly increasing times (s). A single pose is known only at
// its time.
inline void append_path(std::span<const double> times, std::span<const Pose> poses,
                        std::vector<Piece>& pieces) {
  if (times.size() == 1) pieces.push_back(Piece::between(times[0], poses[0], times[0], poses[0]));
  for (std::size_t i = 1; i < times.size(); ++i) {
    pieces.push_back(Piece::between(times[i - 1], poses[i - 1], times[i], poses[i]));
  }
}

// Upper bound (m) on the distance of the vertices from the shape's origin.
inline double reach(const Convex& shape) noexcept {
  double greatest = 0.0;
  for (int i = 0; i < shape.size; ++i) greatest = std::fmax(greatest, norm(shape.vertex(i)));
  return greatest * (1.0 + 4.0 * kUnitRoundoff) + shape.error;
}

// Certified upper bound (m) on the distance of any point of a shape from its position at t0, at any
// time in [t0, t1]. `reach` includes the radius. Infinite if the motion is unknown.
inline double travel(Motion motion, double reach, double t0, double t1) noexcept {
  double relative = 1.0 + 16.0 * kUnitRoundoff;  // velocities, norms, products and the last sums
  double path = 0.0;
  double turn = 0.0;
  double error = 0.0;
  std::size_t hint = 0;
  double t = t0;
  do {
    const Piece* piece = piece_at(motion, t, hint);
    if (piece == nullptr) return kInfinity;
    const double end = std::fmin(t1, piece->end);
    if (!(end > t) && t < t1) return kInfinity;
    relative += 4.0 * kUnitRoundoff;  // rounding of the sums
    if (end > t) {
      path += norm(piece->velocity()) * (end - t);
      turn += std::fabs(piece->spin()) * (end - t);
    }
    error = std::fmax(error, piece->at(t, reach).error + piece->at(end, reach).error);
    t = end;
  } while (t < t1);
  // A chord is not longer than its arc or than the diameter.
  return (path + std::fmin(turn, 2.0) * reach + 2.0 * error) * relative;
}

// A shape and its motion. The view owns neither.
struct Moving {
  Convex shape;
  Motion motion;
  double reach = 0.0;  // m, of the vertices about the origin; see gjk::reach()

  static Moving along(const Convex& shape, Motion motion) noexcept {
    return {shape, motion, gjk::reach(shape)};
  }
};

}  // namespace gjk
