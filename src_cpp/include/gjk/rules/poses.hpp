// SPDX-FileCopyrightText: gjk_collision contributors
// SPDX-License-Identifier: Apache-2.0
// The answer for many poses: a verdict for each.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "gjk/arithmetic.hpp"
#include "gjk/certificate.hpp"
#include "gjk/rules/answers.hpp"
#include "gjk/rules/arguments.hpp"
#include "gjk/rules/fields.hpp"
#include "gjk/rules/predicted.hpp"
#include "gjk/rules/snapshot.hpp"
#include "gjk/rules/vehicle.hpp"
#include "gjk/scene/gradient.hpp"
#include "gjk/scene/scene.hpp"
#include "gjk/shape/pose.hpp"
#include "gjk/shape/shape.hpp"
#include "gjk/text.hpp"
#include "gjk/verdict.hpp"

namespace gjk {

inline constexpr std::size_t kFirstPoses = 128;  // in a chunk: a fraction of a millisecond
inline constexpr int kModeGradient = 3;          // a mode of srv/CheckPoses, after those of Mode

inline constexpr std::size_t kMaxFootprints = 256;  // of a request: an index is a uint8

// ---- srv/CheckPoses
struct PosesRequest {
  std::span<const double> poses{};   // x [m], y [m], yaw [rad] per pose
  std::span<const double> times{};   // s after `stamp`, one per pose; empty: obstacles do not move
  std::span<const double> errors{};  // m, one pose_error per pose; empty: 0
  std::int64_t stamp = 0;            // ns; 0: the stamp of the snapshot
  double margin = 0.0;               // m, >= 0, added to the safety margin
  int mode = 0;                      // gjk::Mode or kModeGradient
  // The poses after the first one that is not FREE are UNKNOWN; with groups, those of its group.
  bool stop_at_first = false;
  std::span<const std::int64_t> which{};  // footprint of each pose; empty: there is only one
  // Group g has the poses group_offsets[g] to group_offsets[g + 1] - 1; empty: no groups.
  std::span<const std::int64_t> group_offsets{};
  std::size_t k = 1;  // kModeGradient: number of obstacles at each pose; 0: one
};

struct PosesAnswer : Results {
  Issue issue;
  Answer answer;                        // the worst; without an obstacle
  std::vector<std::int64_t> obstacles;  // index; -1: none
  std::int64_t first_invalid = 0;       // -1: all are FREE; 0 also if refused
  // By group: the first pose that is not FREE, counted in the group; -1: all are FREE.
  std::vector<std::int64_t> group_first_invalid;
  std::vector<Gradient> gradients;        // k per pose; none where it is not known
  std::vector<Status> gradient_statuses;  // one per pose
};

template <class Known, class F>
void fields(const PosesAnswer& a, const Known& known, F&& f) {
  const auto each = [&](auto of) { return detail::column(a.gradients, of); };
  using G = const Gradient&;
  GJK_FIELD(f, is_free, detail::is_free_and_known(a.answer));
  GJK_FIELD(f, verdicts, a.verdicts);
  GJK_FIELD(f, statuses, a.statuses);
  GJK_FIELD(f, distances, a.distances);
  GJK_FIELD(f, lower_bounds, a.lower_bounds);
  GJK_FIELD(f, nearest_ids, detail::ids_of(a.obstacles, known));
  GJK_FIELD(f, witnesses, a.witnesses);
  GJK_FIELD(f, first_invalid_index, a.first_invalid);
  GJK_FIELD(f, group_first_invalid, a.group_first_invalid);
  GJK_FIELD(f, gradient_ids, each([&](G g) -> std::int64_t { return known.id_of(g.obstacle); }));
  GJK_FIELD(f, gradient_distances, each([](G g) { return g.distance; }));
  GJK_FIELD(f, gradients, each([](G g) { return std::array{g.by_x, g.by_y, g.by_yaw}; }));
  GJK_FIELD(f, gradient_rates, each([](G g) { return g.rate; }));
  GJK_FIELD(f, gradient_smooth, each([](G g) { return std::uint8_t{g.smooth}; }));
}

namespace detail {

// The arrays of a request that do not depend on a snapshot. `footprints`: number of footprints.
inline Issue check_poses_request(const PosesRequest& request, std::size_t footprints,
                                 std::size_t limit) {
  if (Issue issue = check_batch(request.poses, request.times, limit)) return issue;
  const std::size_t count = request.poses.size() / 3;
  if (Issue issue = check_errors(request.errors, count)) return issue;
  if (request.mode < 0 || request.mode > kModeGradient) {
    return refusal("mode", "must be 0 (collide), 1 (distance), 2 (witness) or 3 (gradient)" +
                               got(request.mode));
  }
  const std::size_t k = std::max<std::size_t>(request.k, 1);
  if (request.mode == kModeGradient && count * k > limit) {
    return refusal("k", Status::limit_exceeded,
                   std::to_string(count) + " poses with " + std::to_string(k) +
                       " obstacles each, limit " + std::to_string(limit) + " together (max_poses)");
  }
  if (footprints > kMaxFootprints) {
    return refusal(
        "footprints", Status::limit_exceeded,
        "must have at most " + std::to_string(kMaxFootprints) + " names" + got(footprints));
  }
  const bool may_be_empty = footprints == 1;
  if (request.which.size() != count && !(may_be_empty && request.which.empty())) {
    return refusal("which", Status::array_mismatch,
                   std::string(may_be_empty ? "must be empty or have " : "must have ") +
                       std::to_string(count) + " values, one per pose" + got(request.which.size()));
  }
  for (std::size_t i = 0; i < request.which.size(); ++i) {
    const std::int64_t index = request.which[i];
    if (index < 0 || index >= static_cast<std::int64_t>(footprints)) {
      return {
          Status::invalid_input, "which", static_cast<long>(i),
          "must be an index in footprints, 0 to " + std::to_string(footprints - 1) + got(index)};
    }
  }
  const std::span<const std::int64_t> ends = request.group_offsets;
  const auto bad_group = [&](std::size_t i, const std::string& rule) {
    return Issue{Status::array_mismatch, "group_offsets", static_cast<long>(i),
                 rule + got(ends[i])};
  };
  if (ends.empty()) return {};
  if (ends.front() != 0) return bad_group(0, "must start at 0");
  for (std::size_t i = 1; i < ends.size(); ++i) {
    if (ends[i] <= ends[i - 1]) {
      return bad_group(i, "must increase strictly, a group has at least one pose");
    }
  }
  if (ends.back() != static_cast<std::int64_t>(count)) {
    return bad_group(ends.size() - 1, "must end at the number of poses, " + std::to_string(count));
  }
  return {};
}

// The results at the poses of a request, in their order, and the answer made of them. `snapshots`:
// one for each footprint.
class PosesJoin {
 public:
  PosesJoin(std::span<const Snapshot> snapshots, std::span<const std::int64_t> which,
            std::size_t count, Mode mode)
      : which_(which) {
    for (const Snapshot& each : snapshots) faults_.push_back(fault_of(each));
    answer_.assign(count, mode);
    answer_.obstacles.assign(count, -1);
  }

  // An unknown result keeps only its status and its obstacle.
  void put(std::size_t i, const PoseResult& r) noexcept {
    answer_.verdicts[i] = r.verdict;
    answer_.statuses[i] = r.status;
    answer_.obstacles[i] = r.nearest;
    if (r.status == Status::not_seen && i <= first_unseen_) {
      first_unseen_ = i;
      unseen_ = r.unseen;
    }
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

  bool is_free_at(std::size_t i) const noexcept { return is_free(answer_.verdicts[i]); }

  // The pose is UNKNOWN for this reason.
  void lose(std::size_t i, Status status) noexcept {
    answer_.verdicts[i] = Verdict::unknown;
    answer_.statuses[i] = status;
    answer_.obstacles[i] = -1;
    clear(i);
  }

  // The answer. `done`: number of poses checked. `stops`: the poses of each group after the first
  // one that is not FREE do not count. After note_stop(), the same holds for all poses.
  PosesAnswer join(std::size_t done, bool stops, std::span<const std::int64_t> groups) {
    apply_faults();
    const std::size_t count = answer_.verdicts.size();
    const std::int64_t first = first_invalid(0, count);
    answer_.first_invalid = first;
    const bool is_late = done < count && !is_stopped_;
    std::vector<bool> counts(count, true);
    for (std::size_t g = 0; g + 1 < groups.size(); ++g) {
      const auto begin = static_cast<std::size_t>(groups[g]);
      const auto end = static_cast<std::size_t>(groups[g + 1]);
      answer_.group_first_invalid.push_back(first_invalid(begin, end));
      if (stops) lose_after(begin, answer_.group_first_invalid.back(), end, counts);
    }
    if (is_stopped_) lose_after(0, first, count, counts);
    answer_.answer = worst(counts);
    if (is_late && answer_.answer.verdict != Verdict::collision && !has_fault()) {
      answer_.answer = unknown(budget_spent(done, count));
    }
    return std::move(answer_);
  }

  // A point of the first pose that was not seen (m).
  Vec2 unseen() const noexcept { return unseen_; }

  // A search without groups has stopped at a pose that is not FREE.
  void note_stop() noexcept { is_stopped_ = true; }

 private:
  static constexpr std::array<double, 4> kNoWitnesses{kNaN, kNaN, kNaN, kNaN};

  const std::optional<Fault>& fault_at(std::size_t i) const noexcept {
    return faults_[which_.empty() ? 0 : static_cast<std::size_t>(which_[i])];
  }

  void clear(std::size_t i) noexcept {
    if (!answer_.distances.empty()) answer_.distances[i] = answer_.lower_bounds[i] = kNaN;
    if (!answer_.witnesses.empty()) answer_.witnesses[i] = kNoWitnesses;
  }

  // Beside a fault only a collision is certain: an obstacle that is not known may be nearer.
  void apply_faults() {
    for (std::size_t i = 0; i < answer_.verdicts.size(); ++i) {
      const std::optional<Fault>& fault = fault_at(i);
      if (!fault) continue;
      if (answer_.verdicts[i] != Verdict::collision) lose(i, fault->status);
      if (!answer_.lower_bounds.empty()) answer_.lower_bounds[i] = kNaN;
    }
  }

  bool has_fault() const noexcept {
    return std::any_of(faults_.begin(), faults_.end(),
                       [](const std::optional<Fault>& each) noexcept { return each.has_value(); });
  }

  // Counted from `begin`; -1: all are FREE.
  std::int64_t first_invalid(std::size_t begin, std::size_t end) const noexcept {
    for (std::size_t i = begin; i < end; ++i) {
      if (!is_free_at(i)) return static_cast<std::int64_t>(i - begin);
    }
    return -1;
  }

  void lose_after(std::size_t begin, std::int64_t first, std::size_t end,
                  std::vector<bool>& counts) noexcept {
    if (first < 0) return;
    for (std::size_t i = begin + static_cast<std::size_t>(first) + 1; i < end; ++i) {
      lose(i, Status::undefined);
      counts[i] = false;
    }
  }

  // The worst verdict that counts, with the fault that is its reason.
  Answer worst(const std::vector<bool>& counts) const {
    Answer answer = worst_of(answer_.verdicts, answer_.statuses, counts);
    for (std::size_t i = 0; i < counts.size(); ++i) {
      if (answer_.verdicts[i] != answer.verdict || is_free(answer.verdict)) continue;
      const std::optional<Fault>& fault = fault_at(i);
      if (!fault) continue;
      if (answer.verdict == Verdict::unknown && fault->status != answer.status) continue;
      answer.status = fault->status;
      answer.message = fault->message;
      break;
    }
    return answer;
  }

  std::vector<std::optional<Fault>> faults_;  // by footprint
  std::span<const std::int64_t> which_;
  bool is_stopped_ = false;
  std::size_t first_unseen_ = kNone;
  Vec2 unseen_{kNaN, kNaN};
  PosesAnswer answer_;
};

// The poses of one footprint, with their indices in the request.
struct RowsOfFootprint {
  std::vector<std::size_t> rows;
  std::vector<Pose> poses;
  std::vector<double> times;  // on the scene's clock (s)
  std::vector<double> errors;

  // The end of the poses from `begin` on that have the same error, at most `end`. They are checked
  // with the same vehicle, so that the answer for a pose does not depend on the other poses.
  std::size_t end_of_same_error(std::size_t begin, std::size_t end) const noexcept {
    std::size_t next = begin + 1;
    while (next < end && errors[next] == errors[begin]) ++next;
    return next;
  }
  std::span<const double> times_in(std::size_t begin, std::size_t end) const noexcept {
    if (times.empty()) return {};
    return std::span(times).subspan(begin, end - begin);
  }
};

inline std::vector<RowsOfFootprint> rows_by_footprint(const PosesRequest& request,
                                                      std::span<const double> on_clock,
                                                      std::size_t footprints) {
  std::vector<RowsOfFootprint> found(footprints);
  for (std::size_t i = 0; 3 * i < request.poses.size(); ++i) {
    RowsOfFootprint& own =
        found[request.which.empty() ? 0 : static_cast<std::size_t>(request.which[i])];
    own.rows.push_back(i);
    own.poses.push_back({request.poses[3 * i], request.poses[3 * i + 1], request.poses[3 * i + 2]});
    own.errors.push_back(request.errors.empty() ? 0.0 : request.errors[i]);
    if (!on_clock.empty()) own.times.push_back(on_clock[i]);
  }
  return found;
}

// Adds the derivatives of the distances to the k nearest obstacles, where the pose is not UNKNOWN.
// Beside a fault they are not known anywhere, because an obstacle that is not known may be nearer.
inline void add_gradients(std::span<const Snapshot> snapshots,
                          std::span<const RowsOfFootprint> footprints, std::size_t k,
                          const Budget& budget, PosesAnswer& answer) {
  answer.gradients.assign(answer.verdicts.size() * k, {});
  answer.gradient_statuses = answer.statuses;
  std::size_t done = 0;
  std::size_t wanted = 0;
  for (std::size_t f = 0; f < snapshots.size(); ++f) {
    if (fault_of(snapshots[f])) continue;
    const RowsOfFootprint& own = footprints[f];
    std::vector<std::size_t> known;  // indices in `own`
    for (std::size_t j = 0; j < own.rows.size(); ++j) {
      if (answer.verdicts[own.rows[j]] != Verdict::unknown) known.push_back(j);
    }
    const bool is_late = done < wanted;
    wanted += known.size();
    if (is_late || known.empty()) continue;
    std::optional<Vehicle> vehicle;
    std::optional<GradientQuery> query;
    double error = -1.0;
    std::vector<Gradient> gradients(k);
    done += for_each_chunk_until(
        budget, known.size(), kFirstPoses, [&](std::size_t begin, std::size_t end) {
          for (std::size_t n = begin; n < end; ++n) {
            const std::size_t j = known[n];
            if (own.errors[j] != error) {
              error = own.errors[j];
              vehicle.emplace(*snapshots[f].footprint, error);
              query.emplace(*snapshots[f].scene, vehicle->shape(), k);
            }
            const std::size_t row = own.rows[j];
            answer.gradient_statuses[row] = own.times.empty()
                                                ? query->at(own.poses[j], gradients)
                                                : query->at(own.poses[j], own.times[j], gradients);
            std::copy(gradients.begin(), gradients.end(),
                      answer.gradients.begin() + static_cast<std::ptrdiff_t>(row * k));
          }
          return true;
        });
  }
  if (done < wanted && answer.answer.verdict != Verdict::collision) {
    answer.answer = unknown(budget_spent(done, wanted));
  }
}

}  // namespace detail

// A verdict for each of many poses. `snapshots`: the same data with each footprint of the request.
inline PosesAnswer check_poses(std::span<const Snapshot> snapshots, const PosesRequest& request,
                               const Budget& budget = {}) {
  using namespace detail;
  const Snapshot& any = snapshots.front();
  double total = 0.0;
  if (Issue issue = first_of({check_poses_request(request, snapshots.size(), any.max_poses),
                              check_margin(any, request.margin, total)})) {
    return refused<PosesAnswer>(std::move(issue));
  }
  const std::vector<double> on_scene_clock = on_clock(any, request.times, request.stamp);
  const bool is_any_known = std::any_of(snapshots.begin(), snapshots.end(), is_known);
  if (is_any_known) {
    if (Issue issue =
            first_of({check_poses_in_domain(pose_rows(request.poses), "poses", 3),
                      check_times_in_domain(on_scene_clock), check_radius(total, "margin")})) {
      return refused<PosesAnswer>(std::move(issue));
    }
  }
  const bool has_gradients = request.mode == kModeGradient;
  const Mode mode = has_gradients ? Mode::distance : static_cast<Mode>(request.mode);
  const std::vector<RowsOfFootprint> footprints =
      rows_by_footprint(request, on_scene_clock, snapshots.size());
  // Beside a fault no pose is FREE, so that the search would stop before a certain collision.
  const bool stops =
      request.stop_at_first && std::none_of(snapshots.begin(), snapshots.end(),
                                            [](const Snapshot& s) { return s.fault.has_value(); });
  const bool stops_search = stops && request.group_offsets.empty();
  const CheckOptions options{.margin = total, .mode = mode, .stop_at_first = stops_search};
  const double until = known_until(any, request.stamp);
  const std::size_t count = request.poses.size() / 3;
  PosesJoin join(snapshots, request.which, count, mode);
  std::size_t done = 0;
  for (std::size_t f = 0; f < snapshots.size(); ++f) {
    const RowsOfFootprint& own = footprints[f];
    if (!is_known(snapshots[f])) {
      done += own.rows.size();
      continue;
    }
    Issue issue;
    // Returns whether to go on.
    const auto check = [&](std::size_t begin, std::size_t end) {
      const Vehicle vehicle(*snapshots[f].footprint, own.errors[begin]);
      issue = vehicle.check();
      if (issue) return false;
      const Shape* const shape = &vehicle.shape();
      snapshots[f].scene->check_each(
          {&shape, 1}, {}, std::span(own.poses).subspan(begin, end - begin),
          own.times_in(begin, end), options,
          [&](std::size_t i, std::size_t last, const PoseResult& r) noexcept {
            for (; i < last; ++i) join.put(own.rows[begin + i], r);
          });
      bool is_free = true;
      for (std::size_t j = begin; j < end; ++j) {
        const std::size_t row = own.rows[j];
        if (!request.times.empty() && request.times[row] > until) {
          join.lose(row, Status::prediction_too_short);
        }
        is_free &= join.is_free_at(row);
      }
      if (is_free || !stops_search) return true;
      join.note_stop();
      return false;
    };
    done += for_each_chunk_until(budget, own.rows.size(), kFirstPoses,
                                 [&](std::size_t begin, std::size_t end) {
                                   while (begin < end) {
                                     const std::size_t next = own.end_of_same_error(begin, end);
                                     if (!check(begin, next)) return false;
                                     begin = next;
                                   }
                                   return true;
                                 });
    if (issue) return refused<PosesAnswer>(std::move(issue));
  }
  PosesAnswer answer = join.join(done, stops, request.group_offsets);
  if (answer.answer.status == Status::not_seen) {
    answer.answer.message = reason_of(any, Status::not_seen, join.unseen());
  }
  if (answer.answer.status == Status::prediction_too_short && !any.fault) {
    const std::vector<Status>& statuses = answer.statuses;
    const auto first = std::find(statuses.begin(), statuses.end(), Status::prediction_too_short);
    const std::span<const double> time =
        std::span(request.times).subspan(static_cast<std::size_t>(first - statuses.begin()), 1);
    answer.answer.message = not_predicted(any, request.stamp, time, false);
  }
  if (has_gradients) {
    add_gradients(snapshots, footprints, std::max<std::size_t>(request.k, 1), budget, answer);
  }
  return answer;
}

// The same with one footprint.
inline PosesAnswer check_poses(const Snapshot& snapshot, const PosesRequest& request,
                               const Budget& budget = {}) {
  return check_poses(std::span(&snapshot, 1), request, budget);
}

}  // namespace gjk
