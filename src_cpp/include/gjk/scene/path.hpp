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

#include "gjk/certificate.hpp"
#include "gjk/motion/cast.hpp"
#include "gjk/motion/motion.hpp"
#include "gjk/scene/obstacles.hpp"
#include "gjk/scene/parallel.hpp"
#include "gjk/scene/scene.hpp"
#include "gjk/shape/box.hpp"
#include "gjk/shape/pose.hpp"
#include "gjk/shape/shape.hpp"
#include "gjk/verdict.hpp"

namespace gjk {

struct PathOptions {
  double margin = 0.0;       // m
  double tolerance = 0.005;  // m, > 0
};

struct PathResult {
  Verdict verdict = Verdict::unknown;  // the worst on the path: COLLISION > UNKNOWN > MARGIN > FREE
  Status status = Status::undefined;
  std::int64_t first_invalid_segment = -1;
  double last_valid_fraction = 1.0;  // that segment is certainly free up to this fraction
  // s. First time at which contact cannot be excluded, if the path collides. NaN if it does not
  // collide or has no times.
  double first_collision_time = std::numeric_limits<double>::quiet_NaN();
  std::int64_t obstacle = -1;  // index of the obstacle that decides first_invalid_segment
  // m. Bounds on the smallest distance on the path; if the path collides, only up to the end of the
  // segment with the collision. A value of 0 or less means a collision, but is not the penetration
  // depth.
  Bounds distance{std::numeric_limits<double>::infinity(), std::numeric_limits<double>::infinity()};
};

namespace detail {

// The first time on a path at which it is not certainly free.
struct Event {
  double time = std::numeric_limits<double>::infinity();  // none
  std::int64_t obstacle = -1;

  bool is_any() const noexcept { return time < std::numeric_limits<double>::infinity(); }
};

class PathCheck {
 public:
  PathCheck(const Scene& scene, const Shape& ego, const PathOptions& options) noexcept
      : obstacles_(scene.obstacles()), ego_(ego), options_(options), decision_(options.margin) {
    for (int k = 0; k < ego.parts(); ++k) {
      const Convex part = ego.part(k);
      reach_ = std::fmax(reach_, reach(part) + part.radius + part.error);
    }
  }

  // Checks the motion of the ego along one segment.
  void follow(const Piece& segment, bool timed) {
    first_ = {};
    if (!timed) {
      follow(segment, segment.begin, segment.end, Obstacles::at_rest());
      return;
    }
    note_unknown(segment.begin, segment.end);
    follow(segment, segment.begin, segment.end, obstacles_.swept(segment.begin, segment.end));
  }

  const Event& first() const noexcept { return first_; }
  const Decision& decision() const noexcept { return decision_; }
  // s. Before this time there is certainly no contact.
  double contact_time() const noexcept { return contact_time_; }
  Bounds distance() const noexcept { return {decision_.lower(), upper_}; }

 private:
  void note(double time, bool is_margin, std::int64_t obstacle) noexcept {
    if (time < first_.time) first_ = {time, obstacle};
    if (!is_margin) contact_time_ = std::fmin(contact_time_, time);
  }

  void note_unknown(double begin, double end) noexcept {
    const std::int64_t at_begin = obstacles_.unknown_in(obstacles_.at(begin));
    const std::int64_t at_end = obstacles_.unknown_in(obstacles_.at(end));
    if (at_begin < 0 && at_end < 0) return;
    decision_.fail(Status::prediction_too_short);
    if (at_begin >= 0) {
      note(begin, false, at_begin);
    } else {
      note(obstacles_.known_until(), false, at_end);
    }
  }

  void follow(const Piece& segment, double begin, double end, const Obstacles::View& view) {
    Box box;
    for (const double time : {begin, end}) {
      const Placement at = segment.at(time, reach_);
      const Vec2 center = Vec2{at.pose.x, at.pose.y} - obstacles_.origin();
      const double by =
          reach_ + 4.0 * at.error + 16.0 * kUnitRoundoff * norm1({at.pose.x, at.pose.y});
      box.include(Box{center, center}.grown(by));
    }
    const double near = obstacles_.range(view.timed ? obstacles_.at(end) : view,
                                         options_.margin + options_.tolerance);
    const auto limit = [&]() noexcept { return std::fmax(near, upper_); };
    const Exhausted search = obstacles_.nearest(box, limit(), view, [&](std::uint32_t k) {
      for (int i = 0; i < ego_.parts(); ++i) meet(segment, begin, end, i, k, view.timed);
      return limit();
    });
    decision_.take(Certificate::exhausted(search, limit()));
  }

  // Part i of the ego against part k of the obstacles.
  void meet(const Piece& segment, double begin, double end, int i, std::size_t k, bool timed) {
    const std::int64_t owner = obstacles_.owner(k);
    const auto index = static_cast<std::size_t>(owner);
    Piece still = Piece::still(obstacles_.pose(index));
    if (timed) still.begin = still.end = 0.0;  // without a motion, known at its stamp only
    Motion motion = timed ? obstacles_.motion(index) : Motion{};
    if (motion.empty()) motion = {&still, 1};
    // Both motions use the clock of the obstacle, which starts at its stamp.
    const double stamp = timed ? obstacles_.stamp(index) : 0.0;
    const Piece way = timed ? segment.on_clock(stamp, obstacles_.time_error()) : segment;
    // The earliest query time that a time on that clock may correspond to.
    const double early = timed ? obstacles_.time_error() : 0.0;
    const auto to_query = [stamp, early](double time) noexcept {
      return rounded_down(two_sum(rounded_down(two_sum(stamp, time)), -early));
    };
    if (timed) {  // only while its motion is known; note_unknown() reports the rest
      begin = std::fmax(way.begin, motion.front().begin);
      end = std::fmin(way.end, motion.back().end);
      if (!(begin <= end)) return;
    }
    const Moving ego = Moving::along(ego_.part(i), {&way, 1});
    const Moving other{obstacles_.outlines().part(k), motion, obstacles_.outlines().reach(k)};
    const auto required = [&](double time) noexcept {
      const Margins& margins = obstacles_.margins();
      const double own =
          timed ? margins.at(index, {time, 2.0 * way.time_error}) : margins.fixed(index);
      return sum_outwards(options_.margin, own);
    };
    const double most = required(end);
    const double far = std::fmax(most + options_.tolerance, upper_);
    const Approach approach = closest_approach(ego, other, begin, end, options_.tolerance, far);
    upper_ = std::fmin(upper_, approach.distance.upper);
    Certificate certificate;
    if (approach.status == Status::success) certificate = approach.certificate;
    if (certificate.proves(most)) {
      decision_.take(certificate, most);
      return;
    }
    const Impact impact = first_within(ego, other, begin, end, required, certificate);
    const double first = to_query(std::isnan(impact.last_valid) ? begin : impact.last_valid);
    Impact worst = impact;
    if (impact.verdict == Verdict::margin) {
      note(first, true, owner);
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
    note(to_query(std::isnan(worst.last_valid) ? from : worst.last_valid), false, owner);
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
  const Shape& ego_;
  PathOptions options_;
  double reach_ = 0.0;  // m, of the ego about its origin, radius included
  Event first_;         // on the current segment
  Decision decision_;
  double contact_time_ = std::numeric_limits<double>::infinity();
  double upper_ = std::numeric_limits<double>::infinity();  // m, upper bound on the distance
};

}  // namespace detail

// Checks the motion of the ego from pose to pose, in straight lines and turning the shorter way.
// Certified to the tolerance: FREE is never wrong, and a hit may be reported if the distance is at
// most margin plus tolerance. `times` (s, strictly increasing) has one entry per pose, or is empty
// if the obstacles stand still.
inline PathResult check_path(const Scene& scene, const Shape& ego, std::span<const Pose> poses,
                             std::span<const double> times, const PathOptions& options) {
  PathResult result;
  const bool timed = !times.empty();
  bool sound = !poses.empty() && ego.parts() > 0 && scene.obstacles().shapeless() < 0 &&
               options.margin >= 0.0 && options.margin <= kMaxCoordinate &&
               options.tolerance > 0.0 && (!timed || times.size() == poses.size());
  for (std::size_t i = 1; timed && i < times.size(); ++i) sound &= times[i] > times[i - 1];
  for (const double time : times) sound &= std::isfinite(time);
  for (const Pose& pose : poses) sound &= is_in_domain(pose);
  for (int k = 0; k < ego.parts(); ++k) sound &= in_domain(ego.part(k), ego.part(k));
  if (!sound) {
    result.status = Status::invalid_input;
    result.first_invalid_segment = 0;
    result.last_valid_fraction = 0.0;
    result.distance.lower = -std::numeric_limits<double>::infinity();
    return result;
  }
  detail::PathCheck check(scene, ego, options);
  const std::size_t segments = std::max<std::size_t>(1, poses.size() - 1);
  for (std::size_t i = 0; i < segments; ++i) {
    const std::size_t next = std::min(i + 1, poses.size() - 1);  // a single pose is a segment too
    const double begin = timed ? times[i] : static_cast<double>(i);
    const double end = timed ? times[next] : static_cast<double>(next);
    check.follow(Piece::between(begin, poses[i], end, poses[next]), timed);
    if (check.first().is_any() && result.first_invalid_segment < 0) {
      result.first_invalid_segment = static_cast<std::int64_t>(i);
      const double share = end > begin ? (check.first().time - begin) / (end - begin) : 0.0;
      result.last_valid_fraction = std::fmin(1.0, std::fmax(0.0, share * (1.0 - 0x1p-50)));
      result.obstacle = check.first().obstacle;
    }
    if (check.decision().verdict() == Verdict::collision) break;
  }
  result.verdict = check.decision().verdict();
  result.status = check.decision().status();
  result.distance = check.distance();
  if (timed && result.verdict == Verdict::collision) {
    result.first_collision_time = std::fmax(check.contact_time(), times.front());
  }
  return result;
}

// check_path() for each of results.size() trajectories, which have the same number of poses, one
// after the other in `poses`. `times` (s) has one entry per pose, or one per pose of a trajectory
// if all have the same times, or is empty if the obstacles stand still. INVALID_INPUT if the
// lengths do not match.
inline void check_paths(const Scene& scene, const Shape& ego, std::span<const Pose> poses,
                        std::span<const double> times, const PathOptions& options,
                        std::span<PathResult> results, unsigned threads = 1) {
  if (results.empty()) return;
  const std::size_t length = poses.size() / results.size();
  const bool shared = times.size() == length;
  if (poses.size() != length * results.size() ||
      !(times.empty() || shared || times.size() == poses.size())) {
    std::fill(results.begin(), results.end(), check_path(scene, ego, {}, {}, options));
    return;
  }
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
