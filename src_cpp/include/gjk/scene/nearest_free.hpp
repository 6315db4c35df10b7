// SPDX-FileCopyrightText: gjk_collision contributors
// SPDX-License-Identifier: Apache-2.0
// The free pose that is nearest to a given pose.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numbers>
#include <optional>
#include <vector>

#include "gjk/arithmetic.hpp"
#include "gjk/scene/obstacles.hpp"
#include "gjk/scene/scene.hpp"
#include "gjk/shape/domain.hpp"
#include "gjk/shape/pose.hpp"
#include "gjk/shape/shape.hpp"
#include "gjk/shape/vec2.hpp"
#include "gjk/verdict.hpp"

namespace gjk {

struct NearestFreeOptions {
  double max_shift = 0.0;     // m, >= 0
  double max_turn = 0.0;      // rad, >= 0
  double margin = 0.0;        // m, >= 0
  double tolerance = 0.001;   // m, > 0
  std::size_t most = 200000;  // cells, and poses of a turn in place, that are examined
  // Parts of the ego that are placed, and pairs of parts that are compared. A vehicle of many parts
  // needs more of them for each cell.
  std::size_t most_parts = 100'000'000;
  // s. A search that takes longer ends with the status time_budget.
  double max_time = kInfinity;
};

struct NearestFree {
  Status status = Status::undefined;
  std::optional<Pose> pose;  // FREE there; empty: none was found
};

namespace detail {

inline Issue check_max_shift(double shift) {  // m
  return check_within(shift, "max_shift", 0.0, kMaxCoordinate, "must lie in [0, 1e15] m");
}
inline Issue check_max_turn(double turn) {
  return check_within(turn, "max_turn", 0.0, kMaxYaw, "must lie in [0, 1e6] rad");
}

}  // namespace detail

// Finds the smallest shift to a free pose, by branch and bound (A. H. Land and A. G. Doig, 1960)
// over cells of shifts and turns.
//
// The signed distance of two convex parts changes by at most the length of a shift, and by at most
// reach * |turn| when the ego turns about its origin, which moves none of its points farther. Let
// two parts be nearer than required by d at the centre of a cell. They are then too near at every
// change within d of the centre, so a cell with a smaller radius is left out. The cells with the
// smallest possible shift are examined first. A free pose is checked as any other pose; the bounds
// above only decide where to search. Allocates if its memory has to grow. Not for several threads
// at once.
class NearestFreeQuery {
 public:
  NearestFreeQuery(const Scene& scene, const Shape& shape) : scene_(&scene), ego_(shape) {}

  NearestFree at(const Pose& pose, const NearestFreeOptions& options);
  // The same with the obstacles at `time` (s).
  NearestFree at(const Pose& pose, double time, const NearestFreeOptions& options);

  // Parts placed and pairs compared by the last query, without the pairs of its checks.
  std::size_t work() const noexcept { return work_; }

 private:
  struct Change {
    Vec2 shift;         // m
    double turn = 0.0;  // rad
  };
  // All changes within `half` of the centre, along x and y, and within `half_turn`.
  struct Cell {
    double least_shift = 0.0;  // m, of any change in it
    Change center;
    double half = 0.0;       // m
    double half_turn = 0.0;  // rad
    std::size_t number = 0;  // the order is the same on every machine
  };

  NearestFree find(const Pose& pose, const Obstacles::View& view,
                   const NearestFreeOptions& options);

  bool is_late() const noexcept;
  Pose changed(const Change& by) const noexcept {
    return {start_.x + by.shift.x, start_.y + by.shift.y, start_.yaw + by.turn};
  }
  // Whether the search ends before it is complete.
  bool is_over() const noexcept { return work_ >= options_.most_parts || is_late(); }
  PoseResult check(const Change& by) noexcept;
  // Whether the pose is FREE and, as rounded, within the limits.
  bool is_free_at(const Change& by) noexcept;

  // m. By how much two parts are nearer than required, at most; 0 if none are. Stops at `enough`.
  double depth_at(const Change& by, double enough) noexcept;

  // The smallest turn in either direction.
  void turn_in_place(double most) noexcept;

  // m. Longer shifts are not worth a visit.
  double limit() const noexcept {
    if (!best_) return options_.max_shift;
    return norm(best_->shift) * (1.0 - kRelative) - options_.tolerance;
  }

  void search(double most_turn);

  // Takes the change if it is free and better, with its shift shortened to the limit, and then as
  // far as possible.
  void try_at(Change change) noexcept;

  // Reduces the turn at the shift that was found.
  void refine(Change& best) noexcept;

  static constexpr int kHalvings = 24;
  static constexpr double kRelative = 0.001;  // of the shift
  static constexpr double kWide = 4.0;

  const Scene* scene_;
  Scene::Ego ego_;
  Pose start_;
  Obstacles::View view_;
  NearestFreeOptions options_;
  double begin_ = 0.0;  // s, of detail::steady_time()
  std::optional<Change> best_;
  std::vector<Cell> cells_;   // heap
  std::size_t blocking_ = 0;  // part that was nearest to blocking last
  std::size_t examined_ = 0;
  std::size_t work_ = 0;  // see most_parts
};

}  // namespace gjk

#ifdef GJK_KERNEL
#include <algorithm>
#include <chrono>

#include "gjk/certificate.hpp"
#include "gjk/query.hpp"

namespace gjk {

GJK_KERNEL NearestFree NearestFreeQuery::at(const Pose& pose, const NearestFreeOptions& options) {
  return find(pose, Obstacles::at_rest(), options);
}

GJK_KERNEL NearestFree NearestFreeQuery::at(const Pose& pose, double time,
                                            const NearestFreeOptions& options) {
  return find(pose, scene_->obstacles().at(time), options);
}

namespace detail {

inline double steady_time() noexcept {  // s
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration<double>(now).count();
}

}  // namespace detail

inline bool NearestFreeQuery::is_late() const noexcept {
  return std::isfinite(options_.max_time) && detail::steady_time() > begin_ + options_.max_time;
}

inline NearestFree NearestFreeQuery::find(const Pose& pose, const Obstacles::View& view,
                                          const NearestFreeOptions& options) {
  start_ = pose;
  view_ = view;
  options_ = options;
  if (std::isfinite(options.max_time)) begin_ = detail::steady_time();
  examined_ = 0;
  work_ = 0;
  blocking_ = 0;
  best_.reset();
  const PoseResult here = check({});
  if (is_free(here.verdict)) return {Status::success, pose};
  if (here.verdict == Verdict::unknown && here.status != Status::not_seen) return {here.status, {}};
  const Status status = scene_->obstacles().fault_in(view).status;
  if (status != Status::success) return {status, {}};
  const double most_turn = std::fmin(options.max_turn, std::numbers::pi);
  if (most_turn > 0.0) turn_in_place(most_turn);
  if (!best_ && options.max_shift > 0.0) {
    search(0.0);
    if (most_turn > 0.0) search(most_turn);
    if (best_) refine(*best_);
  }
  if (is_late()) return {Status::time_budget, {}};
  if (!best_) return {Status::success, {}};
  return {Status::success, changed(*best_)};
}

inline PoseResult NearestFreeQuery::check(const Change& by) noexcept {
  ++examined_;
  work_ += ego_.placed_.size();
  return scene_->check(ego_, changed(by), {.margin = options_.margin}, view_);
}

inline bool NearestFreeQuery::is_free_at(const Change& by) noexcept {
  const Pose pose = changed(by);
  return norm({pose.x - start_.x, pose.y - start_.y}) <= options_.max_shift &&
         std::fabs(pose.yaw - start_.yaw) <= options_.max_turn && is_free(check(by).verdict);
}

inline double NearestFreeQuery::depth_at(const Change& by, double enough) noexcept {
  ++examined_;
  work_ += ego_.placed_.size();
  scene_->place(ego_, changed(by));
  if (!ego_.known_) return kInfinity;
  const Obstacles& obstacles = scene_->obstacles();
  // As far as a point of the ego is outside of the region.
  double depth = 0.0;
  if (scene_->is_outside(ego_)) depth = std::fmax(0.0, -scene_->excursion(ego_).distance);
  if (scene_->coverage() != nullptr) {
    depth = std::fmax(
        depth, scene_->coverage()->depth(*ego_.shape_, changed(by), options_.margin, enough));
  }
  if (depth >= enough) return depth;
  const auto look_at = [&](std::size_t k) noexcept {
    const Obstacles::Found found = obstacles.find(k, view_, ego_.origin_, ego_.moving_);
    if (!found) return false;
    const double required = scene_->required_to(k, view_, options_.margin);
    work_ += ego_.placed_.size();
    for (std::size_t i = 0; i < ego_.placed_.size(); ++i) {
      if (Scene::apart(ego_.placed_.just_placed(i), found.part().facts()).lower() >= required)
        continue;
      const Closest closest = gjk::closest(ego_.placed_.just_placed(i), found.convex());
      if (closest.status != Status::success) continue;
      if (required - closest.distance > depth) {
        depth = required - closest.distance;
        blocking_ = k;
      }
    }
    return depth >= enough;
  };
  // Near changes are often blocked by the same part.
  const std::size_t first = blocking_;
  if (first < obstacles.parts() && look_at(first)) return depth;
  const double range = undecided_margin(obstacles.range(view_, options_.margin));
  obstacles.overlapping(ego_.bounds_.grown(range), view_,
                        [&](std::uint32_t k) noexcept { return k != first && look_at(k); });
  return depth;
}

inline void NearestFreeQuery::turn_in_place(double most) noexcept {
  for (const double sign : {1.0, -1.0}) {
    const double limit = best_ ? std::fabs(best_->turn) : most;
    const double step = options_.tolerance / ego_.reach_;
    double blocked = 0.0;
    double next = 0.0;
    bool is_found = false;
    while (!is_found && blocked < limit && examined_ < options_.most && !is_over()) {
      const double depth = depth_at({{}, sign * blocked}, kInfinity);
      next = std::fmin(limit, blocked + std::fmax(step, depth / ego_.reach_));
      if (!(next > blocked)) break;  // doubles do not resolve the step
      is_found = is_free_at({{}, sign * next});
      if (!is_found) blocked = next;
    }
    if (!is_found) continue;
    if (best_ && !(next < limit)) continue;
    for (int i = 0; i < kHalvings; ++i) {
      const double middle = 0.5 * (blocked + next);
      (is_free_at({{}, sign * middle}) ? next : blocked) = middle;
    }
    best_ = Change{{}, sign * next};
  }
}

inline void NearestFreeQuery::search(double most_turn) {
  cells_.clear();
  std::size_t number = 0;
  const auto later = [](const Cell& a, const Cell& b) noexcept {
    return a.least_shift != b.least_shift ? a.least_shift > b.least_shift : a.number > b.number;
  };
  const auto add = [&](const Change& center, double half, double half_turn) {
    const auto beyond = [half](double v) noexcept { return std::fmax(0.0, std::fabs(v) - half); };
    const double least = norm({beyond(center.shift.x), beyond(center.shift.y)});
    if (!(least <= limit())) return;
    cells_.push_back({least, center, half, half_turn, number++});
    std::push_heap(cells_.begin(), cells_.end(), later);
  };
  add({}, options_.max_shift, most_turn);
  for (std::size_t n = 0; n < options_.most && !cells_.empty() && !is_over(); ++n) {
    std::pop_heap(cells_.begin(), cells_.end(), later);
    const Cell cell = cells_.back();
    cells_.pop_back();
    if (!(cell.least_shift <= limit())) return;  // nor are the others
    const double wide = std::numbers::sqrt2 * cell.half;
    const double turned = ego_.reach_ * cell.half_turn;
    if (depth_at(cell.center, wide + turned) >= wide + turned) continue;
    try_at(cell.center);
    if (wide + turned < (most_turn > 0.0 ? kWide : 1.0) * options_.tolerance) continue;
    if (turned > wide) {
      const double half = 0.5 * cell.half_turn;
      for (const double by : {-half, half}) {
        add({cell.center.shift, cell.center.turn + by}, cell.half, half);
      }
      continue;
    }
    const double half = 0.5 * cell.half;
    for (const double x : {-half, half}) {
      for (const double y : {-half, half}) {
        add({cell.center.shift + Vec2{x, y}, cell.center.turn}, half, cell.half_turn);
      }
    }
  }
}

inline void NearestFreeQuery::try_at(Change change) noexcept {
  const double length = norm(change.shift);
  const double most = limit();
  if (length > most) change.shift = (most / length * (1.0 - 4.0 * kUnitRoundoff)) * change.shift;
  if (!is_free_at(change)) return;
  double blocked = 0.0;
  double free = 1.0;
  for (int i = 0; i < kHalvings; ++i) {
    const double middle = 0.5 * (blocked + free);
    (is_free_at({middle * change.shift, change.turn}) ? free : blocked) = middle;
  }
  best_ = Change{free * change.shift, change.turn};
}

inline void NearestFreeQuery::refine(Change& best) noexcept {
  if (best.turn == 0.0) return;
  double blocked = 0.0;
  double free = 1.0;
  for (int i = 0; i < kHalvings; ++i) {
    const double middle = 0.5 * (blocked + free);
    (is_free_at({best.shift, middle * best.turn}) ? free : blocked) = middle;
  }
  best.turn *= free;
}

}  // namespace gjk
#endif
