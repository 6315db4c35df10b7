// SPDX-FileCopyrightText: gjk_collision contributors
// SPDX-License-Identifier: Apache-2.0
// How critical a trajectory of the ego shape is: the first contact, the deceleration that avoids
// it, and by how much time obstacles and the ego miss each other. All values are on the safe side.
#pragma once

#include <cstdint>
#include <limits>
#include <span>

#include "gjk/scene/path.hpp"
#include "gjk/scene/scene.hpp"
#include "gjk/shape/pose.hpp"
#include "gjk/shape/shape.hpp"
#include "gjk/verdict.hpp"

namespace gjk {

// NaN if the verdict is UNKNOWN.
struct Criticality {
  Verdict verdict = Verdict::unknown;  // of check_path() without margin
  Status status = Status::undefined;
  std::int64_t obstacle = -1;  // index of the obstacle that is met, or that decides the verdict
  double contact_time = std::numeric_limits<double>::quiet_NaN();  // s. Infinity: no contact
  // m/s. Upper bound at contact_time, for points of the bodies that are within the tolerance of
  // contact, in all parts of both; 0 without contact. NaN if the motion of the obstacle is not
  // known then.
  double relative_speed = std::numeric_limits<double>::quiet_NaN();
  // The edge of the ego that faces the obstacle, where this speed is: from vertex i to i + 1,
  // counted through its parts.
  std::int64_t ego_edge = -1;
  // m/s^2. With this deceleration, there is certainly no contact; see Braking. Infinity: none
  // found.
  double required_deceleration = std::numeric_limits<double>::quiet_NaN();
  // s. Lower bound on the time between the ego and an obstacle at one place. Infinity: they share
  // no place.
  double post_encroachment_time = std::numeric_limits<double>::quiet_NaN();
};

// For each of results.size() trajectories; the arguments are those of check_paths(), with times.
void criticality(const Scene& scene, const Shape& ego, std::span<const Pose> poses,
                 std::span<const double> times, double tolerance, std::span<Criticality> results,
                 unsigned threads = 1);

}  // namespace gjk

#ifdef GJK_KERNEL
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <deque>
#include <vector>

#include "gjk/certificate.hpp"
#include "gjk/motion/motion.hpp"
#include "gjk/parallel.hpp"
#include "gjk/query.hpp"
#include "gjk/scene/obstacles.hpp"
#include "gjk/shape/box.hpp"
#include "gjk/shape/placing.hpp"

namespace gjk {

namespace detail {

// An interval, for example of a coordinate (m).
struct Extent {
  double low = std::numeric_limits<double>::infinity();
  double high = -std::numeric_limits<double>::infinity();

  void include(double value) noexcept {
    low = value < low ? value : low;
    high = larger(value, high);
  }
};

// The points of a shape that are within `depth` (m) of its farthest point along the unit vector n:
// the extent of their coordinate along perpendicular(n).
inline Extent cap(const Convex& shape, Vec2 n, double depth) noexcept {
  const double level = dot(n, shape.vertex(shape.support(n))) - depth;
  const Vec2 along = perpendicular(n);
  Extent extent;
  for (int i = 0; i < shape.size; ++i) {
    const Vec2 p = shape.vertex(i);
    const Vec2 q = shape.vertex(after(i, shape.size));
    const double above_p = dot(n, p) - level;
    const double above_q = dot(n, q) - level;
    if (above_p >= 0.0) extent.include(dot(along, p));
    if ((above_p >= 0.0) != (above_q >= 0.0)) {
      extent.include(dot(along, p + (above_p / (above_p - above_q)) * (q - p)));
    }
  }
  const double round = std::fmin(shape.radius, std::sqrt(2.0 * shape.radius * depth));
  return {extent.low - round - depth, extent.high + round + depth};
}

// The edge of a shape, from vertex i to i + 1, whose outer normal is nearest to the direction n.
inline int edge_towards(const Convex& shape, Vec2 n) noexcept {
  int best = 0;
  double most = -std::numeric_limits<double>::infinity();
  for (int i = 0; i < shape.size; ++i) {
    const Vec2 way = unit(shape.vertex(after(i, shape.size)) - shape.vertex(i));
    const double facing = dot(n, -perpendicular(way));
    if (!(facing > most)) continue;
    most = facing;
    best = i;
  }
  return best;
}

// m/s. How fast a point of the body moves, relative to a body that stands.
inline Vec2 velocity_of(const Piece& piece, double t, Vec2 origin, Vec2 point) noexcept {
  return piece.velocity_at(t).velocity + piece.spin() * perpendicular(point - origin);
}

// What happens at a contact.
struct Impression {
  double relative_speed = std::numeric_limits<double>::quiet_NaN();  // m/s, as in Criticality
  double closing_speed = std::numeric_limits<double>::quiet_NaN();  // m/s, along the ego's velocity
  std::int64_t ego_edge = -1;
};

// All pairs of parts of the ego and of the obstacle count that are within the tolerance of contact:
// which pair was found first does not matter. The edge is that of the pair with the greatest speed.
inline Impression impression(const Scene& scene, const Shape& ego, Motion plan,
                             const FirstContact& contact, double tolerance) {
  constexpr double kJoint = 1e-6;  // s. So near a joint, contact may be before or after it
  const Obstacles& obstacles = scene.obstacles();
  const Impression unknown;
  const LocalTime now{contact.time, 2.0 * obstacles.time_error() + kJoint};
  std::size_t at = 0;
  const Piece* const way = piece_at(plan, now.time, at);
  if (way == nullptr) return unknown;
  if (contact.part < 0) {
    if (contact.obstacle != static_cast<std::int64_t>(scene.size())) return unknown;
    double far = 0.0;  // The ego is outside of the region: each of its points counts.
    for (int i = 0; i < ego.parts(); ++i)
      far = std::fmax(far, reach(ego.part(i)) + ego.part(i).radius);
    const double speed = way->speed(far) * (1.0 + 0x1p-40);
    return {speed, speed, -1};
  }
  const auto index = static_cast<std::size_t>(contact.obstacle);
  const Motion motion = obstacles.motion(index);
  if (motion.empty() || motion.front().begin == motion.back().end) return unknown;
  LocalTime local = obstacles.local_time(index, now.time);
  local.time = std::fmin(motion.back().end, std::fmax(motion.front().begin, local.time));
  local.error = now.error;
  std::size_t there = 0;
  const Piece* const other = piece_at(motion, local.time, there);
  if (other == nullptr) return unknown;

  Impression result{0.0, 0.0, -1};
  std::int64_t first_edge = 0;
  const Outlines& outlines = obstacles.outlines();
  for (int i = 0; i < ego.parts(); first_edge += ego.part(i++).size) {
    const Convex local_a = ego.part(i);
    const Placement at_a = way->at(now.time, reach(local_a));
    Room room_a(local_a.size);
    const Convex& a = room_a.place(local_a, Transform::from_pose(at_a.pose, {}, at_a.error));
    for (std::size_t k = outlines.begin(index); k < outlines.end(index); ++k) {
      const Convex local_b = outlines.part(k);
      const Placement at_b = other->at(local.time, outlines.reach(k));
      Room room_b(local_b.size);
      const Convex& b = room_b.place(local_b, Transform::from_pose(at_b.pose, {}, at_b.error));
      const Closest closest = gjk::closest(a, b);
      if (closest.status != Status::success) return unknown;
      const bool is_first = i == contact.ego_part && static_cast<std::int64_t>(k) == contact.part;
      const double rounding = 2.0 * (a.error + b.error);
      if (!is_first && closest.distance > tolerance + rounding) continue;

      // Points that touch are so near the farthest points of both.
      const Vec2 n = closest.direction;
      const double depth = tolerance + std::fabs(closest.distance) + rounding;
      const Extent of_a = cap(a, n, depth);
      const Extent of_b = cap(b, -n, depth);
      const double ends[] = {std::fmax(of_a.low, -of_b.high), std::fmin(of_a.high, -of_b.low)};
      const double height = dot(n, closest.point_a);
      const Vec2 origin_a{at_a.pose.x, at_a.pose.y};
      const Vec2 origin_b{at_b.pose.x, at_b.pose.y};
      double fastest = 0.0;
      visit_within_error(plan, at, now, [&](const Piece& own) {
        visit_within_error(motion, there, local, [&](const Piece& its) {
          const double within = 2.0 * depth * (std::fabs(own.spin()) + std::fabs(its.spin()));
          for (const double along : ends) {
            const Vec2 p = height * n + along * perpendicular(n);
            const Vec2 v = velocity_of(own, now.time, origin_a, p);
            const Vec2 relative = v - velocity_of(its, local.time, origin_b, p);
            fastest = std::fmax(fastest, (norm(relative) + within) * (1.0 + 0x1p-30));
            const Vec2 ahead = own.velocity();
            const double closing = dot(relative, ahead) / norm(ahead);
            result.closing_speed = std::fmax(result.closing_speed, closing);
          }
        });
      });
      if (result.ego_edge >= 0 && !(fastest > result.relative_speed)) continue;
      result.relative_speed = fastest;
      result.ego_edge = first_edge + edge_towards(a, n);
    }
  }
  return result;
}

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
    double distance = std::numeric_limits<double>::infinity();  // m, in the middle, if computed
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

// The ego on its trajectory, but with a deceleration a (m/s2) on top: at the time t, it has driven
// a (t - t0)^2 / 2 less of the same way. When its speed has fallen to 0, it stands for ever.
class Braking {
 public:
  // `couples`: all parts that may meet; `contact`: without a deceleration.
  Braking(const Obstacles& obstacles, const Track& way, std::span<const Couple> couples,
          const FirstContact& contact, double tolerance)
      : obstacles_(obstacles),
        way_(way),
        plan_(way.motion()),
        couples_(couples),
        tolerance_(tolerance) {
    for (const Couple& each : couples) {
      const bool meets =
          each.own_part == contact.ego_part && static_cast<std::int64_t>(each.part) == contact.part;
      if (meets) noticed_.push_back(each);
    }
    if (noticed_.empty()) noticed_.assign(couples.begin(), couples.end());
    for (const Piece& piece : plan_) {
      speeds_.push_back(norm(piece.velocity()));
      far_.push_back(far_.back() + norm({piece.change.x, piece.change.y}));
    }
  }

  // m/s2. A deceleration without contact, up to 3 % above the least one if that is unique.
  // Infinity if none was found. The search begins at `estimate`. It takes notice of a pair of
  // parts when a deceleration has failed because of it.
  double least(double estimate) {
    constexpr int kMostRounds = 16;
    double low = 0.0;
    double high = least(low, 1.01 * estimate);
    for (int n = 0; n < kMostRounds && std::isfinite(high); ++n) {
      set(high);
      const auto clears = [&](const Couple& couple) { return is_clear(couple); };
      const auto hit = std::find_if_not(couples_.begin(), couples_.end(), clears);
      if (hit == couples_.end()) return high;
      noticed_.push_back(*hit);
      low = high;
      high = least(low, kClose * low);
    }
    return std::numeric_limits<double>::infinity();
  }

 private:
  static constexpr double kLeast = 0.01;  // m/s2
  static constexpr double kClose = 1.03;

  // The least deceleration above `low` that clears the pairs that were noticed.
  double least(double low, double next) {
    constexpr int kMostChecks = 24;
    // It stops within a quarter of the tolerance.
    const double full = std::fmax(kLeast, 2.0 * speeds_[0] * speeds_[0] / tolerance_);
    double high = std::numeric_limits<double>::infinity();
    double factor = kClose;
    next = std::fmin(full, std::fmax(kLeast, next));
    for (int n = 0; n < kMostChecks && high > kClose * low; ++n) {
      set(next);
      const auto clears = [&](const Couple& couple) { return is_clear(couple); };
      (std::all_of(noticed_.begin(), noticed_.end(), clears) ? high : low) = next;
      if (high <= kLeast || low >= full) break;
      if (low > 0.0 && std::isfinite(high)) {
        next = std::sqrt(low * high);
        continue;
      }
      next = low > 0.0 ? std::fmin(full, low * factor) : std::fmax(kLeast, high / factor);
      factor = low > 0.0 ? 4.0 : 2.0;
    }
    return high;
  }

  double start() const noexcept { return plan_.front().begin; }  // s

  void set(double deceleration) noexcept {
    deceleration_ = deceleration;
    stop_ = plan_.back().end;
    for (std::size_t i = 0; i < plan_.size(); ++i) {
      if (speeds_[i] > deceleration * (plan_[i].end - start())) continue;
      stop_ = std::fmax(plan_[i].begin, start() + speeds_[i] / deceleration);
      return;
    }
  }
  // s. The time at which the ego would be there without the deceleration.
  double undelayed(double time) const noexcept {
    const double t = std::fmin(time, stop_);
    std::size_t hint = 0;
    const Piece* const now = piece_at(plan_, t, hint);
    if (now == nullptr) return t;
    const double since = t - start();
    const double s =
        far_[hint] + speeds_[hint] * (t - now->begin) - 0.5 * deceleration_ * since * since;
    const auto after = std::lower_bound(far_.begin(), far_.end(), s);
    if (after == far_.begin()) return start();
    const auto i = static_cast<std::size_t>(after - far_.begin()) - 1;
    if (i >= plan_.size()) return plan_.back().end;
    return std::fmin(plan_[i].end, plan_[i].begin + (s - far_[i]) / speeds_[i]);
  }

  bool is_clear(const Couple& couple) const {
    const Interval life = obstacles_.lifetimes().at(couple.obstacle);
    const double begin = std::fmax(start(), life.begin);
    const double end = std::fmin(plan_.back().end, life.end);
    return begin > end || is_clear(couple, begin, end, undelayed(begin), undelayed(end));
  }
  // s. By how much undelayed() leaves the straight line from begin to end, given its values
  // there: a quarter of the range of its slope, times the duration.
  double bend(double begin, double end, double first, double last) const noexcept {
    Extent slopes;     // m/s, of the ego
    Extent undelayed;  // m/s
    for (std::size_t i = way_.index(begin); i <= way_.index(end); ++i) {
      const double since = larger(begin, plan_[i].begin) - start();
      slopes.include(speeds_[i] - deceleration_ * since);
      slopes.include(speeds_[i] - deceleration_ * (-larger(-end, -plan_[i].end) - start()));
    }
    for (std::size_t i = way_.index(first); i <= way_.index(last); ++i) {
      undelayed.include(speeds_[i]);
    }
    const double least = end > stop_ ? 0.0 : larger(0.0, slopes.low);
    const double range = larger(0.0, slopes.high) / undelayed.low - least / undelayed.high;
    const double bend = 0.25 * range * (end - begin) * (1.0 + 0x1p-40);
    return bend < last - first ? bend : last - first;
  }

  // From begin to end (s), where it is from `first` to `last` without the deceleration.
  bool is_clear(const Couple& couple, double begin, double end, double first, double last) const {
    constexpr double kShortest = 1e-5;  // s
    const double rounding =
        16.0 * kUnitRoundoff * (std::fabs(begin) + std::fabs(end)) + 0x1p-40 * (end - begin);
    const Motion motion = couple.motion->motion();
    const double stamp = obstacles_.stamp(couple.obstacle);
    const auto known = [&](double time) noexcept {
      return std::fmin(motion.back().end, std::fmax(motion.front().begin, time - stamp));
    };
    const double middle = 0.5 * (begin + end);
    const double there = undelayed(middle);
    const double round = couple.way->fastest() * (bend(begin, end, first, last) + rounding) +
                         couple.motion->fastest() * (obstacles_.time_error() + rounding);
    const Couple::Encounter encounter = couple.encounter(
        {first, there, last}, {known(begin), known(middle), known(end)}, true, round);
    if (encounter.is_apart) return true;
    const bool is_short = encounter.size <= 0.5 * tolerance_ || end - begin <= kShortest;
    if (is_short || encounter.distance <= tolerance_) return false;
    return is_clear(couple, begin, middle, first, there) &&
           is_clear(couple, middle, end, there, last);
  }

  const Obstacles& obstacles_;
  const Track& way_;
  Motion plan_;
  std::span<const Couple> couples_;
  std::vector<Couple> noticed_;
  std::vector<double> speeds_;    // m/s, by piece
  std::vector<double> far_{0.0};  // m, driven at the begin of each piece, and at the end
  double tolerance_;              // m
  double deceleration_ = 0.0;     // m/s2
  double stop_ = 0.0;             // s
};

// Finds the least time between the ego and an obstacle at one place, by branch and bound over
// intervals of the times of both: those that are nearest in time come first. They are dropped if
// a line separates all that both sweep.
class Encroachment {
 public:
  Encroachment(const Obstacles& obstacles, const Track& way, std::span<const Couple> couples,
               double tolerance)
      : obstacles_(obstacles), way_(way), couples_(couples), tolerance_(tolerance) {}

  // s. A lower bound. Places count as shared if the shapes pass within the tolerance.
  double least() {
    constexpr int kMostPairs = 20000;
    for (std::size_t i = 0; i < couples_.size(); ++i) {
      const Motion motion = couples_[i].motion->motion();
      const std::size_t obstacle = couples_[i].obstacle;
      const Interval life = obstacles_.lifetimes().given(obstacle).on_clock(
          obstacles_.stamp(obstacle), obstacles_.time_error());
      const double first = std::fmax(motion.front().begin, life.begin);
      const double last = std::fmin(motion.back().end, life.end);
      if (first > last) continue;
      push({i, way_.motion().front().begin, way_.motion().back().end, first, last});
    }
    double shared = std::numeric_limits<double>::infinity();  // s, of a place that was found
    for (int n = 0; !pairs_.empty(); ++n) {
      std::pop_heap(pairs_.begin(), pairs_.end());
      const Pair pair = pairs_.back();
      pairs_.pop_back();
      if (shared <= 1.05 * pair.apart + 0.02 || n == kMostPairs) return certain(pair);
      const Couple& couple = couples_[pair.couple];
      const double now = Couple::middle(pair.begin, pair.end);
      const double then = Couple::middle(pair.first, pair.last);
      const Couple::Encounter encounter =
          couple.encounter({pair.begin, now, pair.end}, {pair.first, then, pair.last}, false, 0.0);
      if (encounter.is_apart) continue;
      if (encounter.size <= 0.5 * tolerance_) return certain(pair);
      if (encounter.distance <= tolerance_) {
        shared = std::fmin(shared, std::fabs(local(pair, now) - then));
      }
      Pair half = pair;
      (encounter.is_own_larger ? half.end : half.last) = encounter.is_own_larger ? now : then;
      push(half);
      half = pair;
      (encounter.is_own_larger ? half.begin : half.first) = encounter.is_own_larger ? now : then;
      push(half);
    }
    return std::numeric_limits<double>::infinity();
  }

 private:
  struct Pair {
    std::size_t couple = 0;
    double begin = 0.0;  // s, of the ego
    double end = 0.0;
    double first = 0.0;  // s, on the clock of the obstacle
    double last = 0.0;
    double apart = 0.0;  // s, between these intervals

    bool operator<(const Pair& second) const noexcept { return apart > second.apart; }
  };

  double local(const Pair& pair, double time) const noexcept {
    return time - obstacles_.stamp(couples_[pair.couple].obstacle);
  }
  void push(Pair pair) {
    const double late = pair.first - local(pair, pair.end);
    const double early = local(pair, pair.begin) - pair.last;
    pair.apart = std::fmax(0.0, std::fmax(late, early));
    pairs_.push_back(pair);
    std::push_heap(pairs_.begin(), pairs_.end());
  }
  double certain(const Pair& pair) const noexcept {
    const double off = obstacles_.time_error() +
                       8.0 * kUnitRoundoff * (std::fabs(pair.begin) + std::fabs(pair.end));
    return std::fmax(0.0, pair.apart * (1.0 - 8.0 * kUnitRoundoff) - off);
  }

  const Obstacles& obstacles_;
  const Track& way_;
  std::span<const Couple> couples_;
  double tolerance_;         // m
  std::vector<Pair> pairs_;  // a heap
};

// The obstacles of a scene beside the ego.
class Neighbours {
 public:
  explicit Neighbours(const Obstacles& obstacles) : obstacles_(obstacles) {
    number_.resize(obstacles.size());
    for (std::size_t i = 0; i < obstacles.size(); ++i) {
      const Motion motion = obstacles.motion(i);
      if (motion.size() <= 1 && (motion.empty() || motion.front().is_still())) continue;
      moving_.push_back(track(i));
      number_[i] = moving_.size();
    }
  }

  // All parts that may meet: at the times of the ego's track; or with `any_time`, at any times of
  // both. Returns false if the search is not complete, or if an obstacle is known at one of these
  // times only.
  bool find(const Shape& ego, const Track& way, bool any_time, std::vector<Couple>& couples,
            std::deque<Track>& standing) const {
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    const Outlines& outlines = obstacles_.outlines();
    const Motion plan = way.motion();
    const bool is_moment = plan.front().begin == plan.back().end;
    const double begin = any_time ? -kInfinity : plan.front().begin;
    const double end = any_time ? kInfinity : plan.back().end;
    double beyond = 0.0;  // m
    for (int i = 0; i < ego.parts(); ++i) {
      beyond = std::fmax(beyond, ego.part(i).radius + ego.part(i).error);
    }
    const Box all = way.box().grown(beyond);
    const Box box{all.low - obstacles_.origin(), all.high - obstacles_.origin()};
    couples.clear();
    standing.clear();
    const Obstacles::View view =
        obstacles_.swept(begin - obstacles_.time_error(), end + obstacles_.time_error());
    bool is_known = true;
    const auto search = obstacles_.overlapping(
        box.grown(0x1p-40 * norm1(obstacles_.origin())), view, [&](std::uint32_t k) {
          const auto i = static_cast<std::size_t>(obstacles_.owner(k));
          const Interval life = obstacles_.lifetimes().at(i);
          if (obstacles_.motion(i).empty()) {
            const double stamp = obstacles_.stamp(i);
            is_known &= is_moment || !life.holds(stamp) || stamp < begin || stamp > end;
            return false;
          }
          // An obstacle that always stands there is met at the same time or not at all.
          if (number_[i] == 0 && any_time && !life.is_limited()) return false;
          const Convex part = outlines.part(k);
          if (number_[i] == 0) standing.push_back(track(i));
          const Track& its = number_[i] == 0 ? standing.back() : moving_[number_[i] - 1];
          if (!(its.box().grown(part.radius + part.error).gap(all) == Vec2{})) return false;
          for (int own = 0; own < ego.parts(); ++own) {
            couples.push_back({ego.part(own), part, &way, &its, i, own, k});
          }
          return false;
        });
    return search.is_complete() && is_known;
  }

 private:
  Track track(std::size_t i) const {
    const Outlines& outlines = obstacles_.outlines();
    double reach = 0.0;
    for (std::size_t k = outlines.begin(i); k < outlines.end(i); ++k) {
      reach = std::fmax(reach, outlines.reach(k));
    }
    return {obstacles_.motion(i), reach};
  }

  const Obstacles& obstacles_;
  std::vector<Track> moving_;
  std::vector<std::size_t> number_;  // of its track and 1; 0: the obstacle stands
};

// Rates one trajectory after the other.
class CriticalityCheck {
 public:
  CriticalityCheck(const Scene& scene, const Shape& ego, const Neighbours& neighbours,
                   double tolerance) noexcept
      : scene_(scene), ego_(ego), neighbours_(neighbours), tolerance_(tolerance) {
    for (int i = 0; i < ego.parts(); ++i) reach_ = std::fmax(reach_, gjk::reach(ego.part(i)));
  }

  Criticality rate(std::span<const Pose> poses, std::span<const double> times) {
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    const Obstacles& obstacles = scene_.obstacles();
    const PathOptions options{.tolerance = tolerance_, .has_distance = false};
    const PathResult path = check_path(scene_, ego_, poses, times, options);
    Criticality result{path.verdict, path.status, path.obstacle};
    if (path.verdict == Verdict::unknown) return result;
    plan_.clear();
    append_path(times, poses, plan_);
    double far = 0.0;
    for (const Piece& piece : plan_) far += norm({piece.change.x, piece.change.y});
    const Track way(plan_, reach_, 0x1p-40 * far);
    if (path.verdict != Verdict::collision) {
      result.contact_time = kInfinity;
      result.relative_speed = result.required_deceleration = 0.0;
      const bool is_complete = neighbours_.find(ego_, way, true, couples_, standing_);
      result.post_encroachment_time =
          is_complete ? Encroachment(obstacles, way, couples_, tolerance_).least() : 0.0;
      return result;
    }
    FirstContact contact = path.contact;
    contact.time = result.contact_time = path.first_collision_time;
    result.obstacle = contact.obstacle;
    result.post_encroachment_time = 0.0;
    const Impression met = impression(scene_, ego_, plan_, contact, tolerance_);
    result.relative_speed = met.relative_speed;
    result.ego_edge = met.ego_edge;
    if (obstacles.first_unknown(times.front(), times.back()).obstacle >= 0) return result;
    result.required_deceleration = kInfinity;
    const double until = contact.time - times.front();
    if (until > 0.0 && neighbours_.find(ego_, way, false, couples_, standing_)) {
      Braking braking(obstacles, way, couples_, contact, tolerance_);
      result.required_deceleration = braking.least(0.5 * met.closing_speed / until);
    }
    return result;
  }

 private:
  const Scene& scene_;
  const Shape& ego_;
  const Neighbours& neighbours_;
  double tolerance_;    // m
  double reach_ = 0.0;  // m
  // Memory for one trajectory
  std::vector<Piece> plan_;
  std::vector<Couple> couples_;
  std::deque<Track> standing_;
};

}  // namespace detail

GJK_KERNEL void criticality(const Scene& scene, const Shape& ego, std::span<const Pose> poses,
                            std::span<const double> times, double tolerance,
                            std::span<Criticality> results, unsigned threads) {
  if (results.empty()) return;
  const std::size_t length = poses.size() / results.size();
  const bool shared = times.size() == length;
  if (scene.obstacles().unusable() >= 0 || length == 0 || poses.size() != length * results.size() ||
      !(shared || times.size() == poses.size())) {
    std::fill(results.begin(), results.end(), Criticality{.status = Status::invalid_input});
    return;
  }
  const detail::Neighbours neighbours(scene.obstacles());
  for_each_chunk(results.size(), 1, threads, [&] {
    return [&, check = detail::CriticalityCheck(scene, ego, neighbours, tolerance)](
               std::size_t begin, std::size_t end) mutable {
      for (std::size_t k = begin; k < end; ++k) {
        results[k] = check.rate(poses.subspan(k * length, length),
                                shared ? times : times.subspan(k * length, length));
      }
    };
  });
}

}  // namespace gjk
#endif
