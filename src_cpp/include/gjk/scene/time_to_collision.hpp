// SPDX-FileCopyrightText: gjk_collision contributors
// SPDX-License-Identifier: Apache-2.0
// When the ego shape meets the first obstacle if all keep their present twists.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "gjk/arithmetic.hpp"
#include "gjk/motion/motion.hpp"
#include "gjk/scene/scene.hpp"
#include "gjk/shape/box.hpp"
#include "gjk/shape/pose.hpp"
#include "gjk/shape/shape.hpp"
#include "gjk/verdict.hpp"

namespace gjk {

// Velocity in the frame of the shape (m/s), and rate of turn (rad/s).
struct Twist {
  double x = 0.0;
  double y = 0.0;
  double yaw = 0.0;
};

struct TimeToCollision {
  Verdict verdict = Verdict::unknown;  // COLLISION > UNKNOWN > FREE, within the horizon
  Status status = Status::undefined;
  // s from now, until contact is not excluded: not later than the contact. Infinity if FREE, NaN if
  // UNKNOWN.
  double time = kNaN;
  std::int64_t obstacle = -1;  // index of the obstacle that is met
};

struct TimeToCollisionOptions {
  double horizon = 10.0;     // s, > 0
  double tolerance = 0.005;  // m, > 0
};

// The time until the ego, at `pose` at the time `time` (s), first touches an obstacle, if the ego
// keeps its twist and each obstacle keeps the twist that it has at `time`, or at the begin of its
// lifetime if that is later, until the end of its lifetime. Conservative within the tolerance: a
// contact may be reported if they pass at a distance of up to the tolerance, and its time is not
// later than the true one.
TimeToCollision time_to_collision(const Scene& scene, const Shape& ego, const Pose& pose,
                                  const Twist& twist, double time,
                                  const TimeToCollisionOptions& options = {});

// The same for many poses; all spans have the length of `results`.
void times_to_collision(const Scene& scene, const Shape& ego, std::span<const Pose> poses,
                        std::span<const Twist> twists, std::span<const double> times,
                        const TimeToCollisionOptions& options, std::span<TimeToCollision> results,
                        unsigned threads = 1);

}  // namespace gjk

#ifdef GJK_KERNEL
#include <algorithm>
#include <cmath>
#include <vector>

#include "gjk/certificate.hpp"
#include "gjk/motion/cast.hpp"
#include "gjk/parallel.hpp"
#include "gjk/scene/obstacles.hpp"

namespace gjk {

namespace detail {

inline bool has_velocity(Motion motion) noexcept {
  return !motion.empty() && motion.front().begin != motion.back().end;
}

// The motions of an obstacle after a time, if it keeps the velocity that it has at this time, in
// its own frame. The time has an error, so the obstacle may have one of several velocities: calls
// visit(piece) for each of them. Returns false if its pose or its velocity is unknown. The clock of
// the pieces starts at `origin` (s), which is not later than the time.
template <class Visit>
bool visit_kept(const Obstacles& obstacles, std::size_t index, double reach, double time,
                double origin, double horizon, Visit&& visit) {
  const Motion motion = obstacles.motion(index);
  if (motion.empty() || !obstacles.is_known(index, time)) return false;
  LocalTime local = obstacles.local_time(index, time);
  // Rounding may have moved it past an end of the known motion.
  local.time = std::fmin(motion.back().end, std::fmax(motion.front().begin, local.time));
  std::size_t at = 0;
  const Piece* const piece = piece_at(motion, local.time, at);
  if (piece == nullptr || !has_velocity(motion)) return false;
  const Placement now = piece->at(local.time, reach);
  const double error = now.error + drift(motion, at, local, reach);
  visit_within_error(motion, at, local, [&](const Piece& source) {
    const RoundedVelocity velocity = source.velocity_at(local.time);
    Piece kept;
    const TwoTerms since = two_difference(time, origin);
    kept.begin = kept.start = since.high;
    kept.end = horizon;
    kept.time_error = std::fabs(since.low);
    kept.from = now.pose;
    kept.change = {velocity.velocity.x, velocity.velocity.y, source.spin()};
    kept.yaw_error = source.yaw_error / source.duration;
    kept.is_arc = true;
    kept.from_shift = error;
    visit(kept);
  });
  return true;
}

// The velocities of all obstacles of a scene.
struct Velocities {
  double fastest = 0.0;  // m/s, upper bound on the speed of any point
  // The obstacles that are known at one time only, or not at the begin of their lifetimes.
  std::vector<std::size_t> unknown;

  static Velocities of(const Obstacles& obstacles) {
    Velocities all;
    for (std::size_t i = 0; i < obstacles.size(); ++i) {
      double reach = 0.0;
      for (std::size_t k = obstacles.outlines().begin(i); k < obstacles.outlines().end(i); ++k) {
        const Convex part = obstacles.outlines().part(k);
        reach = std::fmax(reach, obstacles.outlines().reach(k) + part.radius + part.error);
      }
      const Motion motion = obstacles.motion(i);
      const double begin = obstacles.lifetimes().at(i).begin;
      const bool is_known =
          has_velocity(motion) && (!std::isfinite(begin) || obstacles.is_known(i, begin));
      if (!is_known) all.unknown.push_back(i);
      for (const Piece& piece : motion) {
        all.fastest = std::fmax(all.fastest, piece.speed(reach) * (1.0 + 0x1p-40));
      }
    }
    return all;
  }
};

inline TimeToCollision time_to_collision(const Scene& scene, const Shape& ego, const Pose& pose,
                                         const Twist& twist, double time,
                                         const TimeToCollisionOptions& options,
                                         const Velocities& velocities) {
  const Obstacles& obstacles = scene.obstacles();
  TimeToCollision result;
  double reach = 0.0;
  bool sound = ego.parts() > 0 && obstacles.unusable() < 0 && is_in_domain(pose) &&
               std::isfinite(time) && options.tolerance > 0.0 && options.horizon > 0.0 &&
               options.horizon <= kMaxCoordinate && std::isfinite(twist.x) &&
               std::isfinite(twist.y) && std::isfinite(twist.yaw);
  for (int i = 0; i < ego.parts(); ++i) {
    const Convex part = ego.part(i);
    sound &= in_domain(part, part);
    reach = std::fmax(reach, gjk::reach(part) + part.radius + part.error);
  }
  if (!sound) {
    result.status = Status::invalid_input;
    return result;
  }
  const double horizon = options.horizon;
  const Piece way = Piece::arc(0.0, {pose, 0.0, 0.0}, horizon,
                               Vec2{twist.x * horizon, twist.y * horizon}, twist.yaw * horizon);
  Decision decision(0.0);
  double until = horizon;
  bool is_met = false;  // whether the obstacle in `result` is met
  const auto note = [&](double last_valid, std::int64_t obstacle, bool is_hit) noexcept {
    const double at = std::isnan(last_valid) ? 0.0 : last_valid;
    const bool is_first = result.obstacle < 0 || at < until || (is_hit && !is_met && at <= until);
    until = std::fmin(until, at);
    if (!is_first) return;
    result.obstacle = obstacle;
    is_met = is_hit;
  };
  const Obstacles::View view = obstacles.at(time);
  if (const std::int64_t unknown = obstacles.unknown_in(view); unknown >= 0) {
    decision.fail(Status::prediction_too_short);
    note(0.0, unknown, false);
  }
  for (std::size_t n = velocities.unknown.size(); n-- > 0;) {
    const std::size_t i = velocities.unknown[n];
    const Interval meets = obstacles.lifetimes().at(i).on_clock(time, 0.0);
    if (meets.end < 0.0 || meets.begin > horizon) continue;
    // Whether it is known now was checked above.
    if (meets.begin <= 0.0 && has_velocity(obstacles.motion(i))) continue;
    decision.fail(Status::prediction_too_short);
    note(std::fmax(0.0, meets.begin), static_cast<std::int64_t>(i), false);
    if (until == 0.0) break;
  }
  if (scene.region() != nullptr && scene.region()->to_outside(ego, {pose, 0.0}) < kInfinity) {
    decision.take(Verdict::collision);
    note(0.0, static_cast<std::int64_t>(scene.size()), true);
  }
  const auto meet = [&](std::size_t k) {
    const std::int64_t owner = obstacles.owner(k);
    const double other_reach = obstacles.outlines().reach(k);
    const Convex part = obstacles.outlines().part(k);
    // It meets nothing before its lifetime, and nothing after it.
    const Interval life = obstacles.lifetimes().at(static_cast<std::size_t>(owner));
    const Interval meets = life.on_clock(time, 0.0);
    if (meets.end < 0.0 || meets.begin > until) return;
    const auto follow = [&](const Piece& kept) {
      const double last = std::fmin(until, meets.end);
      if (last < kept.begin) return;
      const Moving other{part, {&kept, 1}, other_reach};
      for (int i = 0; i < ego.parts(); ++i) {
        const Impact impact = gjk::time_of_impact(Moving::along(ego.part(i), {&way, 1}), other,
                                                  kept.begin, last, {0.0, options.tolerance});
        if (is_free(impact.verdict)) {
          decision.take(impact.verdict);
          continue;
        }
        if (impact.hit()) {
          decision.take(impact.verdict);
        } else {
          decision.fail(impact.status);
        }
        note(impact.last_valid, owner, impact.hit());
      }
    };
    const bool is_known = visit_kept(obstacles, static_cast<std::size_t>(owner), other_reach,
                                     std::fmax(time, life.begin), time, horizon, follow);
    if (is_known) return;
    decision.fail(Status::prediction_too_short);
    note(std::fmax(0.0, meets.begin), owner, false);
  };
  // Points that are farther apart than they can move in this time do not meet.
  const double speed = norm({twist.x, twist.y}) + std::fabs(twist.yaw) * reach + velocities.fastest;
  const auto limit = [&]() noexcept { return speed * until * (1.0 + 0x1p-40) + options.tolerance; };
  const Vec2 center = Vec2{pose.x, pose.y} - obstacles.origin();
  const Box box = Box{center, center}.grown(reach + 16.0 * kUnitRoundoff * norm1({pose.x, pose.y}));
  const Exhausted search = obstacles.nearest(box, limit(), view, [&](std::uint32_t k) {
    meet(k);
    return limit();
  });
  decision.take(Certificate::exhausted(search, limit()));
  result.verdict = decision.verdict();
  result.status = decision.status();
  check_free(result.verdict, result.status, decision.lower(), 0.0);
  if (is_free(result.verdict)) result.time = kInfinity;
  if (result.verdict == Verdict::collision) result.time = until;
  return result;
}

}  // namespace detail

GJK_KERNEL TimeToCollision time_to_collision(const Scene& scene, const Shape& ego, const Pose& pose,
                                             const Twist& twist, double time,
                                             const TimeToCollisionOptions& options) {
  return detail::time_to_collision(scene, ego, pose, twist, time, options,
                                   detail::Velocities::of(scene.obstacles()));
}

GJK_KERNEL void times_to_collision(const Scene& scene, const Shape& ego,
                                   std::span<const Pose> poses, std::span<const Twist> twists,
                                   std::span<const double> times,
                                   const TimeToCollisionOptions& options,
                                   std::span<TimeToCollision> results, unsigned threads) {
  const detail::Velocities velocities = detail::Velocities::of(scene.obstacles());
  const std::size_t count = std::min({results.size(), poses.size(), twists.size(), times.size()});
  for_each_chunk(count, 16, threads, [&] {
    return [&](std::size_t begin, std::size_t end) {
      for (std::size_t n = begin; n < end; ++n) {
        results[n] = detail::time_to_collision(scene, ego, poses[n], twists[n], times[n], options,
                                               velocities);
      }
    };
  });
}

}  // namespace gjk
#endif
