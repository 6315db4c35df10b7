// SPDX-FileCopyrightText: gjk_collision contributors
// SPDX-License-Identifier: Apache-2.0
// A path of the ego shape through a scene, continuous between its poses.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>

#include "gjk/arithmetic.hpp"
#include "gjk/callback.hpp"
#include "gjk/motion/arc.hpp"
#include "gjk/motion/motion.hpp"
#include "gjk/scene/scene.hpp"
#include "gjk/shape/box.hpp"
#include "gjk/shape/pose.hpp"
#include "gjk/shape/shape.hpp"
#include "gjk/text.hpp"
#include "gjk/verdict.hpp"

namespace gjk {

struct PathOptions {
  double margin = 0.0;       // m
  double tolerance = 0.005;  // m, > 0
  double time_error = 0.0;   // s, error bound of the times of the path
  bool has_distance = true;  // whether to compute PathResult::distance, which takes longer
};

// Where a path first is not certainly free of contact.
struct FirstContact {
  double time = kInfinity;  // s. Infinity: no contact
  std::int64_t obstacle = -1;
  // The part of the ego, and the number of the part among those of all obstacles; -1 if only the
  // obstacle is known: its pose is unknown, or it is the outside of the region.
  int ego_part = -1;
  std::int64_t part = -1;
};

struct PathResult {
  Verdict verdict = Verdict::unknown;  // the worst on the path: COLLISION > UNKNOWN > MARGIN > FREE
  Status status = Status::undefined;
  std::int64_t first_invalid_segment = -1;
  // That segment is certainly free up to this fraction of it. On an ArcPath: of the whole length.
  double last_valid_fraction = 1.0;
  // s. First time at which contact cannot be excluded, if the path collides. NaN if it does not
  // collide or has no times.
  double first_collision_time = kNaN;
  std::int64_t obstacle = -1;  // index of the obstacle that decides first_invalid_segment
  FirstContact contact;        // on a path with times, whatever its verdict
  Vec2 unseen{kNaN, kNaN};     // a point of the space that no sensor saw; status not_seen
  // m. Bounds on the smallest distance on the path; NaN if not computed, the upper one also if the
  // verdict is UNKNOWN. If the path collides, only up to the end of the segment with the collision.
  // A value of 0 or less means a collision, but is not the penetration depth.
  Bounds distance{kInfinity, kInfinity};

  // Calls f(name, of) for each field, with the name for the values of several paths, as in Python.
  // `of`: as for std::invoke, with a result.
  template <class F>
  static void fields(F f) {
    f("verdicts", &PathResult::verdict);
    f("statuses", &PathResult::status);
    f("first_invalid_segments", &PathResult::first_invalid_segment);
    f("last_valid_fractions", &PathResult::last_valid_fraction);
    f("first_collision_times", &PathResult::first_collision_time);
    f("indices", &PathResult::obstacle);
    f("distances", [](const PathResult& r) { return r.distance.upper; });
    f("lower_bounds", [](const PathResult& r) { return r.distance.lower; });
  }
};

// In one line, for logs.
inline std::string to_string(const PathResult& result) {
  std::string text = to_string(result.verdict, result.status);
  if (result.first_invalid_segment >= 0) {
    text += " at segment " + std::to_string(result.first_invalid_segment);
  }
  if (result.obstacle >= 0) text += ", obstacle " + std::to_string(result.obstacle);
  return text;
}

// Called with the number of segments that are done; returns false to end the check.
using GoOn = Callback<bool, std::size_t>;

namespace detail {

// Goes on after any number of segments.
struct Always {
  bool operator()(std::size_t) const noexcept { return true; }
};
inline constexpr Always kAlways;

}  // namespace detail

// Checks the motion of the ego from pose to pose, in straight lines and turning the shorter way.
// Certified to the tolerance: FREE is never wrong, and a hit may be reported if the distance is at
// most margin plus tolerance. `times` (s, strictly increasing) has one entry per pose, or is empty
// if the obstacles stand still. After each segment without a collision, go_on(number of segments
// that are done) is called; if it returns false, the result is that of these segments.
PathResult check_path(const Scene& scene, const Shape& ego, std::span<const Pose> poses,
                      std::span<const double> times, const PathOptions& options,
                      const GoOn& go_on = detail::kAlways);

// The same along a curve. `times` (s) has one entry for the start and one for the end of each arc:
// the ego drives each arc with constant speed. The ends of the arcs are rounded, and all bounds
// include their errors. An arc without length is an instant, which needs no time. go_on: as above.
PathResult check_path(const Scene& scene, const Shape& ego, const ArcPath& curve,
                      std::span<const double> times, const PathOptions& options,
                      const GoOn& go_on = detail::kAlways);

// check_path() for each of results.size() curves. Curve k has the arcs first[k] to first[k + 1] -
// 1 and the start starts[k]. `times` (s) has the times of all curves, one after the other, or is
// empty. INVALID_INPUT if the lengths do not match.
void check_paths(const Scene& scene, const Shape& ego, std::span<const Pose> starts,
                 std::span<const std::uint64_t> first, std::span<const Arc> arcs,
                 std::span<const double> times, const PathOptions& options,
                 std::span<PathResult> results, unsigned threads = 1);

// check_path() for each of results.size() trajectories, which have the same number of poses, one
// after the other in `poses`. `times` (s) has one entry per pose, or one per pose of a trajectory
// if all have the same times, or is empty if the obstacles stand still. INVALID_INPUT if the
// lengths do not match.
void check_paths(const Scene& scene, const Shape& ego, std::span<const Pose> poses,
                 std::span<const double> times, const PathOptions& options,
                 std::span<PathResult> results, unsigned threads = 1);

namespace detail {

// A path of which nothing is known, except perhaps a lower bound (m).
inline PathResult unknown_path(Status status, double lower = kNaN) noexcept {
  PathResult none;
  none.status = status;
  none.first_invalid_segment = 0;
  none.last_valid_fraction = 0.0;
  none.distance = {lower, kNaN};
  return none;
}

// The smaller one; NaN if one of them is.
inline double least_of(double a, double b) noexcept {
  if (std::isnan(a) || std::isnan(b)) return kNaN;
  return std::fmin(a, b);
}

}  // namespace detail

// The result for a path that is checked at its poses only. It is free up to the pose before the
// first one that is not.
inline PathResult path_of(std::span<const PoseResult> poses, std::span<const double> times) {
  PathResult path;
  path.verdict = Verdict::unknown;
  path.status = Status::success;
  path.distance = {kInfinity, kInfinity};
  bool hit = false;
  std::size_t unsure = poses.size();
  for (std::size_t i = 0; i < poses.size(); ++i) {
    const PoseResult& r = poses[i];
    if (i == 0 || severity(r.verdict) > severity(path.verdict)) {
      path.verdict = r.verdict;
      path.status = r.status;
      path.unseen = r.unseen;
    }
    if (path.first_invalid_segment < 0 && !is_free(r.verdict)) {
      path.first_invalid_segment = i > 0 ? static_cast<std::int64_t>(i) - 1 : 0;
      path.last_valid_fraction = 0.0;
      path.obstacle = r.nearest;
    }
    const bool is_hit = r.verdict == Verdict::collision;
    if (unsure == poses.size() && (is_hit || r.verdict == Verdict::unknown)) unsure = i;
    if (!hit) {
      path.distance = {detail::least_of(path.distance.lower, r.lower_bound),
                       detail::least_of(path.distance.upper, r.distance)};
    }
    hit |= is_hit;
  }
  if (hit && !times.empty()) path.first_collision_time = times[unsure];
  return path;
}

namespace detail {

// Why arcs cannot be driven, and why a curve of them cannot. `index`: as in the message, or -1.
Issue check_arcs(std::span<const Arc> arcs);
Issue check_range(const ArcPath& curve, long index);

// Why the arguments of check_paths() do not fit together.
Issue check_fit(std::span<const Pose> poses, std::span<const double> times, std::size_t paths);
Issue check_fit(std::span<const Pose> starts, std::span<const std::uint64_t> first,
                std::span<const Arc> arcs, std::span<const double> times, std::size_t paths);

}  // namespace detail
}  // namespace gjk

#ifdef GJK_KERNEL
#include <optional>

#include "gjk/certificate.hpp"
#include "gjk/motion/cast.hpp"
#include "gjk/parallel.hpp"
#include "gjk/scene/coverage.hpp"
#include "gjk/scene/obstacles.hpp"
#include "gjk/scene/region.hpp"
#include "gjk/shape/domain.hpp"

namespace gjk {

namespace detail {

// The first time on a path at which it is not certainly free.
struct Event {
  double time = kInfinity;  // none
  std::int64_t obstacle = -1;

  bool is_any() const noexcept { return time < kInfinity; }
};

class PathCheck {
 public:
  PathCheck(const Scene& scene, const Shape& ego, const PathOptions& options) noexcept
      : obstacles_(scene.obstacles()),
        region_(scene.region()),
        outside_(static_cast<std::int64_t>(scene.size())),
        ego_(ego),
        options_(options),
        decision_(options.margin) {
    for (int k = 0; k < ego.parts(); ++k) {
      const Convex part = ego.part(k);
      reach_ = std::fmax(reach_, reach(part) + part.radius + part.error);
    }
  }

  // Checks the motion of the ego along one segment.
  void follow(const Piece& segment, bool timed) {
    first_ = {};
    // A path that touches no part of the region's boundary stays on the side where it starts.
    if (!is_started_ && region_ != nullptr) {
      const double within = region_->to_outside(ego_, segment.in_one_second().at(0.0, reach_));
      if (within < kInfinity) {
        decision_.take(Verdict::collision);
        upper_ = std::fmin(upper_, within);
        note({.time = segment.begin, .obstacle = outside_});
        return;
      }
    }
    is_started_ = true;
    if (!timed) {
      follow(segment, Obstacles::at_rest());
      return;
    }
    note_unknown(segment.begin, segment.end);
    follow(segment, obstacles_.swept(segment.begin - options_.time_error,
                                     segment.end + options_.time_error));
  }

  const Event& first() const noexcept { return first_; }
  const Decision& decision() const noexcept { return decision_; }
  // Before its time there is certainly no contact.
  const FirstContact& contact() const noexcept { return contact_; }
  Bounds distance() const noexcept {
    return options_.has_distance ? Bounds{decision_.lower(), upper_} : Bounds{kNaN, kNaN};
  }

 private:
  void note(double time, std::int64_t obstacle) noexcept {
    if (time < first_.time) first_ = {time, obstacle};
  }
  // The same if contact is not excluded.
  void note(const FirstContact& contact) noexcept {
    note(contact.time, contact.obstacle);
    if (contact.time < contact_.time) contact_ = contact;
  }

  void note_unknown(double begin, double end) noexcept {
    const Obstacles::Unknown unknown = obstacles_.first_unknown(begin, end);
    if (unknown.obstacle < 0) return;
    decision_.fail(Status::prediction_too_short);
    note({.time = unknown.time, .obstacle = unknown.obstacle});
  }

  void follow(const Piece& segment, const Obstacles::View& view) {
    const Box box = box_along(segment);
    const double near =
        obstacles_.range(view.timed ? obstacles_.at(segment.end + options_.time_error) : view,
                         options_.margin + options_.tolerance);
    const auto limit = [&]() noexcept {
      return options_.has_distance ? std::fmax(near, upper_) : near;
    };
    const Exhausted search = obstacles_.nearest(box, limit(), view, [&](std::uint32_t k) {
      for (int i = 0; i < ego_.parts(); ++i) meet(segment, i, k, view.timed);
      return limit();
    });
    decision_.take(Certificate::exhausted(search, limit()));
  }

  // Contains the ego on the whole segment, relative to the origin of the obstacles. On an arc, the
  // box contains poses of equal distances. Between two of them, the origin is at most the length
  // times the angle / 8 away from their chord.
  Box box_along(const Piece& segment) const noexcept {
    constexpr double kStep = 0.5;  // rad
    const Piece way = segment.in_one_second();
    const double turn = way.is_arc ? std::fabs(way.spin()) : 0.0;
    const int steps = 1 + static_cast<int>(std::fmin(16.0, turn / kStep));
    const double beside =
        norm(way.velocity()) / steps * std::fmin(0.5, 0.125 * turn / steps) * (1.0 + 0x1p-40);
    Box box;
    for (int step = 0; step <= steps; ++step) {
      const Placement at = way.at(static_cast<double>(step) / steps, reach_);
      const Vec2 center = Vec2{at.pose.x, at.pose.y} - obstacles_.origin();
      const double by =
          reach_ + beside + 4.0 * at.error + 16.0 * kUnitRoundoff * norm1({at.pose.x, at.pose.y});
      if (!(by < kEverywhere.high.x)) return kEverywhere;  // NaN too
      box.include(Box{center, center}.grown(by));
    }
    return box;
  }

  // A segment lasts an instant if its duration is less than a microsecond, or of the size of the
  // error of its times. Then the times do not say how fast the ego is, and doubles may not resolve
  // them. `way` is the segment on the clock of an obstacle.
  static bool is_instant(const Piece& way) noexcept {
    constexpr double kShortest = 1e-6;  // s
    return !(way.duration > kShortest && way.duration > 8.0 * unsure(way));
  }
  // s. Error of the times of a segment on the clock of an obstacle. A segment of one time has a
  // nominal duration, which is longer.
  static double unsure(const Piece& way) noexcept {
    return std::fmax(way.end - way.begin - way.duration, 0.0) + way.time_error;
  }

  // Makes `still` a motion that stands where obstacle part k is at any time within `by` (s) of
  // `time` (s, on the clock of `motion`). Returns how far (m) it moves meanwhile; infinity: it is
  // not known at `time`, and stands anywhere.
  double stand(Motion motion, std::size_t k, double time, double by, Piece& still) const noexcept {
    const double reach = obstacles_.outlines().reach(k);
    std::size_t at = 0;
    const Piece* const piece = piece_at(motion, time, at);
    still = Piece::still({});
    still.is_arc = true;
    still.from_shift = kInfinity;
    if (piece == nullptr) return still.from_shift;
    const LocalTime any{time, by * (1.0 + 4.0 * kUnitRoundoff)};
    const double moved = drift(motion, at, any, reach);
    const Placement now = piece->at(time, reach);
    still.from = now.pose;
    still.from_shift = now.error + moved;
    return moved;
  }

  // Part i of the ego against part k of the obstacles.
  void meet(const Piece& segment, int i, std::size_t k, bool timed) {
    const auto index = static_cast<std::size_t>(obstacles_.owner(k));
    Piece still = Piece::still(obstacles_.pose(index));
    if (!timed) {
      const double most = sum_outwards(options_.margin, obstacles_.margins().fixed(index));
      compare(
          segment, {&still, 1}, i, k, segment.begin, segment.end,
          [most](double) noexcept { return most; }, [](double time) noexcept { return time; });
      return;
    }
    Motion motion = obstacles_.motion(index);
    still.begin = still.end = 0.0;  // without a motion, known at its stamp only
    if (motion.empty()) motion = {&still, 1};
    // Both motions use the clock of the obstacle, which starts at its stamp.
    const double stamp = obstacles_.stamp(index);
    // The earliest query time that a time on that clock may correspond to.
    const double early = obstacles_.time_error() + options_.time_error;
    const Piece way = segment.on_clock(stamp, early);
    // Only while it exists and its motion is known; note_unknown() reports the rest. Within the
    // error of the times, it may be before or after the known motion.
    const Interval life = obstacles_.lifetimes().given(index).on_clock(stamp, early);
    const double error = 2.0 * unsure(way);
    const Interval both{std::fmax(std::fmax(way.begin, life.begin), motion.front().begin - error),
                        std::fmin(std::fmin(way.end, life.end), motion.back().end + error)};
    if (!(both.begin <= both.end)) return;
    if (meet_at_instant(segment, way, motion, both, i, k)) return;
    meet_in_motion(way, motion, both, i, k, [stamp, early](double time) noexcept {
      return rounded_down(two_sum(rounded_down(two_sum(stamp, time)), -early));
    });
  }

  // The distance (m) that is required from an obstacle until a time on its clock.
  double required(std::size_t index, const Piece& way, double time) const noexcept {
    return sum_outwards(options_.margin,
                        obstacles_.margins().at(index, {time, 2.0 * way.time_error}));
  }

  // A segment that takes no time: the obstacle stands. `way` and `both`, in which the obstacle is
  // known, are on the clock of the obstacle. False: it may move too much.
  bool meet_at_instant(const Piece& segment, const Piece& way, Motion motion, const Interval& both,
                       int i, std::size_t k) {
    const auto index = static_cast<std::size_t>(obstacles_.owner(k));
    if (!is_instant(way)) return false;
    const double most = required(index, way, both.end);
    const double growth = most - required(index, way, both.begin);
    if (!(growth <= 0.25 * options_.tolerance)) return false;
    const double begin = std::fmin(std::fmax(both.begin, motion.front().begin), motion.back().end);
    Piece standing;
    // The obstacle may move by as much as the error of the times displaces the ego.
    if (!(stand(motion, k, begin, both.end - both.begin, standing) <=
          std::fmax(0x1p-6 * options_.tolerance, unsure(way) * way.speed(reach_)))) {
      return false;
    }
    const double rounding =
        4.0 * kUnitRoundoff * std::fmax(std::fabs(segment.begin), std::fabs(segment.end)) +
        std::numeric_limits<double>::denorm_min();
    compare(
        segment.in_one_second(), {&standing, 1}, i, k, 0.0, 1.0,
        [most](double) noexcept { return most; },
        [&](double share) noexcept {
          const double time = segment.begin + share * (segment.end - segment.begin);
          return time - rounding - options_.time_error * (1.0 + 4.0 * kUnitRoundoff);
        });
    return true;
  }

  // On the clock of the obstacle. It stands before the begin and after the end of its motion.
  template <class ToQuery>
  void meet_in_motion(const Piece& way, Motion motion, const Interval& both, int i, std::size_t k,
                      const ToQuery& to_query) {
    const auto index = static_cast<std::size_t>(obstacles_.owner(k));
    const double first = motion.front().begin;
    const double last = motion.back().end;
    const auto most = [&](double time) noexcept { return required(index, way, time); };
    Piece standing;
    if (both.begin < first) {
      stand(motion, k, first, first - both.begin, standing);
      compare(way, {&standing, 1}, i, k, both.begin, std::fmin(first, both.end), most, to_query);
    }
    const double begin = std::fmax(both.begin, first);
    const double end = std::fmin(both.end, last);
    if (begin <= end) compare(way, motion, i, k, begin, end, most, to_query);
    if (both.end > last) {
      stand(motion, k, last, both.end - last, standing);
      compare(way, {&standing, 1}, i, k, std::fmax(last, both.begin), both.end, most, to_query);
    }
  }

  // Part i of the ego on its way against part k of the obstacles on its motion, from begin to end
  // (s). At each time, the distance must be greater than required(time) (m), which does not
  // decrease. to_query(time) is the earliest query time that a time may correspond to.
  template <class Required, class ToQuery>
  void compare(const Piece& way, Motion motion, int i, std::size_t k, double begin, double end,
               const Required& required, const ToQuery& to_query) {
    const std::int64_t owner = obstacles_.owner(k);
    const Moving ego = Moving::along(ego_.part(i), {&way, 1});
    const Moving other{obstacles_.outlines().part(k), motion, obstacles_.outlines().reach(k)};
    const double most = required(end);
    Certificate certificate;
    if (options_.has_distance) {
      const double far = std::fmax(most + options_.tolerance, upper_);
      const Approach approach = closest_approach(ego, other, begin, end, options_.tolerance, far);
      double upper = approach.distance.upper;
      if (owner == outside_) upper = region_->distance_to_true(upper, other.shape.radius);
      upper_ = std::fmin(upper_, upper);
      certificate = Certificate::of(
          approach.distance);  // true whatever the status: a walk to the end proved it
    }
    if (certificate.proves(most)) {
      decision_.take(certificate, most);
      return;
    }
    const Impact impact = first_within(ego, other, begin, end, required, certificate);
    const double first = to_query(std::isnan(impact.last_valid) ? begin : impact.last_valid);
    Impact worst = impact;
    if (impact.verdict == Verdict::margin) {
      note(first, owner);
      worst = time_of_impact(ego, other, impact.time, end, {0.0, options_.tolerance});
      if (is_free(worst.verdict)) worst.verdict = Verdict::margin;
    }
    if (worst.hit() || is_free(worst.verdict)) {
      decision_.take(worst.verdict, certificate, most);
    } else {
      decision_.fail(worst.status, certificate);
    }
    if (is_free(worst.verdict) || worst.verdict == Verdict::margin) return;
    const double from = impact.verdict == Verdict::margin ? impact.time : begin;
    note({to_query(std::isnan(worst.last_valid) ? from : worst.last_valid), owner, i,
          static_cast<std::int64_t>(k)});
  }

  // The first time in [begin, end] (s) at which the distance falls to required(time) (m), which
  // does not decrease. Each step is checked for the requirement at its end. A step that is not FREE
  // is shortened until the requirement grows by at most a quarter of the tolerance. Takes all FREE
  // steps but the last one. `certificate` holds for all of them.
  template <class Required>
  Impact first_within(const Moving& ego, const Moving& other, double begin, double end,
                      const Required& required, const Certificate& certificate) {
    constexpr int kMostSteps = 4000;
    double until = end;
    for (int n = 0; n < kMostSteps; ++n) {
      const double most = required(until);
      const double growth = most - required(begin);
      const double tolerance = std::fmax(options_.tolerance - growth, 0.5 * options_.tolerance);
      const Impact impact = time_of_impact(ego, other, begin, until, {most, tolerance});
      const double step = until - begin;
      if (is_free(impact.verdict)) {
        if (until == end) return impact;
        decision_.take(impact.verdict, certificate, most);
        begin = until;
        until = std::fmin(end, begin + 2.0 * step);
      } else {
        if (growth <= 0.25 * options_.tolerance) return impact;
        until = begin + 0.5 * step;
      }
    }
    Impact unfinished;
    unfinished.status = Status::iteration_limit;
    unfinished.last_valid = begin;
    return unfinished;
  }

  const Obstacles& obstacles_;
  const Region* region_;  // null: none
  std::int64_t outside_;  // index of the obstacle that stands for its complement
  bool is_started_ = false;
  const Shape& ego_;
  PathOptions options_;
  double reach_ = 0.0;  // m, of the ego about its origin, radius included
  Event first_;         // on the current segment
  Decision decision_;
  FirstContact contact_;
  double upper_ = kInfinity;  // m, upper bound on the distance
};

// Why no query of this scene with this ego can answer.
inline Issue check_subjects(const Scene& scene, const Shape& ego) {
  if (ego.parts() == 0) return refusal("shape", "must have a part");
  for (int k = 0; k < ego.parts(); ++k) {
    if (in_domain(ego.part(k), ego.part(k))) continue;
    return refusal("shape", "must be convex in each part, within 1e15 m");
  }
  const std::int64_t unusable = scene.obstacles().unusable();
  if (unusable < 0) return {};
  const auto i = static_cast<std::size_t>(unusable);
  if (i >= scene.obstacles().size()) {
    return refusal("changes",
                   "must lie in [0, " + std::to_string(scene.size()) + ")" + got(unusable));
  }
  const Outlines& outlines = scene.obstacles().outlines();
  if (outlines.begin(i) == outlines.end(i)) {
    return {Status::invalid_input, "obstacles", static_cast<long>(i), "must have a part"};
  }
  return refusal("scene", "call build() after the last add()");
}

// Why a path of `count` poses cannot be checked.
inline Issue check_way(const Scene& scene, const Shape& ego, std::span<const double> times,
                       std::size_t count, const PathOptions& options) {
  if (count == 0) return refusal("poses", Status::empty_request, "must hold at least one pose");
  return first_of({check_times(times, count), check_increasing_times(times, times),
                   check_radius(options.margin, "margin"), check_tolerance(options.tolerance),
                   check_duration(options.time_error, "time_error"), check_subjects(scene, ego)});
}
inline Issue check_way(const Scene& scene, const Shape& ego, std::span<const Pose> poses,
                       std::span<const double> times, const PathOptions& options) {
  return first_of(
      {check_poses_in_domain(poses), check_way(scene, ego, times, poses.size(), options)});
}
inline Issue check_way(const Scene& scene, const Shape& ego, const ArcPath& curve,
                       std::span<const double> times, const PathOptions& options) {
  return first_of({check_in_domain(curve.start, "start", -1), check_arcs(curve.arcs),
                   check_range(curve, -1),
                   check_way(scene, ego, times, curve.arcs.size() + 1, options)});
}

inline PathResult refused_path() noexcept {
  return unknown_path(Status::invalid_input, -kInfinity);
}

// Checks the segments one after the other, until one collides or go_on(number of segments that are
// done) returns false. next(i) returns segment i.
template <class Next>
PathResult check_segments(const Scene& scene, const Shape& ego, std::size_t segments,
                          std::span<const double> times, const PathOptions& options, Next&& next,
                          const GoOn& go_on) {
  PathResult result;
  const bool timed = !times.empty();
  PathCheck check(scene, ego, options);
  std::optional<Coverage::Leaving> left;  // what was seen
  for (std::size_t i = 0; i < segments; ++i) {
    Piece segment = next(i);
    // Of the start, and of the duration, whose error is twice as large.
    segment.time_error = 3.0 * options.time_error;
    check.follow(segment, timed);
    Event first = check.first();
    if (scene.coverage() != nullptr && !left) {
      left = scene.coverage()->leaving(ego, segment, options.margin, options.tolerance);
      if (left && left->time < first.time) first = {left->time, -1};
    }
    if (first.is_any() && result.first_invalid_segment < 0) {
      result.first_invalid_segment = static_cast<std::int64_t>(i);
      const double passed = first.time - segment.begin;
      const double share = segment.end > segment.begin ? passed / segment.duration : 0.0;
      result.last_valid_fraction = std::fmin(1.0, std::fmax(0.0, share * (1.0 - 0x1p-50)));
      result.obstacle = first.obstacle;
    }
    if (check.decision().verdict() == Verdict::collision || !go_on(i + 1)) break;
  }
  result.verdict = check.decision().verdict();
  result.status = check.decision().status();
  result.distance = check.distance();
  if (timed) result.contact = check.contact();
  check_free(result.verdict, result.status,
             options.has_distance ? result.distance.lower : check.decision().lower(),
             options.margin);
  if (left && severity(result.verdict) < severity(Verdict::unknown)) {
    result.verdict = Verdict::unknown;
    result.status = Status::not_seen;
    result.unseen = left->point;
  }
  if (!is_free(result.verdict) && result.first_invalid_segment < 0) {
    result.first_invalid_segment = 0;
    result.last_valid_fraction = 0.0;
  }
  if (result.verdict == Verdict::unknown) {
    result.distance.upper = kNaN;
  }
  if (timed && result.verdict == Verdict::collision) {
    // With what was not seen, contact cannot be excluded either.
    const double time = std::fmin(check.contact().time, left ? left->time : kInfinity);
    result.first_collision_time = std::fmax(time, times.front());
  }
  return result;
}

}  // namespace detail

GJK_KERNEL PathResult check_path(const Scene& scene, const Shape& ego, std::span<const Pose> poses,
                                 std::span<const double> times, const PathOptions& options,
                                 const GoOn& go_on) {
  if (detail::check_way(scene, ego, poses, times, options)) return detail::refused_path();
  const std::size_t segments = std::max<std::size_t>(1, poses.size() - 1);
  const auto segment = [&](std::size_t i) {
    const std::size_t next = std::min(i + 1, poses.size() - 1);  // a single pose is a segment too
    const bool timed = !times.empty();
    return Piece::between(timed ? times[i] : static_cast<double>(i), poses[i],
                          timed ? times[next] : static_cast<double>(next), poses[next]);
  };
  return detail::check_segments(scene, ego, segments, times, options, segment, go_on);
}

GJK_KERNEL PathResult check_path(const Scene& scene, const Shape& ego, const ArcPath& curve,
                                 std::span<const double> times, const PathOptions& options,
                                 const GoOn& go_on) {
  const bool timed = !times.empty();
  if (detail::check_way(scene, ego, curve, times, options)) return detail::refused_path();
  Along along(curve.start);
  const std::size_t segments = std::max<std::size_t>(1, curve.arcs.size());
  const auto next = [&](std::size_t i) {
    const Arc arc = curve.arcs.empty() ? Arc{} : curve.arcs[i];  // no arc: an instant
    if (!timed) return along.next(arc, 0.0, std::fabs(arc.length));
    return along.next(arc, times[i], times[std::min(i + 1, times.size() - 1)]);
  };
  PathResult result = detail::check_segments(scene, ego, segments, times, options, next, go_on);
  if (result.first_invalid_segment >= 0) {
    const auto first = static_cast<std::size_t>(result.first_invalid_segment);
    const ArcPath before{curve.start, curve.arcs.first(std::min(first, curve.arcs.size()))};
    const double of_arc = curve.arcs.empty() ? 0.0 : std::fabs(curve.arcs[first].length);
    const double valid = before.length() + result.last_valid_fraction * of_arc;
    const double all = curve.length();
    result.last_valid_fraction = all > 0.0 ? std::fmin(1.0, valid / all * (1.0 - 0x1p-40)) : 0.0;
  }
  return result;
}

GJK_KERNEL Issue detail::check_arcs(std::span<const Arc> arcs) {
  for (std::size_t i = 0; i < arcs.size(); ++i) {
    const Arc& arc = arcs[i];
    if (std::isfinite(arc.curvature) && std::isfinite(arc.length)) continue;
    return {Status::non_finite, "arcs", static_cast<long>(i),
            "curvature and length must be finite (got (" + text_of(arc.curvature) + ", " +
                text_of(arc.length) + "))"};
  }
  return {};
}

GJK_KERNEL Issue detail::check_range(const ArcPath& curve, long index) {
  if (curve.is_in_domain()) return {};
  return {Status::coord_range, "arcs", index,
          "the yaw of the start and all turns must sum up to at most 1e6 rad, and a path must be "
          "at most 1e15 m long (got " +
              text_of(curve.turns()) + " and " + text_of(curve.length()) + ")"};
}

GJK_KERNEL Issue detail::check_fit(std::span<const Pose> poses, std::span<const double> times,
                                   std::size_t paths) {
  const std::size_t length = paths > 0 ? poses.size() / paths : 0;
  if (length > 0 && poses.size() == length * paths &&
      (times.empty() || times.size() == length || times.size() == poses.size())) {
    return {};
  }
  return refusal("poses, times", Status::array_mismatch, "must have the lengths of whole paths");
}

GJK_KERNEL Issue detail::check_fit(std::span<const Pose> starts,
                                   std::span<const std::uint64_t> first, std::span<const Arc> arcs,
                                   std::span<const double> times, std::size_t paths) {
  if (starts.size() == paths && first.size() == paths + 1 && first.front() == 0 &&
      first.back() == arcs.size() && std::is_sorted(first.begin(), first.end()) &&
      (times.empty() || times.size() == arcs.size() + paths)) {
    return {};
  }
  return refusal("arcs, times", Status::array_mismatch, "must have the lengths of whole curves");
}

GJK_KERNEL void check_paths(const Scene& scene, const Shape& ego, std::span<const Pose> starts,
                            std::span<const std::uint64_t> first, std::span<const Arc> arcs,
                            std::span<const double> times, const PathOptions& options,
                            std::span<PathResult> results, unsigned threads) {
  if (detail::check_fit(starts, first, arcs, times, results.size())) {
    std::ranges::fill(results, detail::refused_path());
    return;
  }
  for_each_chunk(results.size(), 16, threads, [&] {
    return [&](std::size_t begin, std::size_t end) {
      for (std::size_t k = begin; k < end; ++k) {
        const std::size_t count = first[k + 1] - first[k];
        const ArcPath curve{starts[k], arcs.subspan(first[k], count)};
        results[k] =
            check_path(scene, ego, curve,
                       times.empty() ? times : times.subspan(first[k] + k, count + 1), options);
      }
    };
  });
}

GJK_KERNEL void check_paths(const Scene& scene, const Shape& ego, std::span<const Pose> poses,
                            std::span<const double> times, const PathOptions& options,
                            std::span<PathResult> results, unsigned threads) {
  if (detail::check_fit(poses, times, results.size())) {
    std::ranges::fill(results, detail::refused_path());
    return;
  }
  const std::size_t length = poses.size() / results.size();
  const bool shared = times.size() == length;
  for_each_chunk(results.size(), 1, threads, [&] {
    return [&](std::size_t begin, std::size_t end) {
      for (std::size_t k = begin; k < end; ++k) {
        results[k] = check_path(scene, ego, poses.subspan(k * length, length),
                                shared || times.empty() ? times : times.subspan(k * length, length),
                                options);
      }
    };
  });
}

}  // namespace gjk
#endif
