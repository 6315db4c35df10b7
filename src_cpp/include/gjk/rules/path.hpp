// SPDX-FileCopyrightText: gjk_collision contributors
// SPDX-License-Identifier: Apache-2.0
// The answer for a path: whether the vehicle is free on it.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "gjk/arithmetic.hpp"
#include "gjk/certificate.hpp"
#include "gjk/motion/arc.hpp"
#include "gjk/rules/answers.hpp"
#include "gjk/rules/arguments.hpp"
#include "gjk/rules/fields.hpp"
#include "gjk/rules/predicted.hpp"
#include "gjk/rules/snapshot.hpp"
#include "gjk/rules/vehicle.hpp"
#include "gjk/scene/path.hpp"
#include "gjk/scene/scene.hpp"
#include "gjk/shape/expansion.hpp"
#include "gjk/shape/pose.hpp"
#include "gjk/shape/shape.hpp"
#include "gjk/text.hpp"
#include "gjk/verdict.hpp"

namespace gjk {

// Segments in the first chunk: one segment among many obstacles takes up to a millisecond.
inline constexpr std::size_t kFirstSegments = 4;

// ---- srv/CheckPath
struct PathRequest {
  std::span<const double> poses{};   // as for PosesRequest, at least one
  std::span<const double> times{};   // the same; strictly increasing
  std::span<const double> errors{};  // the same
  std::int64_t stamp = 0;            // the same
  double margin = 0.0;               // the same
  bool swept = true;                 // also check between the poses
  double tolerance = 0.0;            // m; 0: toi_tolerance of the snapshot
  // Curvature (1/m) and length (m) per arc, from the only pose; `times` has one entry for the start
  // and one for the end of each arc. Empty: the path is straight from pose to pose.
  std::span<const double> arcs{};
};

struct PathAnswer {
  Issue issue;
  Answer answer;
  std::int64_t first_invalid_segment = 0;  // -1: all are FREE
  // Of that segment, certified free. Of a path of arcs: of the length of the whole path.
  double last_valid_fraction = 0.0;
  // s after the stamp of the request; NaN: no collision or no times
  double first_collision_time = kNaN;
  std::int64_t obstacle = -1;  // index of the first obstacle that makes the path not FREE
  Bounds distance{kNaN,        // m, over the path; NaN: not known
                  kNaN};       // upper: min_distance
};

template <class Known, class F>
void fields(const PathAnswer& a, const Known& known, F&& f) {
  GJK_FIELD(f, is_free, detail::is_free_and_known(a.answer));
  GJK_FIELD(f, first_invalid_segment, a.first_invalid_segment);
  GJK_FIELD(f, last_valid_fraction, a.last_valid_fraction);
  GJK_FIELD(f, first_collision_time, a.first_collision_time);
  GJK_FIELD(f, obstacle_id, known.id_of(a.obstacle));
  GJK_FIELD(f, min_distance, a.distance.upper);
  GJK_FIELD(f, min_distance_lower_bound, a.distance.lower);
}

// Whether the free part of a path, as in the fields of a reply, fits to `is_free`.
template <class Reply>
bool has_consistent_end(const Reply& reply) noexcept {
  const double fraction = reply.last_valid_fraction;
  if (reply.is_free) return reply.first_invalid_segment == -1 && fraction == 1.0;
  return reply.first_invalid_segment >= 0 && fraction >= 0.0 && fraction <= 1.0;
}

namespace detail {

// The result for a part of a path, and the index of its first segment.
struct PathPart {
  std::size_t begin = 0;
  PathResult result;
};

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
  if (part.result.verdict != Verdict::unknown) return kInfinity;
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
  path.answer.message =
      fault ? fault->message : reason_of(snapshot, worst->result.status, worst->result.unseen);
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

// The results at some poses of a path.
inline std::vector<PoseResult> results_at(const Snapshot& snapshot, const Vehicle& vehicle,
                                          std::span<const Pose> poses,
                                          std::span<const double> times, double margin) {
  std::vector<PoseResult> results(poses.size());
  snapshot.scene->check(vehicle.shape(), poses, times, {.margin = margin, .mode = Mode::distance},
                        results);
  return results;
}

// Number of times until the prediction horizon.
inline std::size_t count_until(std::span<const double> times, double limit) {
  return static_cast<std::size_t>(
      std::count_if(times.begin(), times.end(), [limit](double t) noexcept { return t <= limit; }));
}

// A path from pose to pose.
struct PosesOfPath {
  const Snapshot& snapshot;
  const PathRequest& request;
  const Vehicle& vehicle;
  std::span<const double> at;  // times on the scene's clock (s)
  const PathOptions& options;
  std::span<const Pose> poses = pose_rows(request.poses);
  double limit = known_until(snapshot, request.stamp);  // the horizon (s)
  std::size_t known = at.empty() ? poses.size() : count_until(request.times, limit);
  double offset = static_cast<double>(time_zero(snapshot, request.stamp)) * 1e-9;

  std::span<const double> times_in(std::size_t begin, std::size_t end) const {
    return at.empty() ? at : at.subspan(begin, end - begin);
  }

  template <class GoOn>
  PathResult sweep(std::size_t begin, std::size_t end, GoOn&& go_on) const {
    return gjk::check_path(*snapshot.scene, vehicle.shape(), poses.subspan(begin, end - begin),
                           times_in(begin, end), options, go_on);
  }

  // The part at these poses only.
  PathPart at_poses(std::size_t begin, std::size_t end) const {
    const std::span<const double> times = times_in(begin, end);
    return {begin, path_of(results_at(snapshot, vehicle, poses.subspan(begin, end - begin), times,
                                      options.margin),
                           times)};
  }

  // The segment that contains the horizon.
  PathPart beyond_horizon() const {
    const std::size_t last = known > 0 ? known - 1 : 0;
    if (!request.swept || known == 0) {
      return {last, unknown_path(Status::prediction_too_short)};
    }
    const double share =
        (limit - request.times[last]) / (request.times[known] - request.times[last]);
    return {last, cut(sweep(last, known + 1, Always{}), share, limit + offset)};
  }

  PathAnswer check(const Budget& budget) const {
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
      done = for_each_chunk_until(budget, segments, kFirstSegments,
                                  [&](std::size_t begin, std::size_t end) {
                                    parts.push_back(at_poses(begin, std::min(end + 1, known)));
                                    return parts.back().result.verdict != Verdict::collision;
                                  });
    }
    const bool hit = !parts.empty() && parts.back().result.verdict == Verdict::collision;
    if (!hit && known < poses.size() && done == segments) parts.push_back(beyond_horizon());
    return join(snapshot, parts, done, segments, request.times, offset);
  }
};

// The arrays of a path of arcs.
inline Issue check_arcs_request(const PathRequest& request, std::size_t limit) {
  const std::size_t poses = request.poses.size() / 3;
  const std::size_t arcs = request.arcs.size() / 2;
  const std::size_t times = request.times.size();
  if (!request.swept) {
    return refusal("interpolation", "must be 1 (swept) if arcs is not empty");
  }
  if (Issue issue = check_batch(request.poses, {}, limit)) return issue;
  if (poses != 1) {
    return {Status::array_mismatch, "poses", -1,
            "must have one pose, the start, if arcs is not empty" + got(poses)};
  }
  if (request.arcs.size() % 2 != 0) {
    return refusal("arcs", Status::array_mismatch,
                   "must have 2 values per arc, curvature and length (got " +
                       std::to_string(request.arcs.size()) + " values)");
  }
  if (arcs >= limit) {
    return refusal(
        "arcs", Status::limit_exceeded,
        std::to_string(arcs) + " arcs, limit " + std::to_string(limit - 1) + " (max_poses)");
  }
  if (times != 0 && times != arcs + 1) {
    return refusal("times", Status::array_mismatch,
                   "must be empty or have " + std::to_string(arcs + 1) +
                       " values, the start and the end of each arc" + got(times));
  }
  return first_of({check_finite("arcs", request.arcs), check_finite("times", request.times)});
}

// Nothing is known after the end of arc `segment`, which is this fraction of the whole path.
inline PathAnswer unknown_after(Answer answer, std::size_t segment, double fraction) {
  PathAnswer path;
  path.answer = std::move(answer);
  path.first_invalid_segment = static_cast<std::int64_t>(segment);
  path.last_valid_fraction = fraction;
  return path;
}

// A path of arcs. It is checked up to the last end of an arc that is before the horizon. If it goes
// on after that, it is UNKNOWN, unless there is a collision before.
inline PathAnswer check_arcs(const Snapshot& snapshot, const PathRequest& request,
                             const Vehicle& vehicle, std::span<const double> at,
                             const PathOptions& options, const Budget& budget) {
  std::vector<Arc> arcs(request.arcs.size() / 2);
  for (std::size_t i = 0; i < arcs.size(); ++i) {
    arcs[i] = {request.arcs[2 * i], request.arcs[2 * i + 1]};
  }
  const ArcPath whole{{request.poses[0], request.poses[1], request.poses[2]}, arcs};
  if (Issue issue = check_range(whole, 0)) return refused<PathAnswer>(std::move(issue));
  const bool timed = !at.empty();
  const std::size_t times = count_until(request.times, known_until(snapshot, request.stamp));
  const std::size_t known = timed ? std::max<std::size_t>(times, 1) - 1 : arcs.size();
  const auto share_of = [&](std::size_t count) {  // of the length of the first `count` arcs
    const double size = whole.length();
    const ArcPath begin{whole.start, std::span(arcs).first(count)};
    return size > 0.0 ? begin.length() / size * (1.0 - 0x1p-40) : 0.0;
  };
  const Answer too_short =
      snapshot.fault
          ? unknown(*snapshot.fault)
          : unknown({Status::prediction_too_short, reason(Status::prediction_too_short)});
  if (timed && times == 0) return unknown_after(too_short, 0, 0.0);  // it starts after the horizon
  std::size_t done = 0;
  PathResult found;
  if (known > 0) {
    Chunks chunks(budget, kFirstSegments);
    found = gjk::check_path(*snapshot.scene, vehicle.shape(),
                            {whole.start, std::span(arcs).first(known)},
                            at.first(timed ? known + 1 : 0), options, [&](std::size_t n) {
                              done = n;
                              return chunks.go_on(n);
                            });
  } else {  // the first arc ends after the horizon: only the start is checked
    const std::span<const double> start = at.first(1);
    found = path_of(results_at(snapshot, vehicle, {&whole.start, 1}, start, options.margin), start);
  }
  const bool hit = found.verdict == Verdict::collision;
  const bool is_late = !hit && done < known;
  if (snapshot.fault && !hit) return {{}, unknown(*snapshot.fault)};
  const bool goes_on = known < arcs.size();
  if (is_free(found.verdict) && is_late) {
    return unknown_after(unknown(budget_spent(done, known)), done, share_of(done));
  }
  if (is_free(found.verdict) && goes_on) return unknown_after(too_short, known, share_of(known));
  PathAnswer path;
  path.answer = {found.verdict, found.status, reason_of(snapshot, found.status, found.unseen),
                 found.obstacle};
  if (snapshot.fault) {
    path.answer.status = snapshot.fault->status;
    path.answer.message = snapshot.fault->message;
  } else if (is_late || (goes_on && found.verdict == Verdict::margin)) {
    path.answer = is_late ? unknown(budget_spent(done, known)) : too_short;
    path.answer.obstacle = found.obstacle;
  }
  const double zero = static_cast<double>(time_zero(snapshot, request.stamp)) * 1e-9;
  // Rounded down, so that no contact is earlier.
  path.first_collision_time = -rounded_up(two_sum(-found.first_collision_time, zero));
  if (snapshot.fault) return path;
  path.first_invalid_segment = found.first_invalid_segment;
  path.last_valid_fraction = found.last_valid_fraction * (goes_on ? share_of(known) : 1.0);
  path.obstacle = found.obstacle;
  if (path.answer.verdict != Verdict::unknown) path.distance = found.distance;
  return path;
}

}  // namespace detail

// Whether the vehicle is free on a path.
inline PathAnswer check_path(const Snapshot& snapshot, const PathRequest& request,
                             const Budget& budget = {}) {
  using namespace detail;
  const bool is_of_poses = request.arcs.empty();
  PathOptions options;
  if (Issue issue =
          first_of({is_of_poses ? check_batch(request.poses, request.times, snapshot.max_poses)
                                : check_arcs_request(request, snapshot.max_poses),
                    check_errors(request.errors, is_of_poses ? request.poses.size() / 3 : 1),
                    check_margin(snapshot, request.margin, options.margin),
                    check_tolerance(snapshot, request.tolerance, options.tolerance)})) {
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
  if (Issue issue = vehicle.check(pose_rows(request.poses), at, options.margin)) {
    return refused<PathAnswer>(std::move(issue));
  }
  PathAnswer path = is_of_poses ? PosesOfPath{snapshot, request, vehicle, at, options}.check(budget)
                                : check_arcs(snapshot, request, vehicle, at, options, budget);
  if (path.answer.status == Status::prediction_too_short && !snapshot.fault) {
    path.answer.message = not_predicted(snapshot, request.stamp, request.times, request.swept);
  }
  return path;
}

}  // namespace gjk
