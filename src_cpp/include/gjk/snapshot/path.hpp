// SPDX-FileCopyrightText: gjk_collision contributors
// SPDX-License-Identifier: Apache-2.0
// The answer for a path: whether the vehicle is free on it.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "gjk/certificate.hpp"
#include "gjk/shape/expansion.hpp"
#include "gjk/snapshot/answers.hpp"
#include "gjk/snapshot/arguments.hpp"
#include "gjk/snapshot/kernel.hpp"
#include "gjk/snapshot/snapshot.hpp"
#include "gjk/snapshot/text.hpp"
#include "gjk/snapshot/vehicle.hpp"

namespace gjk {

// Segments in the first chunk: one segment among many obstacles takes up to a millisecond.
inline constexpr std::size_t kFirstSegments = 4;

namespace detail {

// The result for a part of a path, and the index of its first segment.
struct PathPart {
  std::size_t begin = 0;
  PathResult result;
};

// A path of which nothing is known.
inline PathResult unknown_path(Status status) noexcept {
  constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
  PathResult none;
  none.status = status;
  none.first_invalid_segment = 0;
  none.last_valid_fraction = 0.0;
  none.distance = {kNaN, kNaN};
  return none;
}

// The smaller one; NaN if one of them is.
inline double least_of(double a, double b) noexcept {
  if (std::isnan(a) || std::isnan(b)) return std::numeric_limits<double>::quiet_NaN();
  return std::fmin(a, b);
}

// The result for a path that is checked at its poses only. It is free up to the pose before the
// first one that is not.
inline PathResult of_poses(std::span<const PoseResult> poses, std::span<const double> times) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
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
    }
    if (path.first_invalid_segment < 0 && !is_free(r.verdict)) {
      path.first_invalid_segment = i > 0 ? static_cast<std::int64_t>(i) - 1 : 0;
      path.last_valid_fraction = 0.0;
      path.obstacle = r.nearest;
    }
    const bool is_hit = r.verdict == Verdict::collision;
    if (unsure == poses.size() && (is_hit || r.verdict == Verdict::unknown)) unsure = i;
    if (!hit) {
      path.distance = {least_of(path.distance.lower, r.lower_bound),
                       least_of(path.distance.upper, r.distance)};
    }
    hit |= is_hit;
  }
  if (hit && !times.empty()) path.first_collision_time = times[unsure];
  return path;
}

// The result for a segment that begins before and ends after the prediction horizon. `found`: the
// result for the whole segment, as if there were no horizon. `share`: the fraction of the segment
// before the horizon. `limit`: the time of the horizon on the scene's clock (s).
inline PathResult cut(const PathResult& found, double share, double limit) noexcept {
  if (found.verdict == Verdict::collision && found.first_collision_time <= limit) return found;
  PathResult beyond = unknown_path(Status::prediction_too_short);
  beyond.last_valid_fraction = std::fmin(found.last_valid_fraction, share);
  if (found.last_valid_fraction <= share) beyond.obstacle = found.obstacle;
  return beyond;
}

// The time (s) until which an UNKNOWN part is free; infinity for other verdicts.
inline double end_of_free(const PathPart& part, std::span<const double> times) noexcept {
  if (part.result.verdict != Verdict::unknown) return std::numeric_limits<double>::infinity();
  const std::size_t first =
      part.begin + static_cast<std::size_t>(part.result.first_invalid_segment);
  const std::size_t next = std::min(first + 1, times.size() - 1);
  return times[first] + part.result.last_valid_fraction * (times[next] - times[first]);
}

// Joins the results for the parts of a path, at least one. If the snapshot has a fault, no part of
// the path is known to be free, and the minimum distance is not known.
//
// done, segments: number of segments that were checked, and of all segments before the horizon.
// times: of the request (s); empty: no times. offset: their time zero on the scene's clock (s).
inline PathAnswer join(const Snapshot& snapshot, std::span<const PathPart> parts, std::size_t done,
                       std::size_t segments, std::span<const double> times, double offset) {
  const PathPart* worst = &parts.front();
  const PathPart* first = nullptr;  // that is not free
  for (const PathPart& part : parts) {
    if (severity(part.result.verdict) > severity(worst->result.verdict)) worst = &part;
    if (first == nullptr && !is_free(part.result.verdict)) first = &part;
  }
  const bool hit = worst->result.verdict == Verdict::collision;
  PathAnswer path;
  std::optional<Fault> fault = snapshot.fault;
  if (fault && !hit) {
    path.answer = unknown(*fault);
    return path;
  }
  if (done < segments && !hit) fault = budget_spent(done, segments);
  path.answer.verdict = hit || !fault ? worst->result.verdict : Verdict::unknown;
  path.answer.status = fault ? fault->status : worst->result.status;
  path.answer.message = fault ? fault->message : reason(worst->result.status);
  path.answer.obstacle = first != nullptr ? first->result.obstacle : -1;
  // Rounded down, so that no contact is earlier.
  double time = -rounded_up(two_sum(-worst->result.first_collision_time, offset));
  for (const PathPart& part : parts) {
    if (!hit || times.empty()) break;
    const double end = end_of_free(part, times);
    if (end < time) time = end;
  }
  path.first_collision_time = time;
  if (snapshot.fault) return path;
  if (first == nullptr && !fault) {
    path.first_invalid_segment = -1;
    path.last_valid_fraction = 1.0;
  } else if (first == nullptr) {  // the first segment that was not checked is not free
    path.first_invalid_segment = static_cast<std::int64_t>(done);
  } else {
    path.first_invalid_segment =
        static_cast<std::int64_t>(first->begin) + first->result.first_invalid_segment;
    path.last_valid_fraction = first->result.last_valid_fraction;
    path.obstacle = first->result.obstacle;
  }
  if (path.answer.verdict == Verdict::unknown || fault) return path;
  path.distance = parts.front().result.distance;
  for (const PathPart& part : parts) {
    const Bounds& own = part.result.distance;
    path.distance = {least_of(path.distance.lower, own.lower),
                     least_of(path.distance.upper, own.upper)};
  }
  return path;
}

// `request` has passed check_batch().
template <class K>
PathAnswer check_path(const K& kernel, const Snapshot& snapshot, const PathRequest& request,
                      const Budget& budget) {
  const std::size_t count = request.poses.size() / 3;
  double total = 0.0;
  if (Issue issue = check_errors(request.errors, count)) {
    return refused<PathAnswer>(std::move(issue));
  }
  double tolerance = 0.0;
  if (Issue issue = check_margin(snapshot, request.margin, total)) {
    return refused<PathAnswer>(std::move(issue));
  }
  if (Issue issue = check_tolerance(snapshot, request.tolerance, tolerance)) {
    return refused<PathAnswer>(std::move(issue));
  }
  const std::vector<double> at = on_clock(snapshot, request.times, request.stamp);
  if (Issue issue = check_increasing_times(at, request.times)) {
    return refused<PathAnswer>(std::move(issue));
  }
  if (!is_known(snapshot)) return {{}, unknown_footprint(snapshot)};
  double error = 0.0;
  for (const double each : request.errors) error = std::fmax(error, each);
  const Vehicle vehicle(*snapshot.footprint, error);
  const std::vector<Pose> poses = poses_of(request.poses);
  for (Issue issue : {vehicle.check(), check_poses_in_domain(poses), check_times_in_domain(at),
                      check_total(total)}) {
    if (issue) return refused<PathAnswer>(std::move(issue));
  }
  const bool timed = !at.empty();
  std::size_t violations = 0;
  const auto poses_in = [&](std::size_t begin, std::size_t end) {
    return std::span(poses).subspan(begin, end - begin);
  };
  const auto times_in = [&](std::size_t begin, std::size_t end) {
    return timed ? std::span(at).subspan(begin, end - begin) : std::span<const double>{};
  };
  const auto sweep = [&](std::size_t begin, std::size_t end, auto&& go_on) {
    const PathOptions options{.margin = total, .tolerance = tolerance};
    return checked_path(kernel, vehicle.shape(), poses_in(begin, end), times_in(begin, end),
                        options, violations, go_on);
  };
  const std::int64_t since = (request.stamp != 0 ? request.stamp : snapshot.stamp) - snapshot.epoch;
  const double offset = static_cast<double>(since) * 1e-9;
  const double limit = known_until(snapshot, request.stamp);
  std::size_t known = count;  // poses before the horizon
  if (timed) {
    known = static_cast<std::size_t>(std::count_if(request.times.begin(), request.times.end(),
                                                   [&](double t) { return t <= limit; }));
  }
  const std::size_t segments = known > 1 ? known - 1 : known;  // a single pose counts as one
  std::vector<PathPart> parts;
  std::size_t done = 0;
  if (request.swept && segments > 0) {
    Chunks chunks(budget, kFirstSegments);
    const PathResult result = sweep(0, known, [&](std::size_t n) {
      done = n;
      return chunks.go_on(n);
    });
    parts.push_back({0, result});
  } else {
    const CheckOptions options{.margin = total, .mode = Mode::distance};
    done = for_each_chunk_until(
        budget, segments, kFirstSegments, [&](std::size_t begin, std::size_t end) {
          end = std::min(end + 1, known);
          const std::span<const double> times = times_in(begin, end);
          parts.push_back({begin, of_poses(checked(kernel, vehicle.shape(), poses_in(begin, end),
                                                   times, options, violations),
                                           times)});
          return parts.back().result.verdict != Verdict::collision;
        });
  }
  const bool hit = !parts.empty() && parts.back().result.verdict == Verdict::collision;
  if (!hit && known < count && done == segments) {
    const std::size_t last = known > 0 ? known - 1 : 0;  // the segment that contains the limit
    PathResult beyond = unknown_path(Status::prediction_too_short);
    if (request.swept && known > 0) {
      const double share =
          (limit - request.times[last]) / (request.times[known] - request.times[last]);
      beyond = cut(sweep(last, known + 1, Always{}), share, limit + offset);
    }
    parts.push_back({last, beyond});
  }
  PathAnswer path = join(snapshot, parts, done, segments, request.times, offset);
  path.answer.violations = violations;
  return path;
}

}  // namespace detail

// Whether the vehicle is free on the path through some poses.
inline PathAnswer check_path(const Snapshot& snapshot, const PathRequest& request,
                             const Budget& budget = {}) {
  if (Issue issue = check_batch(request.poses, request.times, snapshot.max_poses)) {
    return detail::refused<PathAnswer>(std::move(issue));
  }
  return detail::check_path(detail::Kernel(snapshot.scene), snapshot, request, budget);
}

}  // namespace gjk
