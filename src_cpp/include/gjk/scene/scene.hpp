// SPDX-FileCopyrightText: gjk_collision contributors
// SPDX-License-Identifier: Apache-2.0
// Many obstacles, and queries for an ego shape at many poses among them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "gjk/arithmetic.hpp"
#include "gjk/motion/motion.hpp"
#include "gjk/scene/checks.hpp"
#include "gjk/scene/coverage.hpp"
#include "gjk/scene/obstacles.hpp"
#include "gjk/scene/placed_parts.hpp"
#include "gjk/scene/region.hpp"
#include "gjk/shape/box.hpp"
#include "gjk/shape/convex.hpp"
#include "gjk/shape/pose.hpp"
#include "gjk/shape/shape.hpp"
#include "gjk/verdict.hpp"

namespace gjk {

class Certificate;
class Decision;

struct Nearest {
  std::int64_t obstacle = -1;
  Closest closest;  // a: ego, b: obstacle; in the frame of the poses
};

// Obstacles that do not change while they are queried. Any number of threads may query them, each
// with its own Ego. Answers do not depend on how the obstacles are arranged, except that mode
// collide may name any of several colliding obstacles.
class Scene {
 public:
  // The ego shape, with memory for its placed copy and for intermediate results of a query.
  class Ego {
   public:
    explicit Ego(const Shape& shape);

   private:
    friend class Scene;
    template <class>
    friend class Batch;
    friend class GradientQuery;
    friend class NearestFreeQuery;
    // An obstacle that nearest() has visited.
    struct Seen {
      Nearest nearest;
      std::size_t pair = 0;       // number of the closest pair of parts
      double rank = 0.0;          // distance; -inf if unknown
      double lower = 0.0;         // m, lower bound of the distance of the closest pair
      double second = kInfinity;  // m, and of all other pairs
      bool kept = false;
    };

    const Shape* shape_;
    double reach_ = 0.0;  // m, largest distance of a point from the shape's origin
    Extents extents_;
    PlacedParts placed_;  // relative to origin_
    Vec2 origin_;
    bool known_ = false;
    bool leaves_ = false;  // the region; set by find_nearest()
    Box bounds_;           // of all parts, relative to the obstacles' origin
    PackedParts moving_;   // one part of a moving obstacle, at the query's time
    std::vector<Seen> seen_;
    std::vector<std::size_t> seen_of_;  // by obstacle: its index in seen_, or kNone
    std::vector<std::size_t> kept_;     // heap of the nearest k, the farthest on top
  };

  // Includes room for the region. See Obstacles::reserve().
  void reserve(std::size_t obstacles, std::size_t parts = 0) {
    obstacles_.reserve(obstacles + 1, parts);
  }
  // Without a motion, its pose is known at `stamp` (s) only, which is on the clock of the query
  // times. Times of the motion are seconds after `stamp`.
  void add(const Shape& shape, const Pose& pose, Motion motion = {}, double stamp = 0.0) {
    obstacles_.add(shape, pose, motion, stamp);
  }
  // Obstacles that are prepared; see Obstacles::add().
  void add(const Obstacles& others, double stamp) { obstacles_.add(others, stamp); }
  // The ego must stay in this region; null: anywhere. The complement of the region counts as one
  // more obstacle, with the index size(). Call after the last add().
  void set_region(std::shared_ptr<const Region> region) {
    if (region == nullptr) return;
    region_ = std::move(region);
    const Piece still = Piece::still({});
    obstacles_.add(region_->boundary(), {}, {&still, 1}, 0.0);
  }
  // What sensors have seen; null: everything. Where a shape, with its margin, is not certainly in
  // it, queries answer UNKNOWN, not_seen, unless it collides. Times do not matter for this.
  void set_coverage(std::shared_ptr<const Coverage> coverage) { coverage_ = std::move(coverage); }
  const Coverage* coverage() const noexcept { return coverage_.get(); }
  // Error bound (s) of query times and stamps; included in every bound.
  void set_time_error(double error) noexcept { obstacles_.set_time_error(error); }
  // Distances (m) that the obstacles require in addition to the margin of a query, and their growth
  // (m/s) after the stamps; one per obstacle, or empty. Call before build().
  void set_margins(std::span<const double> margins, std::span<const double> rates) {
    obstacles_.set_margins(margins, rates);
  }
  // The times (s) at which obstacles exist: the begin and the end of each, NaN where there is no
  // limit; empty: none is limited. Queries without a time ignore them. Call before build().
  void set_lifetimes(std::span<const double> limits) { obstacles_.set_lifetimes(limits); }
  // Call once, after the last add(); see Obstacles::build().
  void build(const Vec2* origin = nullptr, unsigned threads = 1) {
    obstacles_.build(origin, threads);
  }

  // A scene in which some obstacles are changed; this one stays as it is.
  Scene updated(std::span<const Obstacles::Change> changes) const {
    Scene scene = *this;
    scene.obstacles_.change(changes);
    return scene;
  }

  // The number of obstacles, without the region.
  std::size_t size() const noexcept { return obstacles_.size() - (region_ != nullptr ? 1 : 0); }
  std::size_t parts() const noexcept { return obstacles_.parts(); }
  std::size_t bytes() const noexcept {
    return obstacles_.bytes() + (region_ != nullptr ? region_->bytes() : 0) +
           (coverage_ != nullptr ? coverage_->bytes() : 0);
  }
  const Region* region() const noexcept { return region_.get(); }  // null: none
  const Obstacles& obstacles() const noexcept { return obstacles_; }

  PoseResult check(Ego& ego, const Pose& pose, const CheckOptions& options) const noexcept;
  // With the obstacles at `time` (s).
  PoseResult check(Ego& ego, const Pose& pose, double time,
                   const CheckOptions& options) const noexcept;

  // One result per pose, in their order, for any number of threads. `times` (s) has one entry per
  // pose, or is empty if the obstacles stand still.
  void check(const Shape& shape, std::span<const Pose> poses, std::span<const double> times,
             const CheckOptions& options, std::span<PoseResult> results,
             unsigned threads = 1) const;

  // The same, with shapes[which[n]] at pose n; `which` may be empty if there is one shape. Calls
  // put(begin, end, result) for the poses from begin to end - 1, from any of the threads, and
  // possibly twice for a pose.
  void check_each(std::span<const Shape* const> shapes, std::span<const std::uint32_t> which,
                  std::span<const Pose> poses, std::span<const double> times,
                  const CheckOptions& options, const PutResults& put, unsigned threads = 1) const;

  // The k nearest obstacles that are not certainly farther than max_distance (m), by ascending
  // distance, then index. Returns SUCCESS; or INVALID_INPUT or PREDICTION_TOO_SHORT, with an empty
  // result. Allocates if `result` or the memory of the ego has to grow.
  Status nearest(Ego& ego, const Pose& pose, std::size_t k, double max_distance,
                 std::vector<Nearest>& result) const;
  // The same with the obstacles at `time` (s).
  Status nearest(Ego& ego, const Pose& pose, double time, std::size_t k, double max_distance,
                 std::vector<Nearest>& result) const;

 private:
  template <class>
  friend class Batch;
  friend class GradientQuery;
  friend class NearestFreeQuery;

  Status nearest(Ego& ego, const Pose& pose, const Obstacles::View& view, std::size_t k,
                 double max_distance, std::vector<Nearest>& result) const;

  // Leaves the nearest obstacles in ego.kept_, which must be empty. Their points are relative to
  // ego.origin_. Also visits the obstacles that are at most `window` (m) farther than the k-th. The
  // search starts with the part `first`, if any; the result is the same.
  Status find_nearest(Ego& ego, const Pose& pose, const Obstacles::View& view, std::size_t k,
                      double max_distance, double window = 0.0, std::size_t first = kNone) const;

  void place(Ego& ego, const Pose& pose) const noexcept;
  // `at`: the transform to the pose, relative to the obstacles' origin.
  void place(Ego& ego, const Pose& pose, const Transform& at) const noexcept;
  // Returns true if nothing was rounded.
  static bool place_about(Ego& ego, const Transform& at, Vec2 origin) noexcept;

  PoseResult check(Ego& ego, const Pose& pose, const CheckOptions& options,
                   const Obstacles::View& view) const noexcept;

  // m. The distance that part k requires.
  double required_to(std::size_t k, const Obstacles::View& view, double margin) const noexcept;

  // Certificate from the boxes of two parts.
  static Certificate apart(const Convex& a, const Convex& b) noexcept;

  // Classifies every part within its required distance of the ego, until one collides.
  void collide_at(Ego& ego, double margin, const Obstacles::View& view, Decision& decision,
                  PoseResult& result) const noexcept;

  // Pairs are skipped if their boxes are farther apart than the best distance. Their lower bounds
  // are larger than that distance, so they do not change the result. To make it independent of the
  // order of the visits, the lower bound of a pair counts as at least that of its boxes. If
  // collide() might not answer FREE, a pair is classified at any distance, so that the verdict is
  // that of mode collide.
  void distance_at(Ego& ego, double margin, const Obstacles::View& view, Decision& decision,
                   PoseResult& result) const noexcept;

  // Numbers pairs by obstacle part, then ego part. At equal distances the first pair decides.
  static std::size_t pair_number(const Ego& ego, std::size_t i, std::size_t k) noexcept {
    return k * ego.placed_.size() + i;
  }
  // The bound of a pair, given that of its boxes. Proves nothing if `closest` has no answer.
  static Certificate bound_of(const Closest& closest, const Certificate& boxes) noexcept;

  // The parts of the region are the segments of its boundary.
  bool is_of_region(std::size_t k) const noexcept {
    return region_ != nullptr && obstacles_.owner(k) == static_cast<std::int64_t>(size());
  }
  std::size_t first_of_region() const noexcept { return obstacles_.outlines().begin(size()); }
  // Whether some part of the ego is not certainly in the region, given that it touches no part of
  // the region's boundary.
  bool is_outside(const Ego& ego) const noexcept;
  // The signed distance to the outside of the region, for an ego that is not certainly in it.
  Closest excursion(const Ego& ego) const noexcept;

  // An obstacle with several parts may be visited more than once.
  bool may_meet_again() const noexcept { return parts() > obstacles_.size(); }

  // Records part k for its obstacle, unless it is farther than `limit` (m).
  std::size_t meet(Ego& ego, std::size_t k, const Obstacles::View& view, double limit) const;

  Obstacles obstacles_;
  // The result at a pose, or UNKNOWN if the shape is not certainly in what was seen.
  PoseResult if_seen(const PoseResult& result, const Shape& shape, const Pose& pose,
                     double margin) const noexcept;

  std::shared_ptr<const Region> region_;      // null: none
  std::shared_ptr<const Coverage> coverage_;  // null: everything was seen
};

}  // namespace gjk

#ifdef GJK_KERNEL
#include <algorithm>
#include <cmath>

#include "gjk/broad/bvh.hpp"
#include "gjk/certificate.hpp"
#include "gjk/query.hpp"
#include "gjk/scene/batch.hpp"

namespace gjk {

GJK_KERNEL Scene::Ego::Ego(const Shape& shape) : shape_(&shape) {
  placed_.reserve(static_cast<std::size_t>(shape.parts()));
  for (int k = 0; k < shape.parts(); ++k) {
    const Convex part = shape.part(k);
    placed_.add(part, {});
    reach_ = std::fmax(reach_, gjk::reach(part) + part.radius);
    extents_.include(part);
  }
}

GJK_KERNEL PoseResult Scene::check(Ego& ego, const Pose& pose,
                                   const CheckOptions& options) const noexcept {
  return check(ego, pose, options, Obstacles::at_rest());
}

GJK_KERNEL PoseResult Scene::check(Ego& ego, const Pose& pose, double time,
                                   const CheckOptions& options) const noexcept {
  return check(ego, pose, options, obstacles_.at(time));
}

inline PoseResult Scene::if_seen(const PoseResult& result, const Shape& shape, const Pose& pose,
                                 double margin) const noexcept {
  if (coverage_ == nullptr || severity(result.verdict) >= severity(Verdict::unknown)) return result;
  const std::optional<Vec2> point = coverage_->unseen(shape, {pose, 0.0}, margin);
  if (!point) return result;
  PoseResult unknown;
  unknown.status = Status::not_seen;
  unknown.unseen = *point;
  return unknown;
}

GJK_KERNEL void Scene::check(const Shape& shape, std::span<const Pose> poses,
                             std::span<const double> times, const CheckOptions& options,
                             std::span<PoseResult> results, unsigned threads) const {
  if (results.size() != poses.size()) {
    std::ranges::fill(results, PoseResult{.status = Status::invalid_input});
    return;
  }
  const Shape* const only = &shape;
  check_each(
      {&only, 1}, {}, poses, times, options,
      [results](std::size_t begin, std::size_t end, const PoseResult& result) noexcept {
        std::ranges::fill(results.subspan(begin, end - begin), result);
      },
      threads);
}

GJK_KERNEL void Scene::check_each(std::span<const Shape* const> shapes,
                                  std::span<const std::uint32_t> which, std::span<const Pose> poses,
                                  std::span<const double> times, const CheckOptions& options,
                                  const PutResults& put, unsigned threads) const {
  const auto fits = [&](std::size_t size) { return size == 0 || size == poses.size(); };
  if (!fits(times.size()) || !fits(which.size())) {
    put(0, poses.size(), {.status = Status::invalid_input});
    return;
  }
  Batch<Scene>(*this, shapes, which, poses, times, options, put).check(threads);
}

GJK_KERNEL Status Scene::nearest(Ego& ego, const Pose& pose, std::size_t k, double max_distance,
                                 std::vector<Nearest>& result) const {
  return nearest(ego, pose, Obstacles::at_rest(), k, max_distance, result);
}

GJK_KERNEL Status Scene::nearest(Ego& ego, const Pose& pose, double time, std::size_t k,
                                 double max_distance, std::vector<Nearest>& result) const {
  return nearest(ego, pose, obstacles_.at(time), k, max_distance, result);
}

inline Status Scene::nearest(Ego& ego, const Pose& pose, const Obstacles::View& view, std::size_t k,
                             double max_distance, std::vector<Nearest>& result) const {
  result.clear();
  ego.kept_.clear();
  const Status status = find_nearest(ego, pose, view, k, max_distance);
  for (const std::size_t kept : ego.kept_) {
    Nearest nearest = ego.seen_[kept].nearest;
    nearest.closest.point_a = nearest.closest.point_a + ego.origin_;
    nearest.closest.point_b = nearest.closest.point_b + ego.origin_;
    result.push_back(nearest);
  }
  return status;
}

inline Status Scene::find_nearest(Ego& ego, const Pose& pose, const Obstacles::View& view,
                                  std::size_t k, double max_distance, double window,
                                  std::size_t first) const {
  place(ego, pose);
  if (!ego.known_) return Status::invalid_input;
  if (const auto fault = obstacles_.fault_in(view); fault.status != Status::success) {
    return fault.status;
  }
  if (k == 0) return Status::success;
  ego.seen_.clear();
  ego.leaves_ = is_outside(ego);
  if (may_meet_again()) ego.seen_of_.resize(obstacles_.size(), kNone);
  const auto nearer = [&ego](std::size_t a, std::size_t b) noexcept {
    const Ego::Seen& one = ego.seen_[a];
    const Ego::Seen& other = ego.seen_[b];
    return one.rank < other.rank ||
           (one.rank == other.rank && one.nearest.obstacle < other.nearest.obstacle);
  };
  const auto limit = [&]() noexcept {
    return ego.kept_.size() < k ? max_distance : ego.seen_[ego.kept_.front()].rank + window;
  };
  const auto look_at = [&](std::size_t part) {
    const std::size_t seen = meet(ego, part, view, limit());
    if (seen == kNone || ego.seen_[seen].nearest.closest.lower_bound > max_distance) return;
    std::vector<std::size_t>& kept = ego.kept_;
    if (ego.seen_[seen].kept) {  // another part of the same obstacle, perhaps nearer
      std::make_heap(kept.begin(), kept.end(), nearer);
    } else if (kept.size() < k || nearer(seen, kept.front())) {
      if (kept.size() == k) {
        std::pop_heap(kept.begin(), kept.end(), nearer);
        ego.seen_[kept.back()].kept = false;
        kept.pop_back();
      }
      kept.push_back(seen);
      ego.seen_[seen].kept = true;
      std::push_heap(kept.begin(), kept.end(), nearer);
    }
  };
  if (ego.leaves_) look_at(first_of_region());
  if (first != kNone) look_at(first);
  obstacles_.nearest(ego.bounds_, limit(), view, [&](std::uint32_t part) {
    if (part != first) look_at(part);
    return limit();
  });
  for (std::size_t s = 0; s < ego.seen_.size() && may_meet_again(); ++s) {
    ego.seen_of_[static_cast<std::size_t>(ego.seen_[s].nearest.obstacle)] = kNone;
  }
  std::sort_heap(ego.kept_.begin(), ego.kept_.end(), nearer);
  return Status::success;
}

inline void Scene::place(Ego& ego, const Pose& pose) const noexcept {
  place(ego, pose, Transform::from_pose(pose, obstacles_.origin()));
}

inline void Scene::place(Ego& ego, const Pose& pose, const Transform& at) const noexcept {
  ego.moving_.require_room(obstacles_.most_vertices());
  const bool exact = place_about(ego, at, obstacles_.origin());
  ego.bounds_ = {};
  ego.known_ = ego.placed_.size() > 0;
  for (std::size_t i = 0; i < ego.placed_.size(); ++i) {
    const Convex& part = ego.placed_.just_placed(i);
    ego.bounds_.include(bounds(part));
    ego.known_ &= in_domain(part, part);
  }
  // If the ego is exact relative to the frame's origin but not to the obstacles', it is far from
  // them. Keep its exact position.
  const Vec2 zero;
  if (exact || pose.yaw != 0.0 || obstacles_.origin() == zero) return;
  if (!place_about(ego, Transform::from_pose(pose, zero), zero)) {
    place_about(ego, at, obstacles_.origin());
  }
}

inline bool Scene::place_about(Ego& ego, const Transform& at, Vec2 origin) noexcept {
  ego.origin_ = origin;
  bool exact = true;
  for (std::size_t k = 0; k < ego.placed_.size(); ++k) {
    const Convex local = ego.shape_->part(static_cast<int>(k));
    ego.placed_.replace(k, local, at);
    exact &= ego.placed_.just_placed(k).error <= local.error;
  }
  return exact;
}

inline PoseResult Scene::check(Ego& ego, const Pose& pose, const CheckOptions& options,
                               const Obstacles::View& view) const noexcept {
  PoseResult result;
  place(ego, pose);
  if (!ego.known_ || !(options.margin >= 0.0 && options.margin <= kMaxCoordinate)) {
    result.status = Status::invalid_input;
    return result;
  }
  Decision decision(options.margin);
  if (const auto fault = obstacles_.fault_in(view); fault.status != Status::success) {
    decision.fail(fault.status);
    result.nearest = fault.obstacle;
  }
  if (!obstacles_.can_require(view, options.margin)) decision.fail(Status::coord_range);
  if (options.mode == Mode::collide) {
    collide_at(ego, options.margin, view, decision, result);
  } else {
    distance_at(ego, options.margin, view, decision, result);
    result.lower_bound = decision.lower();
  }
  result.verdict = decision.verdict();
  result.status = decision.status();
  check_free(result.verdict, result.status, decision.lower(), options.margin);
  if (result.verdict == Verdict::unknown) {  // the nearest obstacle may be another one
    result.distance = kNaN;
    result.witness_ego = result.witness_obstacle = result.direction = {kNaN, kNaN};
  }
  return if_seen(result, *ego.shape_, pose, options.margin);
}

inline double Scene::required_to(std::size_t k, const Obstacles::View& view,
                                 double margin) const noexcept {
  if (obstacles_.margins().none()) return margin;
  return obstacles_.required(static_cast<std::size_t>(obstacles_.owner(k)), view, margin);
}

inline Certificate Scene::apart(const Convex& a, const Convex& b) noexcept {
  if (!in_domain(b, b)) return {};
  return Certificate::boxes(a.box(), b.box(), a.beyond_box() + b.beyond_box());
}

inline void Scene::collide_at(Ego& ego, double margin, const Obstacles::View& view,
                              Decision& decision, PoseResult& result) const noexcept {
  if (is_outside(ego)) {
    if (decision.take(Verdict::collision)) result.nearest = static_cast<std::int64_t>(size());
    return;
  }
  const auto look_at = [&](std::size_t k) noexcept {
    const Obstacles::Found found = obstacles_.find(k, view, ego.origin_, ego.moving_);
    if (!found) return false;
    const double required = required_to(k, view, margin);
    const Convex obstacle = found.convex();
    for (std::size_t i = 0; i < ego.placed_.size(); ++i) {
      const Verdict verdict = classify(ego.placed_.just_placed(i), obstacle, required);
      if (decision.take(verdict, {}, required)) {
        result.nearest = obstacles_.owner(k);
      }
    }
    return decision.verdict() == Verdict::collision;
  };
  const double range = obstacles_.range(view, margin);
  const Exhausted search =
      obstacles_.overlapping(ego.bounds_.grown(undecided_margin(range)), view, look_at);
  decision.take(Certificate::exhausted(search, range));
}

inline void Scene::distance_at(Ego& ego, double margin, const Obstacles::View& view,
                               Decision& decision, PoseResult& result) const noexcept {
  Closest best;
  best.distance = kInfinity;
  std::size_t best_pair = kNone;
  const auto take_best = [&](const Closest& closest, std::size_t pair) noexcept {
    if (closest.distance < best.distance ||
        (closest.distance == best.distance && pair < best_pair)) {
      best = closest;
      best_pair = pair;
      result.nearest = obstacles_.owner(pair / ego.placed_.size());
    }
  };
  bool leaves = false;
  const auto leave = [&]() noexcept {
    leaves = true;
    const Closest closest = excursion(ego);
    take_best(closest, pair_number(ego, 0, first_of_region()));
    decision.take(Verdict::collision, Certificate::of(closest));
  };
  if (is_outside(ego)) leave();
  const auto look_at = [&](std::size_t k) noexcept {
    if (leaves && is_of_region(k)) return;
    const Obstacles::Found found = obstacles_.find(k, view, ego.origin_, ego.moving_);
    if (!found) return;
    const double required = required_to(k, view, margin);
    const Convex b = found.convex();
    for (std::size_t i = 0; i < ego.placed_.size(); ++i) {
      const Convex& a = ego.placed_.just_placed(i);
      const double certain = free_above(a, b, required);
      const Certificate boxes = apart(a, b);
      if (boxes.lower() > best.distance && boxes.proves(certain)) {
        decision.take(boxes, required);
        continue;
      }
      Closest closest = gjk::closest(a, b);
      if (is_of_region(k)) {
        if (Region::may_touch(closest, a, b)) {
          leave();
          return;
        }
        closest.distance = region_->distance_to_true(closest.distance, b.radius);
      }
      take_best(closest, pair_number(ego, i, k));
      const Certificate certificate = bound_of(closest, boxes);
      if (certificate.proves(certain)) {
        decision.take(certificate, required);
      } else {
        decision.take(classify(a, b, required), certificate, required);
      }
    }
  };
  const double range = undecided_margin(obstacles_.range(view, margin));
  const auto limit = [&]() noexcept { return std::fmax(best.distance, range); };
  const Exhausted search =
      obstacles_.nearest(ego.bounds_, limit(), view, [&](std::uint32_t k) noexcept {
        look_at(k);
        return limit();
      });
  decision.take(Certificate::exhausted(search, limit()));
  result.distance = best.distance;
  if (best_pair == kNone) return;  // no obstacle at a known distance
  result.witness_ego = best.point_a + ego.origin_;
  result.witness_obstacle = best.point_b + ego.origin_;
  result.direction = best.direction;
}

inline Certificate Scene::bound_of(const Closest& closest, const Certificate& boxes) noexcept {
  if (closest.status != Status::success) return {};
  return stronger(Certificate::of(closest), boxes);
}

inline bool Scene::is_outside(const Ego& ego) const noexcept {
  for (std::size_t i = 0; region_ != nullptr && i < ego.placed_.size(); ++i) {
    if (!region_->holds(ego.placed_.just_placed(i).vertex(0), ego.origin_)) return true;
  }
  return false;
}

[[gnu::noinline]] inline Closest Scene::excursion(const Ego& ego) const noexcept {
  Region::Excursion farthest;
  for (std::size_t i = 0; i < ego.placed_.size(); ++i) {
    farthest.include(*region_, ego.placed_.just_placed(i), ego.origin_);
  }
  return farthest.closest();
}

inline std::size_t Scene::meet(Ego& ego, std::size_t k, const Obstacles::View& view,
                               double limit) const {
  const Obstacles::Found found = obstacles_.find(k, view, ego.origin_, ego.moving_);
  const std::int64_t owner = obstacles_.owner(k);
  std::size_t met = kNone;
  if (!found) return met;
  std::size_t before = kNone;
  std::size_t& index = may_meet_again() ? ego.seen_of_[static_cast<std::size_t>(owner)] : before;
  const auto leave = [&] {
    ego.leaves_ = true;
    const Closest closest = excursion(ego);
    if (index == kNone) {
      index = ego.seen_.size();
      ego.seen_.emplace_back();
    }
    Ego::Seen& seen = ego.seen_[index];
    seen = {{owner, closest},    pair_number(ego, 0, first_of_region()),
            closest.distance,    closest.lower_bound,
            closest.lower_bound, seen.kept};
    return index;
  };
  if (ego.leaves_ && is_of_region(k)) return index == kNone ? leave() : index;
  for (std::size_t i = 0; i < ego.placed_.size(); ++i) {
    const Certificate boxes = apart(ego.placed_.just_placed(i), found.part().facts());
    if (boxes.lower() > limit) continue;
    Closest closest = gjk::closest(ego.placed_.convex(i), found.convex());
    if (is_of_region(k)) {
      const Convex segment = found.convex();
      if (Region::may_touch(closest, ego.placed_.convex(i), segment)) return leave();
      closest.distance = region_->distance_to_true(closest.distance, segment.radius);
    }
    closest.lower_bound = bound_of(closest, boxes).lower();
    const double rank = closest.status == Status::success ? closest.distance : -kInfinity;
    const std::size_t pair = pair_number(ego, i, k);
    if (index == kNone) {
      index = ego.seen_.size();
      ego.seen_.push_back({{owner, closest}, pair, rank, closest.lower_bound});
    } else {
      Ego::Seen& seen = ego.seen_[index];
      Closest& best = seen.nearest.closest;
      const double lower = std::fmin(best.lower_bound, closest.lower_bound);
      double other = closest.lower_bound;
      if (rank < seen.rank || (rank == seen.rank && pair < seen.pair)) {
        other = seen.lower;
        best = closest;
        seen.rank = rank;
        seen.pair = pair;
        seen.lower = closest.lower_bound;
      }
      seen.second = std::fmin(seen.second, other);
      best.lower_bound = lower;
    }
    met = index;
  }
  return met;
}

}  // namespace gjk
#endif
