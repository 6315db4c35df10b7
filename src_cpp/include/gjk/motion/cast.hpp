// SPDX-FileCopyrightText: gjk_collision contributors
// SPDX-License-Identifier: Apache-2.0
// Continuous collision detection: when two moving shapes first meet, and how close they come.
//
// Conservative advancement (B. Mirtich, 1996): from a time at which the shapes are apart, advance
// as far as a bound on their motion proves that they stay apart; repeat. GJK only proposes the
// direction. The bound itself is evaluated separately, with its rounding errors. A step ends at a
// time up to which the bound holds. So no contact is skipped, however thin or fast the shapes are.
#pragma once

#include <cstddef>

#include "gjk/arithmetic.hpp"
#include "gjk/motion/motion.hpp"
#include "gjk/shape/convex.hpp"
#include "gjk/shape/pose.hpp"
#include "gjk/shape/shape.hpp"
#include "gjk/shape/vec2.hpp"
#include "gjk/verdict.hpp"

namespace gjk {

struct CastOptions {
  double margin = 0.0;       // m, >= 0, distance that counts as a hit
  double tolerance = 0.005;  // m, > 0, a gap this much above the margin may count as a hit
  int max_iterations = 1000;
};

// The first time at which the distance falls to the margin.
struct Impact {
  // FREE: the distance stays above the margin. COLLISION, MARGIN: at `time` it is within
  // `tolerance` of the margin; COLLISION if within `tolerance` of contact. UNKNOWN: neither was
  // proven.
  Verdict verdict = Verdict::unknown;
  // success; iteration_limit, prediction_too_short (a motion ends before t1), numeric_failure
  Status status = Status::undefined;
  // s, of the hit; infinity if FREE, NaN if UNKNOWN
  double time = kNaN;
  double last_valid = kNaN;  // s, free on [t0, last_valid), or
                             // up to t1 when FREE
  Closest closest;           // at the hit
  int iterations = 0;

  bool hit() const noexcept { return verdict == Verdict::collision || verdict == Verdict::margin; }
};

// The smallest distance over a time interval.
struct Approach {
  Status status = Status::undefined;  // as in Impact; `distance` is incomplete unless success
  // m, signed. If lower is -inf, they come within the tolerance of contact at `time`; the search
  // ends there, and they may overlap more deeply later.
  Bounds distance{-kInfinity, kInfinity};
  double time = kNaN;  // s, at which distance.upper is attained
  Closest closest;     // at that time
  int iterations = 0;
};

// The queries below allocate only for shapes with more than Room::kMost vertices.

// The first time in [t0, t1] (s) at which the distance of two moving shapes falls to the margin.
// Conservative within the tolerance: a hit may be reported if they pass at a distance of up to
// margin + tolerance, and its time is not later than the true one.
Impact time_of_impact(const Moving& a, const Moving& b, double t0, double t1,
                      const CastOptions& options = {});

// The smallest distance of two moving shapes over [t0, t1] (s), within the tolerance (m). One pass
// advances with a gap that is less than the smallest distance found so far. Where a smaller one is
// found, it continues with a smaller gap. If they stay farther apart than `max_distance` (m), only
// that is proven.
Approach closest_approach(const Moving& a, const Moving& b, double t0, double t1,
                          double tolerance = CastOptions{}.tolerance,
                          double max_distance = kInfinity,
                          int max_iterations = CastOptions{}.max_iterations);

// How far (m) shape a can move from its pose along `direction` before it is within the margin of b.
// `time` and `last_valid` of the answer are distances, the latter at most `max_distance`. Without
// rotation the advancement converges like Newton's method, so the tolerance may be tiny.
Impact shape_cast(const Convex& a, const Pose& pose_a, Vec2 direction, double max_distance,
                  const Convex& b, const Pose& pose_b, const CastOptions& options = {0.0, 1e-9});

// The same for a point.
Impact ray_cast(Vec2 origin, Vec2 direction, double max_distance, const Convex& b,
                const Pose& pose_b, const CastOptions& options = {0.0, 1e-9});

// The earlier of two pairs' impacts, at equal times the nearer one: a hit outranks UNKNOWN, UNKNOWN
// outranks FREE. The result is certainly free only as long as both pairs are: its last_valid is the
// smaller one, and the time of a hit is not later.
Impact earlier(const Impact& first, const Impact& second) noexcept;

// The first hit of any part of a with any part of b.
Impact time_of_impact(const Shape& a, Motion motion_a, const Shape& b, Motion motion_b, double t0,
                      double t1, const CastOptions& options = {});

Impact shape_cast(const Shape& a, const Pose& pose_a, Vec2 direction, double max_distance,
                  const Shape& b, const Pose& pose_b, const CastOptions& options = {0.0, 1e-9});

// The smallest distance of any part of a to any part of b.
Approach closest_approach(const Shape& a, Motion motion_a, const Shape& b, Motion motion_b,
                          double t0, double t1, double tolerance = CastOptions{}.tolerance);

}  // namespace gjk

#ifdef GJK_KERNEL
#include <cmath>

#include "gjk/certificate.hpp"
#include "gjk/motion/underway.hpp"
#include "gjk/query.hpp"
#include "gjk/shape/placing.hpp"

namespace gjk {

namespace detail {

// The certificate holds over [t, time].
struct Advance {
  double time = 0.0;
  Certificate certificate;
};

// Advances from t towards `end`, as long as the gap along n is certainly above `least`. Aims at the
// time when the gap is `aim`. `now` is the certificate at t. If there is no advance, the time is t.
inline Advance advance(const Underway& a, const Underway& b, Vec2 n, double t, double end,
                       double least, double aim, bool any_turn, const Certificate& now) noexcept {
  constexpr int kTries = 4;
  Advance result{t, now};
  if (!result.certificate.proves(least)) return result;
  double low_gap = result.certificate.lower();  // at result.time
  double high = end;
  double high_gap = low_gap;
  for (int k = 0; k < kTries; ++k) {
    // A concave function lies above its chord, so the time where the chord crosses the aim is safe.
    double next = high;
    if (k > 0) {
      if (!(low_gap > aim)) return result;
      next = result.time + (high - result.time) * ((low_gap - aim) / (low_gap - high_gap));
      if (!(next > result.time && next < high)) return result;
    }
    const double s = (next - t) * (1.0 + 4.0 * kUnitRoundoff);
    const Certificate then = Certificate::moving(a, b, n, s, any_turn);
    if (then.proves(least)) {
      result = {next, Certificate::during(result.certificate, then)};
      low_gap = then.lower();
      if (next == high) return result;
    } else {
      high = next;
      high_gap = then.lower();
    }
  }
  return result;
}

// The longer of two advances: one with a bound for any rotation, one with a bound of second order
// for rotations of up to one radian, of which `now` is the certificate at t.
inline Advance advance(const Underway& a, const Underway& b, Vec2 n, double t, double end,
                       double least, double aim, const Certificate& now) noexcept {
  const double spin = std::fmax(std::fabs(a.spin), std::fabs(b.spin));
  const double turn_end = std::fmin(end, t + 1.0 / spin);
  const Advance turned = advance(a, b, n, t, turn_end, least, aim, false, now);
  if (spin == 0.0 || turned.time == end) return turned;
  const Advance any =
      advance(a, b, n, t, end, least, aim, true, Certificate::moving(a, b, n, 0.0, true));
  return any.time > turned.time ? any : turned;
}

// What `look` of walk() returns: the gap that the next step must keep, and the gap it aims at.
struct Target {
  double least = 0.0;  // m
  double aim = 0.0;    // m, > least
  bool stop = false;
};

struct Walk {
  Status status = Status::undefined;
  bool stopped = false;  // by `look`
  double time = 0.0;     // s, reached
  Proven proven;         // over all steps
  int iterations = 0;
};

// Two moving shapes on the pieces of their motions that are valid from a time on.
class Encounter {
 public:
  Encounter(const Moving& a, const Moving& b, double until)
      : moving_a_(a), moving_b_(b), until_(until), room_a_(a.shape.size), room_b_(b.shape.size) {}

  struct Shapes {
    Underway a;
    Underway b;
  };

  // Goes to the pieces of time t. Returns false if a motion is not known then.
  bool go(double t) noexcept {
    piece_a_ = piece_at(moving_a_.motion, t, hint_a_);
    piece_b_ = piece_at(moving_b_.motion, t, hint_b_);
    if (piece_a_ == nullptr || piece_b_ == nullptr) return false;
    end_ = std::fmin(until_, std::fmin(piece_a_->end, piece_b_->end));
    return true;
  }
  double end() const noexcept { return end_; }  // s, of these pieces
  // At a time of these pieces.
  Shapes at(double t) const noexcept {
    return {Underway::from(moving_a_, *piece_a_, t), Underway::from(moving_b_, *piece_b_, t)};
  }
  Closest closest(const Shapes& shapes) noexcept {
    return gjk::closest(room_a_.place(shapes.a.shape, shapes.a.at),
                        room_b_.place(shapes.b.shape, shapes.b.at));
  }

 private:
  const Moving& moving_a_;
  const Moving& moving_b_;
  double until_;
  Room room_a_;
  Room room_b_;
  std::size_t hint_a_ = 0;
  std::size_t hint_b_ = 0;
  const Piece* piece_a_ = nullptr;
  const Piece* piece_b_ = nullptr;
  double end_ = 0.0;
};

// Advances from t0 to `until` of the encounter. Each step keeps the gap of the target that
// look(time, shapes, closest, certified gap, that of the direction for the next step) returned
// last.
template <class Look>
Walk walk(Encounter& encounter, double t0, double t1, int max_iterations, Look&& look) {
  Walk walked;
  walked.time = t0;
  Vec2 n;
  Target target;
  bool at_joint = false;  // the last step reached the end of a piece: try that step's n first
  const auto end_with = [&walked](Status status) noexcept {
    walked.status = status;
    return walked;
  };
  while (true) {
    const double t = walked.time;
    if (!encounter.go(t)) return end_with(Status::prediction_too_short);
    const double end = encounter.end();
    const Encounter::Shapes now_at = encounter.at(t);
    const auto& [a, b] = now_at;

    Advance step{t, {}};
    if (at_joint && end > t) {
      const Certificate along = Certificate::moving(a, b, n, 0.0, false);
      step = advance(a, b, n, t, end, target.least, target.aim, along);
    }
    if (!(step.time > t && step.time == end)) {
      if (walked.iterations == max_iterations) return end_with(Status::iteration_limit);
      ++walked.iterations;
      const Closest closest = encounter.closest(now_at);
      if (closest.status != Status::success) return end_with(closest.status);
      n = closest.direction;
      const Certificate along = Certificate::moving(a, b, n, 0.0, false);
      const Certificate now = stronger(Certificate::of(closest), along);
      walked.proven.take(now);
      target = look(t, now_at, closest, now.lower(), along.lower());
      walked.stopped = target.stop;
      if (target.stop || t == t1) return end_with(Status::success);
      if (!(end > t)) return end_with(Status::prediction_too_short);
      const Advance fresh = advance(a, b, n, t, end, target.least, target.aim, along);
      if (fresh.time > step.time) step = fresh;
      // The step is not longer than the rounding error: doubles do not resolve the tolerance.
      if (!(step.time > t)) return end_with(Status::numeric_failure);
    }
    walked.time = step.time;
    walked.proven.take(step.certificate);
    if (step.time == t1) return end_with(Status::success);
    at_joint = step.time == end;
  }
}

// The distance of two shapes at a time, and its derivative.
struct Slope {
  double time = 0.0;      // s
  double distance = 0.0;  // m
  double rate = 0.0;      // m/s

  static Slope of(double time, const Encounter::Shapes& shapes, const Closest& closest) noexcept {
    const auto velocity = [](const Underway& shape, Vec2 point) noexcept {
      return shape.velocity + shape.spin * perpendicular(point - shape.at.t);
    };
    const Vec2 apart = velocity(shapes.b, closest.point_b) - velocity(shapes.a, closest.point_a);
    return {time, closest.distance, dot(closest.direction, apart)};
  }
};

// Looks for smaller distances after a time, on the same pieces; take(time, closest) takes each that
// it computes. If the distance is a convex function, the tangents at two times bound it from below,
// and the next time is that where they meet. Where the tangents show that it is not, the next time
// is the middle. The search ends where a gain of more than `worth` (m) is not likely. Returns true
// if the shapes meet, which ends it too.
template <class Take>
bool descend(Encounter& encounter, Slope low, double worth, Take&& take) {
  constexpr int kMostTries = 50;
  Slope high;
  double least = low.distance;
  double next = encounter.end();
  double promise = low.distance + low.rate * (next - low.time);
  for (int k = 0; k < kMostTries && next > low.time && promise < least - worth; ++k) {
    const Encounter::Shapes shapes = encounter.at(next);
    const Closest closest = encounter.closest(shapes);
    if (closest.status != Status::success) return false;
    if (!(closest.distance > 0.0)) return true;
    take(next, closest);
    const Slope tried = Slope::of(next, shapes, closest);
    const bool is_lower = tried.rate < 0.0 && tried.distance <= low.distance;
    if (k == 0 && is_lower) return false;
    (is_lower ? low : high) = tried;
    least = std::fmin(least, tried.distance);
    const double apart = high.time - low.time;
    const double rise = high.distance - low.distance;
    const bool is_convex = low.rate * apart <= rise && rise <= high.rate * apart;
    next =
        low.time + (is_convex ? (high.rate * apart - rise) / (high.rate - low.rate) : 0.5 * apart);
    if (!(next < high.time)) return false;
    promise = low.distance + low.rate * (next - low.time);
  }
  return false;
}

inline bool is_interval(double t0, double t1) noexcept {
  return t1 - t0 >= 0.0 && t1 - t0 < kMaxCoordinate;
}

}  // namespace detail

GJK_KERNEL Impact time_of_impact(const Moving& a, const Moving& b, double t0, double t1,
                                 const CastOptions& options) {
  Impact impact;
  const bool sound = options.margin >= 0.0 && options.margin <= kMaxCoordinate &&
                     options.tolerance > 0.0 && detail::is_interval(t0, t1);
  if (!sound) {
    impact.status = Status::invalid_input;
    return impact;
  }
  const double near = options.margin + options.tolerance;
  detail::Encounter encounter(a, b, t1);
  const detail::Walk walked =
      detail::walk(encounter, t0, t1, options.max_iterations,
                   [&](double, const detail::Encounter::Shapes&, const Closest& closest, double gap,
                       double) noexcept {
                     impact.closest = closest;
                     return detail::Target{options.margin, options.margin + 0.5 * options.tolerance,
                                           !(gap > near)};
                   });
  impact.status = walked.status;
  impact.last_valid = walked.time;
  impact.iterations = walked.iterations;
  if (walked.stopped) {
    impact.time = walked.time;
    const bool contact = options.margin == 0.0 || impact.closest.distance <= options.tolerance;
    impact.verdict = contact ? Verdict::collision : Verdict::margin;
  } else if (walked.status == Status::success) {
    impact.verdict = walked.proven.of_all().beyond(options.margin, Verdict::unknown);
    if (is_free(impact.verdict)) {
      impact.time = kInfinity;
    } else {
      impact.status = Status::internal_error;
    }
  }
  return impact;
}

GJK_KERNEL Approach closest_approach(const Moving& a, const Moving& b, double t0, double t1,
                                     double tolerance, double max_distance, int max_iterations) {
  Approach found;
  if (!(tolerance > 0.0 && max_distance >= 0.0 && detail::is_interval(t0, t1))) {
    found.status = Status::invalid_input;
    return found;
  }
  const auto take = [&found](double time, const Closest& closest) noexcept {
    ++found.iterations;
    if (!(closest.distance < found.distance.upper)) return;
    found.distance.upper = closest.distance;
    found.closest = closest;
    found.time = time;
  };
  detail::Encounter encounter(a, b, t1);
  double least = max_distance;
  bool is_within = false;  // max_distance
  const detail::Walk walked = detail::walk(
      encounter, t0, t1, max_iterations,
      [&](double t, const detail::Encounter::Shapes& shapes, const Closest& closest, double gap,
          double along) {
        take(t, closest);
        if (least > 0.0 && !(along > least + 0.25 * tolerance)) {
          is_within = true;
          const detail::Slope slope = detail::Slope::of(t, shapes, closest);
          const bool meet = detail::descend(encounter, slope, 0.25 * tolerance, take);
          const double nearest = meet ? 0.0 : std::fmin(along, found.distance.upper);
          least = std::fmax(0.0, nearest - 0.875 * tolerance);
        }
        return detail::Target{least, least + 0.125 * tolerance, !(gap > least + 0.25 * tolerance)};
      });
  found.status = walked.status;
  const bool is_unfinished =
      walked.status == Status::iteration_limit || walked.status == Status::numeric_failure;
  if (is_unfinished && tolerance < found.distance.upper) {
    const Approach coarse =
        closest_approach(a, b, t0, t1, 8.0 * tolerance, max_distance, max_iterations);
    found.distance.lower = coarse.distance.lower;
    if (!std::isnan(coarse.time)) take(coarse.time, coarse.closest);
  } else if (walked.status == Status::success && !walked.stopped) {
    found.distance.lower = walked.proven.of_all().lower();
  }
  if (walked.status != Status::success || (walked.stopped && least == 0.0)) return found;
  // The gaps are not certain enough for the tolerance.
  if (is_within && !(found.distance.upper - std::fmax(0.0, found.distance.lower) <= tolerance)) {
    found.status = Status::numeric_failure;
  }
  return found;
}

GJK_KERNEL Impact shape_cast(const Convex& a, const Pose& pose_a, Vec2 direction,
                             double max_distance, const Convex& b, const Pose& pose_b,
                             const CastOptions& options) {
  const Vec2 along = unit(direction);
  if (std::isnan(along.x)) {
    Impact refused;
    refused.status = Status::invalid_input;
    return refused;
  }
  // Relative to the start of a, so that the tolerance is resolved far from the frame's origin too.
  // The error bound for placing a shape there covers the rounding of the difference.
  const Vec2 start{pose_a.x, pose_a.y};
  const Vec2 way{pose_b.x - start.x, pose_b.y - start.y};
  const Piece moving = Piece::moving({0.0, 0.0, pose_a.yaw}, {along.x, along.y, 0.0});
  const Piece still = Piece::still({way.x, way.y, pose_b.yaw});
  const Moving moving_a = Moving::along(a, {&moving, 1});
  const Moving moving_b = Moving::along(b, {&still, 1});
  // At a larger distance, a has passed b.
  const double beyond = 1.001 * (norm(way) + moving_a.reach + a.radius + moving_b.reach + b.radius +
                                 options.margin + options.tolerance);
  const bool passes = beyond < max_distance;
  Impact impact = time_of_impact(moving_a, moving_b, 0.0, passes ? beyond : max_distance, options);
  if (passes && is_free(impact.verdict)) impact.last_valid = max_distance;
  impact.closest.point_a = impact.closest.point_a + start;
  impact.closest.point_b = impact.closest.point_b + start;
  return impact;
}

GJK_KERNEL Impact ray_cast(Vec2 origin, Vec2 direction, double max_distance, const Convex& b,
                           const Pose& pose_b, const CastOptions& options) {
  const double zero = 0.0;
  return shape_cast(Convex::view(&zero, &zero, 1), {origin.x, origin.y, 0.0}, direction,
                    max_distance, b, pose_b, options);
}

GJK_KERNEL Impact earlier(const Impact& first, const Impact& second) noexcept {
  const auto rank = [](const Impact& impact) noexcept {
    return impact.hit() ? 0 : impact.verdict == Verdict::unknown ? 1 : 2;
  };
  const bool is_sooner =
      second.time < first.time ||
      (second.time == first.time && second.closest.distance < first.closest.distance);
  const bool swap = rank(second) != rank(first) ? rank(second) < rank(first) : is_sooner;
  Impact result = swap ? second : first;
  result.last_valid = std::fmin(first.last_valid, second.last_valid);
  if (result.hit()) result.time = std::fmin(result.time, result.last_valid);
  result.iterations = first.iterations + second.iterations;
  return result;
}

namespace detail {

// The first hit of any part of a with any part of b; `cast(part_a, part_b, until)` tests two parts.
template <class Cast>
Impact first_impact(const Shape& a, const Shape& b, double until, Cast&& cast) {
  Impact impact;
  for (int i = 0; i < a.parts(); ++i) {
    for (int j = 0; j < b.parts(); ++j) {
      // Impacts after a hit do not matter.
      const Impact pair = cast(a.part(i), b.part(j), impact.hit() ? impact.time : until);
      impact = i == 0 && j == 0 ? pair : earlier(impact, pair);
    }
  }
  return impact;
}

}  // namespace detail

GJK_KERNEL Impact time_of_impact(const Shape& a, Motion motion_a, const Shape& b, Motion motion_b,
                                 double t0, double t1, const CastOptions& options) {
  const auto cast = [&](const Convex& p, const Convex& q, double until) {
    return time_of_impact(Moving::along(p, motion_a), Moving::along(q, motion_b), t0, until,
                          options);
  };
  return detail::first_impact(a, b, t1, cast);
}

GJK_KERNEL Impact shape_cast(const Shape& a, const Pose& pose_a, Vec2 direction,
                             double max_distance, const Shape& b, const Pose& pose_b,
                             const CastOptions& options) {
  const auto cast = [&](const Convex& p, const Convex& q, double until) {
    return shape_cast(p, pose_a, direction, until, q, pose_b, options);
  };
  return detail::first_impact(a, b, max_distance, cast);
}

GJK_KERNEL Approach closest_approach(const Shape& a, Motion motion_a, const Shape& b,
                                     Motion motion_b, double t0, double t1, double tolerance) {
  Approach nearest;
  for (int i = 0; i < a.parts(); ++i) {
    const Moving part_a = Moving::along(a.part(i), motion_a);
    for (int j = 0; j < b.parts(); ++j) {
      const Moving part_b = Moving::along(b.part(j), motion_b);
      const bool first = i == 0 && j == 0;
      const Approach pair = closest_approach(part_a, part_b, t0, t1, tolerance,
                                             std::fmax(0.0, nearest.distance.upper));
      if (first) {
        nearest = pair;
        continue;
      }
      const double lower = std::fmin(nearest.distance.lower, pair.distance.lower);
      const int iterations = nearest.iterations + pair.iterations;
      const Status status = nearest.status != Status::success ? nearest.status : pair.status;
      if (pair.distance.upper < nearest.distance.upper) nearest = pair;
      nearest.distance.lower = lower;
      nearest.iterations = iterations;
      nearest.status = status;
    }
  }
  return nearest;
}

}  // namespace gjk
#endif
