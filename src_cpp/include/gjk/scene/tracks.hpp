// SPDX-FileCopyrightText: gjk_collision contributors
// SPDX-License-Identifier: Apache-2.0
// What two bodies sweep on their ways, and whether these are apart.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include "gjk/arithmetic.hpp"
#include "gjk/motion/motion.hpp"
#include "gjk/query.hpp"
#include "gjk/shape/box.hpp"
#include "gjk/shape/convex.hpp"
#include "gjk/shape/placing.hpp"
#include "gjk/shape/pose.hpp"
#include "gjk/shape/vec2.hpp"
#include "gjk/verdict.hpp"

namespace gjk::detail {

// What a body sweeps between two times is within `round` (m) of the hull of the body at the first
// and at the second one. No point moves farther than `size` (m).
struct Sweep {
  Transform begin;
  Transform end;
  double round = 0.0;
  double size = 0.0;

  Vec2 chord() const noexcept { return end.t - begin.t; }
};

// m. Upper bound on the coordinate along the unit vector n of a part at a pose; or NaN.
inline double support_at(const Transform& at, const Convex& part, Vec2 n) noexcept {
  const Vec2 local = at.rotate_back(n);
  const double beyond = part.radius + part.error;
  const double slack = 0x1p-38 * (norm1(at.t) + part.extent + beyond);
  return dot(n, at.t) + dot(local, part.vertex(part.support(local))) + beyond + slack;
}

// A motion of a body whose vertices are at most `reach` (m) from its origin.
class Track {
 public:
  // `error` (m): of its positions, in addition to the errors of the motion.
  Track(Motion motion, double reach, double error = 0.0) : motion_(motion), reach_(reach) {
    double yaw = 0.0;
    if (motion.size() > 1) joints_.reserve(motion.size());
    for (const Piece& piece : motion) {
      const Placement first = piece.at(piece.begin, reach);
      const Placement last = piece.at(piece.end, reach);
      error = std::fmax(error, 2.0 * (first.error + last.error));
      fastest_ = std::fmax(fastest_, piece.speed(reach) * (1.0 + 0x1p-40));
      if (motion.size() > 1) joints_.push_back({first.pose.x, first.pose.y, yaw});
      yaw += last.pose.yaw - first.pose.yaw;
      if (piece.is_arc) {  // not straight
        error =
            std::fmax(error, 2.0 * (reach + norm(piece.velocity()) * (piece.end - piece.begin)));
      }
      for (const Pose& pose : {first.pose, last.pose}) box_.include(Vec2{pose.x, pose.y});
    }
    error_ = error * (1.0 + 0x1p-40);
    box_ = box_.grown(reach + error_);
  }

  Motion motion() const noexcept { return motion_; }
  double reach() const noexcept { return reach_; }
  double fastest() const noexcept { return fastest_; }  // m/s, of all points at all times
  // Contains the vertices at all times.
  const Box& box() const noexcept { return box_; }

  // Of the piece at a time. At a joint, that before it.
  std::size_t index(double time) const noexcept {
    const auto found = std::partition_point(motion_.begin(), motion_.end() - 1,
                                            [=](const Piece& piece) { return piece.end < time; });
    return static_cast<std::size_t>(found - motion_.begin());
  }
  Transform at(double time) const noexcept {
    const Placement there = motion_[index(time)].at(time, reach_);
    return Transform::from_pose(there.pose, {}, there.error);
  }

  // From begin to end (s). Each joint in between is compared with a position on the straight way,
  // and the motion between two joints with that between these positions. With `in_step`, the
  // position is that at the time of the joint. Then a point leaves a motion of constant velocity
  // from its first to its last position by at most `round`.
  Sweep sweep(double begin, double end, bool in_step) const noexcept {
    const std::size_t first = index(begin);
    const std::size_t last = index(end);
    const Pose from = motion_[first].at(begin, 0.0).pose;
    const Pose to = motion_[last].at(end, 0.0).pose;
    const Vec2 chord{to.x - from.x, to.y - from.y};
    const double square = dot(chord, chord);
    const double yaw = turned(first, begin);
    const double turn = turned(last, end) - yaw;
    double off = 0.0;
    double off_yaw = 0.0;
    for (std::size_t i = first + 1; i <= last; ++i) {
      const Vec2 way{joints_[i].x - from.x, joints_[i].y - from.y};
      const double along = in_step        ? (motion_[i].begin - begin) / (end - begin)
                           : square > 0.0 ? dot(way, chord) / square
                                          : 0.5;
      const double share = along > 0.0 ? (along < 1.0 ? along : 1.0) : 0.0;
      const Vec2 aside = way - share * chord;
      off = larger(dot(aside, aside), off);
      off_yaw = larger(std::fabs(joints_[i].yaw - yaw - share * turn), off_yaw);
    }
    off = std::sqrt(off);
    // A vertex leaves the chord between its positions by at most |p| turn^2 / 8, or the diameter.
    const double bow = reach_ * std::fmin(2.0, off_yaw + 0.125 * turn * turn);
    return {Transform::from_pose(from), Transform::from_pose(to),
            error_ + (off + bow) * (1.0 + 0x1p-40),
            norm(chord) + 2.0 * off + reach_ * (std::fabs(turn) + 2.0 * off_yaw)};
  }

 private:
  // rad. Of the motion from its begin on, whole turns included.
  double turned(std::size_t i, double time) const noexcept {
    const Piece& piece = motion_[i];
    return (joints_.empty() ? 0.0 : joints_[i].yaw) +
           (piece.is_still() ? 0.0 : piece.spin() * (time - piece.begin));
  }

  Motion motion_;
  double reach_;
  double error_ = 0.0;    // m
  double fastest_ = 0.0;  // m/s
  // Where the pieces begin; the yaws count whole turns. Empty if there is one piece.
  std::vector<Pose> joints_;
  Box box_;
};

// Part `own` of the ego and part `its` of an obstacle, on their tracks.
struct Couple {
  Convex own;
  Convex its;
  const Track* way = nullptr;
  const Track* motion = nullptr;
  std::size_t obstacle = 0;
  int own_part = 0;
  std::size_t part = 0;  // among those of all obstacles

  struct Encounter {
    bool is_apart = false;  // a line separates all that they sweep
    double size = 0.0;      // m, of both sweeps
    bool is_own_larger = false;
    double distance = kInfinity;  // m, in the middle, if computed
  };

  struct Interval {  // s, on a clock of its own
    double begin = 0.0;
    double middle = 0.0;
    double end = 0.0;
  };

  // With `in_step`, both parts are compared at the same shares of their intervals, otherwise at any
  // times. They may be `round` (m) away.
  Encounter encounter(const Interval& ego, const Interval& other, bool in_step,
                      double round) const {
    const Sweep a = way->sweep(ego.begin, ego.end, in_step);
    const Sweep b = motion->sweep(other.begin, other.end, in_step);
    const double rounds = (a.round + b.round + round) * (1.0 + 0x1p-38);
    Encounter result{.is_own_larger = a.size > b.size};
    result.size = in_step ? norm(b.chord() - a.chord()) + 2.0 * rounds : a.size + b.size;
    const auto are_apart = [&](Vec2 n) noexcept {
      const double a_begin = support_at(a.begin, own, n);
      const double a_end = support_at(a.end, own, n);
      const double b_begin = support_at(b.begin, its, -n);
      const double b_end = support_at(b.end, its, -n);
      const bool is_apart = a_begin + b_begin < -rounds && a_end + b_end < -rounds;
      return is_apart && (in_step || (a_begin + b_end < -rounds && a_end + b_begin < -rounds));
    };
    const Vec2 between = 0.5 * ((b.begin.t + b.end.t) - (a.begin.t + a.end.t));
    const Vec2 first = in_step ? b.chord() - a.chord() : a.chord();
    const Vec2 second = in_step ? Vec2{} : b.chord();
    for (const Vec2 along : {first, second, perpendicular(between)}) {
      const double length = norm(along);
      if (!(length > 0.0)) continue;
      const double sign = dot(perpendicular(along), between) < 0.0 ? -1.0 : 1.0;
      result.is_apart = are_apart((sign / length) * perpendicular(along));
      if (result.is_apart) return result;
    }
    if (result.size > 0.01 + way->reach() + own.radius + motion->reach() + its.radius) {
      return result;
    }
    Room room_a(own.size);
    Room room_b(its.size);
    const Closest closest = gjk::closest(room_a.place(own, way->at(ego.middle)),
                                         room_b.place(its, motion->at(other.middle)));
    if (closest.status != Status::success) return result;
    result.is_apart = are_apart(closest.direction);
    result.distance = closest.distance;
    return result;
  }

  // s. The end of a motion may be infinite.
  static double middle(double begin, double end) noexcept {
    if (std::isfinite(end - begin)) return begin + 0.5 * (end - begin);
    return std::isfinite(begin) ? begin + std::fmax(1.0, std::fabs(begin)) : end - 1.0;
  }
};

}  // namespace gjk::detail
