// SPDX-FileCopyrightText: gjk_collision contributors
// SPDX-License-Identifier: Apache-2.0
// The answer for many poses: a verdict for each.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "gjk/certificate.hpp"
#include "gjk/snapshot/answers.hpp"
#include "gjk/snapshot/arguments.hpp"
#include "gjk/snapshot/kernel.hpp"
#include "gjk/snapshot/snapshot.hpp"
#include "gjk/snapshot/text.hpp"
#include "gjk/snapshot/vehicle.hpp"

namespace gjk {

inline constexpr std::size_t kFirstPoses = 128;  // in a chunk: a fraction of a millisecond

namespace detail {

// The results at the poses of a request, in their order, and the answer made of them.
class PosesJoin {
 public:
  PosesJoin(const Snapshot& snapshot, std::size_t count, Mode mode) : snapshot_(snapshot) {
    constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
    answer_.verdicts.assign(count, Verdict::unknown);
    answer_.statuses.assign(count, Status::time_budget);
    answer_.obstacles.assign(count, -1);
    if (mode != Mode::collide) {
      answer_.distances.assign(count, kNaN);
      answer_.lower_bounds.assign(count, kNaN);
    }
    if (mode == Mode::witness) answer_.witnesses.assign(count, {kNaN, kNaN, kNaN, kNaN});
  }

  // An unknown result keeps only its status.
  void put(std::size_t i, const PoseResult& r) {
    answer_.verdicts[i] = r.verdict;
    answer_.statuses[i] = r.status;
    answer_.obstacles[i] = r.nearest;
    if (r.verdict == Verdict::unknown) return clear(i);
    if (!answer_.distances.empty()) {
      answer_.distances[i] = r.distance;
      answer_.lower_bounds[i] = r.lower_bound;
    }
    if (!answer_.witnesses.empty()) {
      answer_.witnesses[i] = {r.witness_ego.x, r.witness_ego.y, r.witness_obstacle.x,
                              r.witness_obstacle.y};
    }
  }

  bool is_free_in(std::size_t begin, std::size_t end) const noexcept {
    const auto at = [&](std::size_t i) {
      return answer_.verdicts.begin() + static_cast<std::ptrdiff_t>(i);
    };
    return std::all_of(at(begin), at(end), [](Verdict v) noexcept { return is_free(v); });
  }

  // Applies detail::refute() to the poses [begin, end). Returns the number of errors.
  std::size_t refute(std::size_t begin, std::size_t end, double margin) {
    std::size_t errors = 0;
    const bool has_bounds = !answer_.lower_bounds.empty();
    for (std::size_t i = begin; i < end; ++i) {
      const bool was_free = is_free(answer_.verdicts[i]);
      const double bound = has_bounds ? answer_.lower_bounds[i] : 0.0;
      if (!detail::refute(answer_.verdicts[i], answer_.statuses[i], has_bounds, bound, margin)) {
        continue;
      }
      ++errors;
      if (was_free) clear(i);
    }
    return errors;
  }

  // The pose is UNKNOWN for this reason.
  void lose(std::size_t i, Status status) noexcept {
    answer_.verdicts[i] = Verdict::unknown;
    answer_.statuses[i] = status;
    answer_.obstacles[i] = -1;
    clear(i);
  }

  // All poses are UNKNOWN for this reason.
  PosesAnswer none(Answer answer) {
    std::fill(answer_.statuses.begin(), answer_.statuses.end(), answer.status);
    answer_.answer = std::move(answer);
    return std::move(answer_);
  }

  // `done`: number of poses checked. A pose is UNKNOWN if it was not checked or its verdict is not
  // certain.
  PosesAnswer join(std::size_t done, bool stopped, std::size_t violations) {
    const std::size_t count = answer_.verdicts.size();
    const auto first = std::find_if(answer_.verdicts.begin(), answer_.verdicts.end(),
                                    [](Verdict v) noexcept { return !is_free(v); });
    const std::int64_t invalid =
        first == answer_.verdicts.end() ? -1 : first - answer_.verdicts.begin();
    answer_.first_invalid = invalid;
    if (snapshot_.fault) {  // an obstacle that is not known may be nearer
      answer_.first_invalid = 0;
      for (std::size_t i = 0; i < count; ++i) {
        if (answer_.verdicts[i] != Verdict::collision) lose(i, snapshot_.fault->status);
      }
      std::fill(answer_.lower_bounds.begin(), answer_.lower_bounds.end(),
                std::numeric_limits<double>::quiet_NaN());
      answer_.answer = worst(count);
      answer_.answer.status = snapshot_.fault->status;
      answer_.answer.message = snapshot_.fault->message;
    } else if (stopped) {  // the other poses do not count for the worst verdict
      const auto end = static_cast<std::size_t>(invalid) + 1;
      for (std::size_t i = end; i < count; ++i) lose(i, Status::undefined);
      answer_.answer = worst(end);
    } else {
      answer_.answer = worst(done);
      if (done < count && answer_.answer.verdict != Verdict::collision) {
        answer_.answer = unknown(budget_spent(done, count));
      }
    }
    answer_.answer.violations = violations;
    return std::move(answer_);
  }

 private:
  void clear(std::size_t i) noexcept {
    constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
    if (!answer_.distances.empty()) answer_.distances[i] = answer_.lower_bounds[i] = kNaN;
    if (!answer_.witnesses.empty()) answer_.witnesses[i] = {kNaN, kNaN, kNaN, kNaN};
  }

  // The worst of the first `count` verdicts, with the status of the first UNKNOWN.
  Answer worst(std::size_t count) const {
    Answer answer;
    for (std::size_t i = 0; i < count; ++i) {
      const Verdict verdict = answer_.verdicts[i];
      if (i > 0 && severity(verdict) <= severity(answer.verdict)) continue;
      answer.verdict = verdict;
      answer.status = verdict == Verdict::unknown ? answer_.statuses[i] : Status::success;
    }
    answer.message = reason(answer.status);
    return answer;
  }

  const Snapshot& snapshot_;
  PosesAnswer answer_;
};

// The end of the poses from `begin` on that have the same error, at most `end`. They are checked
// with the same vehicle, so that the answer for a pose does not depend on the other poses.
inline std::size_t end_of_same_error(std::span<const double> errors, std::size_t begin,
                                     std::size_t end) noexcept {
  std::size_t next = begin + 1;
  while (next < end && (errors.empty() || errors[next] == errors[begin])) ++next;
  return next;
}

// `request` has passed check_batch().
template <class K>
PosesAnswer check_poses(const K& kernel, const Snapshot& snapshot, const PosesRequest& request,
                        const Budget& budget) {
  const std::size_t count = request.poses.size() / 3;
  double total = 0.0;
  if (Issue issue = check_errors(request.errors, count)) {
    return refused<PosesAnswer>(std::move(issue));
  }
  if (Issue issue = check_margin(snapshot, request.margin, total)) {
    return refused<PosesAnswer>(std::move(issue));
  }
  if (request.mode < 0 || request.mode > static_cast<int>(Mode::witness)) {
    return refused<PosesAnswer>({Status::invalid_input, "mode", -1,
                                 "must be 0 (collide), 1 (distance) or 2 (witness) (got " +
                                     std::to_string(request.mode) + ")"});
  }
  const Mode mode = static_cast<Mode>(request.mode);
  PosesJoin found(snapshot, count, mode);
  if (!is_known(snapshot)) return found.none(unknown_footprint(snapshot));
  const std::vector<Pose> poses = poses_of(request.poses);
  const std::vector<double> times = on_clock(snapshot, request.times, request.stamp);
  for (Issue issue :
       {check_poses_in_domain(poses), check_times_in_domain(times), check_total(total)}) {
    if (issue) return refused<PosesAnswer>(std::move(issue));
  }
  const double until = known_until(snapshot, request.stamp);
  const CheckOptions options{.margin = total, .mode = mode, .stop_at_first = request.stop_at_first};
  std::size_t violations = 0;
  std::size_t done = 0;
  bool stopped = false;
  Issue issue;
  const auto check = [&](std::size_t begin, std::size_t end) {
    const Vehicle vehicle(*snapshot.footprint,
                          request.errors.empty() ? 0.0 : request.errors[begin]);
    issue = vehicle.check();
    if (issue) return false;
    const std::size_t size = end - begin;
    kernel.check(vehicle.shape(), std::span(poses).subspan(begin, size),
                 times.empty() ? std::span<const double>{} : std::span(times).subspan(begin, size),
                 options, [&](std::size_t i, const PoseResult& r) { found.put(begin + i, r); });
    violations += found.refute(begin, end, total);
    for (std::size_t i = begin; i < end && !times.empty(); ++i) {
      if (request.times[i] > until) found.lose(i, Status::prediction_too_short);
    }
    done = end;
    stopped = request.stop_at_first && !found.is_free_in(begin, end);
    return !stopped;
  };
  for_each_chunk_until(budget, count, kFirstPoses, [&](std::size_t begin, std::size_t end) {
    while (begin < end) {
      const std::size_t next = end_of_same_error(request.errors, begin, end);
      if (!check(begin, next)) return false;
      begin = next;
    }
    return true;
  });
  if (issue) return refused<PosesAnswer>(std::move(issue));
  return found.join(done, stopped, violations);
}

}  // namespace detail

// A verdict for each of many poses.
inline PosesAnswer check_poses(const Snapshot& snapshot, const PosesRequest& request,
                               const Budget& budget = {}) {
  if (Issue issue = check_batch(request.poses, request.times, snapshot.max_poses)) {
    return detail::refused<PosesAnswer>(std::move(issue));
  }
  return detail::check_poses(detail::Kernel(snapshot.scene), snapshot, request, budget);
}

}  // namespace gjk
