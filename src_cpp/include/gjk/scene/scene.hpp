// SPDX-FileCopyrightText: gjk_collision contributors
// SPDX-License-Identifier: Apache-2.0
// Many obstacles, and queries for an ego shape at many poses among them.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "gjk/broad/boxes.hpp"
#include "gjk/broad/bvh.hpp"
#include "gjk/certificate.hpp"
#include "gjk/motion/motion.hpp"
#include "gjk/parallel.hpp"
#include "gjk/query.hpp"
#include "gjk/scene/obstacles.hpp"
#include "gjk/scene/placed_parts.hpp"
#include "gjk/scene/region.hpp"
#include "gjk/scene/time_groups.hpp"
#include "gjk/scene/time_slice.hpp"
#include "gjk/shape/box.hpp"
#include "gjk/shape/convex.hpp"
#include "gjk/shape/pose.hpp"
#include "gjk/shape/shape.hpp"
#include "gjk/verdict.hpp"

namespace gjk {

enum class Mode : std::uint8_t { collide = 0, distance = 1, witness = 2 };

struct CheckOptions {
  double margin = 0.0;  // m
  Mode mode = Mode::collide;
  // After the first pose of a trajectory that is not FREE, its other poses stay UNKNOWN.
  bool stop_at_first = false;
  std::size_t trajectory = 0;  // number of poses in each trajectory; 0: all are one trajectory
  // Modes distance and witness: start with the obstacle that was nearest at the previous pose.
  bool warm_start = true;
};

struct PoseResult {
  Verdict verdict = Verdict::unknown;
  Status status = Status::undefined;
  double distance = std::numeric_limits<double>::quiet_NaN();     // m; modes distance, witness
  double lower_bound = std::numeric_limits<double>::quiet_NaN();  // m; -inf: nothing is certain
  std::int64_t nearest = -1;                                      // obstacle index, -1: none
  Vec2 witness_ego{std::numeric_limits<double>::quiet_NaN(),
                   std::numeric_limits<double>::quiet_NaN()};
  Vec2 witness_obstacle = witness_ego;
  Vec2 direction = witness_ego;  // unit vector from the ego to the obstacle
};

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
    explicit Ego(const Shape& shape) : shape_(&shape) {
      placed_.reserve(static_cast<std::size_t>(shape.parts()));
      for (int k = 0; k < shape.parts(); ++k) {
        const Convex part = shape.part(k);
        placed_.add(part, {});
        reach_ = std::fmax(reach_, gjk::reach(part) + part.radius);
        extents_.include(part);
      }
    }

   private:
    friend class Scene;
    friend class GradientQuery;
    friend class NearestFreeQuery;
    // An obstacle that nearest() has visited.
    struct Seen {
      Nearest nearest;
      std::size_t pair = 0;  // number of the closest pair of parts
      double rank = 0.0;     // distance; -inf if unknown
      double lower = 0.0;    // m, lower bound of the distance of the closest pair
      double second = std::numeric_limits<double>::infinity();  // m, and of all other pairs
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
    std::vector<std::int32_t> seen_of_;  // by obstacle: its index in seen_, or -1
    std::vector<std::size_t> kept_;      // heap of the nearest k, the farthest on top
  };

  // Includes room for the region.
  void reserve(std::size_t obstacles) { obstacles_.reserve(obstacles + 1); }
  // Without a motion, its pose is known at `stamp` (s) only, which is on the clock of the query
  // times. Times of the motion are seconds after `stamp`.
  void add(const Shape& shape, const Pose& pose, Motion motion = {}, double stamp = 0.0) {
    obstacles_.add(shape, pose, motion, stamp);
  }
  // The ego must stay in this region; null: anywhere. The complement of the region counts as one
  // more obstacle, with the index size(). Call after the last add().
  void set_region(std::shared_ptr<const Region> region) {
    if (region == nullptr) return;
    region_ = std::move(region);
    const Piece still = Piece::still({});
    obstacles_.add(region_->boundary(), {}, {&still, 1}, 0.0);
  }
  // Error bound (s) of query times and stamps; included in every bound.
  void set_time_error(double error) noexcept { obstacles_.set_time_error(error); }
  // Distances (m) that the obstacles require in addition to the margin of a query, and their growth
  // (m/s) after the stamps; one per obstacle, or empty. Call before build().
  void set_margins(std::span<const double> margins, std::span<const double> rates) {
    obstacles_.set_margins(margins, rates);
  }
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
    return obstacles_.bytes() + (region_ != nullptr ? region_->bytes() : 0);
  }
  const Region* region() const noexcept { return region_.get(); }  // null: none
  const Obstacles& obstacles() const noexcept { return obstacles_; }

  PoseResult check(Ego& ego, const Pose& pose, const CheckOptions& options) const noexcept {
    return check(ego, pose, options, Obstacles::at_rest(), {});
  }
  // With the obstacles at `time` (s).
  PoseResult check(Ego& ego, const Pose& pose, double time,
                   const CheckOptions& options) const noexcept {
    return check(ego, pose, options, obstacles_.at(time), {});
  }

  // One result per pose, in their order, for any number of threads. `times` (s) has one entry per
  // pose, or is empty if the obstacles stand still.
  void check(const Shape& shape, std::span<const Pose> poses, std::span<const double> times,
             const CheckOptions& options, std::span<PoseResult> results,
             unsigned threads = 1) const {
    const Shape* const only = &shape;
    check_each(
        {&only, 1}, {}, poses, times, options,
        [results](std::size_t n, const PoseResult& result) noexcept { results[n] = result; },
        threads);
  }

  // The same, with shapes[which[n]] at pose n; `which` may be empty if there is one shape. Calls
  // put(n, result) for each pose, from any of the threads, and possibly twice for a pose.
  template <class Put>
  void check_each(std::span<const Shape* const> shapes, std::span<const std::uint32_t> which,
                  std::span<const Pose> poses, std::span<const double> times,
                  const CheckOptions& options, const Put& put, unsigned threads = 1) const {
    // Placing a part costs about as much as is saved for a pose.
    const std::size_t least = std::max<std::size_t>(obstacles_.parts(), 64);
    const std::size_t length = options.trajectory > 0 ? options.trajectory : poses.size();
    Batch<Put> batch{
        .shapes = shapes,
        .which = which,
        .poses = poses,
        .times = times,
        .options = options,
        .put = put,
        .groups = TimeGroups(poses.size(), times, least),
        .length = length,
        .stop_after = std::vector<std::atomic<std::size_t>>(
            options.stop_at_first && length > 0 ? (poses.size() + length - 1) / length : 0),
        .hints = Hints(0)};
    if (options.warm_start && (options.mode != Mode::collide || batch.groups.size() > 0)) {
      batch.hints = Hints(poses.size());
    }
    for (std::atomic<std::size_t>& first : batch.stop_after) first = poses.size();
    check_groups(batch, threads);
    constexpr std::size_t kChunk = 128;
    for_each_chunk(batch.groups.others() > 0 ? poses.size() : 0, kChunk, threads, [&] {
      return [&, egos = batch.egos()](std::size_t begin, std::size_t end) mutable {
        std::array<std::size_t, kChunk> chosen;
        std::size_t count = 0;
        for (std::size_t n = begin; n < end; ++n) {
          if (batch.is_stopped(n)) {
            n = batch.last_of_trajectory(n);
          } else if (batch.groups.of(n) == TimeGroups::kNone) {
            chosen[count++] = n;
          }
        }
        check_some(batch, egos, std::span(chosen).first(count), Obstacles::at_rest());
      };
    });
    batch.put_stopped();
  }

  // The k nearest obstacles that are not certainly farther than max_distance (m), by ascending
  // distance, then index. Returns SUCCESS; or INVALID_INPUT or PREDICTION_TOO_SHORT, with an empty
  // result. Allocates if `result` or the memory of the ego has to grow.
  Status nearest(Ego& ego, const Pose& pose, std::size_t k, double max_distance,
                 std::vector<Nearest>& result) const {
    return nearest(ego, pose, Obstacles::at_rest(), k, max_distance, result);
  }
  // The same with the obstacles at `time` (s).
  Status nearest(Ego& ego, const Pose& pose, double time, std::size_t k, double max_distance,
                 std::vector<Nearest>& result) const {
    return nearest(ego, pose, obstacles_.at(time), k, max_distance, result);
  }

 private:
  friend class GradientQuery;
  friend class NearestFreeQuery;
  static constexpr std::size_t kNone = std::numeric_limits<std::size_t>::max();
  static constexpr double kInfinity = std::numeric_limits<double>::infinity();
  static constexpr std::size_t kAhead = 16;   // poses searched together
  static constexpr std::size_t kTile = 2048;  // poses whose groups one thread checks

  Status nearest(Ego& ego, const Pose& pose, const Obstacles::View& view, std::size_t k,
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

  // Leaves the nearest obstacles in ego.kept_, which must be empty. Their points are relative to
  // ego.origin_. Also visits the obstacles that are at most `window` (m) farther than the k-th. The
  // search starts with the part `first`, if any; the result is the same.
  Status find_nearest(Ego& ego, const Pose& pose, const Obstacles::View& view, std::size_t k,
                      double max_distance, double window = 0.0, std::size_t first = kNone) const {
    place(ego, pose);
    if (!ego.known_ || obstacles_.shapeless() >= 0) return Status::invalid_input;
    if (obstacles_.unknown_in(view) >= 0) return Status::prediction_too_short;
    if (k == 0) return Status::success;
    ego.seen_.clear();
    ego.leaves_ = is_outside(ego);
    if (may_meet_again()) ego.seen_of_.resize(obstacles_.size(), -1);
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
      ego.seen_of_[static_cast<std::size_t>(ego.seen_[s].nearest.obstacle)] = -1;
    }
    std::sort_heap(ego.kept_.begin(), ego.kept_.end(), nearer);
    return Status::success;
  }

  void place(Ego& ego, const Pose& pose) const noexcept {
    place(ego, pose, Transform::from_pose(pose, obstacles_.origin()));
  }
  // `at`: the transform to the pose, relative to the obstacles' origin.
  void place(Ego& ego, const Pose& pose, const Transform& at) const noexcept {
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
  // Returns true if nothing was rounded.
  static bool place_about(Ego& ego, const Transform& at, Vec2 origin) noexcept {
    ego.origin_ = origin;
    bool exact = true;
    for (std::size_t k = 0; k < ego.placed_.size(); ++k) {
      const Convex local = ego.shape_->part(static_cast<int>(k));
      ego.placed_.replace(k, local, at);
      exact &= ego.placed_.just_placed(k).error <= local.error;
    }
    return exact;
  }

  // By pose of a batch: the nearest part, or in mode collide the part that collides. If the next
  // pose is near, its search starts with this part. The answer is the same, but most of the tree is
  // skipped.
  class Hints {
   public:
    explicit Hints(std::size_t poses) : part_(poses) {}

    std::size_t at(std::size_t n, std::span<const Pose> poses, double reach) const noexcept {
      if (n == 0 || n >= part_.size()) return kNone;
      const Pose& pose = poses[n];
      const Pose& last = poses[n - 1];
      const double moved = norm({pose.x - last.x, pose.y - last.y});
      const double turned = reach * std::fabs(pose.yaw - last.yaw);
      return moved + turned <= reach ? before(n) : kNone;
    }
    // The part of the pose before, at any distance.
    std::size_t before(std::size_t n) const noexcept {
      if (n == 0 || n >= part_.size()) return kNone;
      const std::size_t part = part_[n - 1].load(std::memory_order_relaxed);
      return part > 0 ? part - 1 : kNone;
    }
    void put(std::size_t n, std::size_t part) noexcept {
      if (n < part_.size()) {
        part_[n].store(static_cast<std::uint32_t>(part + 1), std::memory_order_relaxed);
      }
    }

   private:
    std::vector<std::atomic<std::uint32_t>> part_;  // plus 1; 0: unknown
  };

  // Results of look_ahead() for the next poses of a batch.
  struct Ahead {
    struct At {
      bool is_known = false;    // the ego is in the domain, and no part is near
      bool is_placed = false;   // the ego is placed there
      std::size_t hit = kNone;  // a part that the ego certainly overlaps; it is in the domain
      Exhausted search;         // complete: `near` holds all parts whose bounds overlap the ego's
      std::span<const Bvh::Hit> near;
    };
    std::array<At, kAhead> at;
    Bvh::Hits hits;
  };

  // The egos of a thread in a batch: for each shape, one per pose that is searched together.
  class Egos {
   public:
    Egos(std::span<const Shape* const> shapes, std::span<const std::uint32_t> which,
         std::size_t group)
        : shapes_(shapes), which_(which), group_(group), of_(shapes.size()) {}

    // The ego for pose n, which is number i of those searched together.
    Ego& at(std::size_t n, std::size_t i) {
      const std::size_t shape = which_.empty() ? 0 : which_[n];
      if (of_[shape].empty()) of_[shape].assign(group_, Ego(*shapes_[shape]));
      return of_[shape][i];
    }

   private:
    std::span<const Shape* const> shapes_;
    std::span<const std::uint32_t> which_;
    std::size_t group_;
    std::vector<std::vector<Ego>> of_;  // by shape; empty until it is used
  };

  // The arguments and the state of a check of many poses.
  template <class Put>
  struct Batch {
    std::span<const Shape* const> shapes;
    std::span<const std::uint32_t> which;
    std::span<const Pose> poses;
    std::span<const double> times;
    const CheckOptions& options;
    const Put& put;
    TimeGroups groups;
    std::size_t length;  // poses in a trajectory
    // By trajectory: the first pose that is not FREE.
    std::vector<std::atomic<std::size_t>> stop_after;
    Hints hints;

    bool may_look_ahead() const noexcept {
      return detail::takes(detail::Step::ahead) && options.mode == Mode::collide;
    }
    Egos egos() const { return {shapes, which, may_look_ahead() ? kAhead : 1}; }
    bool is_stopped(std::size_t n) const noexcept {
      return options.stop_at_first && n > stop_after[n / length];
    }
    std::size_t last_of_trajectory(std::size_t n) const noexcept {
      return n - n % length + length - 1;
    }
    void finish(std::size_t n, const PoseResult& result) {
      put(n, result);
      if (!options.stop_at_first || is_free(result.verdict)) return;
      std::atomic<std::size_t>& stop = stop_after[n / length];
      std::size_t first = stop;
      while (n < first && !stop.compare_exchange_weak(first, n)) {
      }
    }
    void put_stopped() const {
      for (std::size_t k = 0; k < stop_after.size(); ++k) {
        const std::size_t end = std::min(poses.size(), (k + 1) * length);
        for (std::size_t n = stop_after[k] + 1; n < end; ++n) put(n, {});
      }
    }
  };

  // Checks the poses whose time is that of many poses. The obstacles are placed once for each such
  // time, and in several passes if they would need too much memory. A thread takes poses that
  // follow each other, so that their memory stays in its cache, and checks them in order of time.
  template <class Put>
  void check_groups(Batch<Put>& batch, unsigned threads) const {
    constexpr std::size_t kMostPlaced = 1 << 16;  // parts
    constexpr std::size_t kSimilar = 8;  // slices in a row whose trees may be arranged alike
    const TimeGroups& groups = batch.groups;
    const std::size_t poses = batch.poses.size();
    const std::size_t per_pass =
        std::max(kMostPlaced, poses / 4) / std::max<std::size_t>(parts(), 1);
    std::vector<TimeSlice> slices(std::min(groups.size(), std::max<std::size_t>(per_pass, 1)));
    for (std::size_t first = 0; first < groups.size(); first += slices.size()) {
      const std::size_t count = std::min(groups.size() - first, slices.size());
      for_each_chunk(count, kSimilar, threads, [&] {
        return [&](std::size_t begin, std::size_t end) {
          for (std::size_t i = begin; i < end; ++i) {
            obstacles_.place(groups.time(first + i), slices[i],
                             i > begin ? &slices[i - 1] : nullptr);
          }
        };
      });
      for_each_chunk(poses, kTile, threads, [&] {
        return [&, egos = batch.egos(), order = GroupedPoses()](std::size_t begin,
                                                                std::size_t end) mutable {
          order.arrange(groups, begin, end, first, count);
          for (std::size_t i = 0; i < count; ++i) {
            check_some(batch, egos, order.of(i), Obstacles::in(groups.time(first + i), slices[i]));
          }
        };
      });
    }
  }

  // Checks the chosen poses, with the obstacles at rest or in a slice, or else at each pose's time.
  template <class Put>
  void check_some(Batch<Put>& batch, Egos& egos, std::span<const std::size_t> chosen,
                  Obstacles::View view) const {
    const bool has_view = batch.times.empty() || view.slice != nullptr;
    const bool looks_ahead = has_view && batch.may_look_ahead();
    Ahead ahead;
    const auto check_one = [&](std::size_t n, Ego& ego, const typename Ahead::At& at,
                               std::size_t hint) {
      const PoseResult result = check(ego, batch.poses[n], batch.options, view, at, &hint);
      batch.hints.put(n, hint);
      batch.finish(n, result);
    };
    std::array<Transform, kAhead> transforms;  // of the next poses; computed together for speed
    const auto prepare = [&](std::span<const std::size_t> next) noexcept {
      for (std::size_t i = 0; i < next.size(); ++i) {
        if (batch.is_stopped(next[i])) continue;
        transforms[i] = Transform::from_pose(batch.poses[next[i]], obstacles_.origin());
        const std::size_t hint = batch.hints.before(next[i]);
        if (view.slice != nullptr && hint != kNone) view.slice->part(hint).prefetch();
      }
    };
    std::array<std::size_t, kAhead> group;  // searched together
    std::array<Transform, kAhead> of_group;
    for (std::size_t next = 0; next < chosen.size();) {
      std::size_t count = 0;
      for (; count < kAhead && next < chosen.size(); ++next) {
        const std::size_t slot = next % kAhead;
        if (slot == 0) prepare(chosen.subspan(next, std::min(kAhead, chosen.size() - next)));
        const std::size_t n = chosen[next];
        if (batch.is_stopped(n)) continue;
        if (!has_view) view = obstacles_.at(batch.times[n]);
        Ego& ego = egos.at(n, 0);
        // In mode collide, it decides which obstacle is named. So it must not depend on how far
        // other threads are.
        const bool has_hint = view.slice != nullptr ? n % kTile != 0 : !batch.may_look_ahead();
        const std::size_t hint = has_hint ? batch.hints.at(n, batch.poses, ego.reach_) : kNone;
        if (looks_ahead && hint == kNone) {
          group[count] = n;
          of_group[count++] = transforms[slot];
          continue;
        }
        typename Ahead::At at;
        if (looks_ahead && is_hit(ego, transforms[slot], view.slice->part(hint))) {
          at.hit = hint;
        } else {
          place(ego, batch.poses[n], transforms[slot]);
          at.is_placed = true;
        }
        check_one(n, ego, at, hint);
      }
      if (count == 0) continue;
      look_ahead(egos, std::span(group).first(count), batch.poses, of_group, batch.options.margin,
                 view, ahead);
      for (std::size_t i = 0; i < count; ++i) {
        const std::size_t n = group[i];
        if (!batch.is_stopped(n)) check_one(n, egos.at(n, i), ahead.at[i], kNone);
      }
    }
  }

  // Proves that an ego that is not placed overlaps a part. False: unknown.
  static bool is_hit(const Ego& ego, const Transform& at, const FoundPart& found) noexcept {
    if (!found || !ego.extents_.is_known_at(at)) return false;
    const Convex part = found.convex();
    for (int i = 0; i < ego.shape_->parts(); ++i) {
      if (detail::is_proven_overlap(ego.shape_->part(i), at, part, {})) return true;
    }
    return false;
  }

  // Searches the tree for all of the chosen poses together, so that their memory accesses overlap.
  // Places the egos that have parts near them.
  void look_ahead(Egos& egos, std::span<const std::size_t> chosen, std::span<const Pose> poses,
                  const std::array<Transform, kAhead>& transforms, double margin,
                  const Obstacles::View& view, Ahead& ahead) const {
    std::array<FloatBox, kAhead> boxes;
    const std::size_t count = chosen.size();
    const double range = undecided_margin(obstacles_.range(view, margin));
    for (std::size_t i = 0; i < count; ++i) {
      const Box bounds = egos.at(chosen[i], i).extents_.bounds_at(transforms[i]);
      ahead.at[i] = {};
      ahead.at[i].is_known = bounds.low.x > kEverywhere.low.x;
      boxes[i] = FloatBox::around(bounds.grown(range));
    }
    std::size_t found = 0;
    const Exhausted search =
        obstacles_.overlapping(std::span(boxes).first(count), view, ahead.hits, found);
    if (!search.is_complete()) return;
    std::size_t end = 0;
    for (std::size_t query = 0; query < count; ++query) {
      const std::size_t begin = end;
      for (; end < found && ahead.hits[end].query == query; ++end) {
        if (!view.timed) obstacles_.prefetch(ahead.hits[end].item);
      }
      ahead.at[query].search = search;
      ahead.at[query].near = std::span(ahead.hits).subspan(begin, end - begin);
      if (begin == end && ahead.at[query].is_known && region_ == nullptr) continue;
      place(egos.at(chosen[query], query), poses[chosen[query]], transforms[query]);
      ahead.at[query].is_placed = true;
    }
  }

  PoseResult check(Ego& ego, const Pose& pose, const CheckOptions& options,
                   const Obstacles::View& view, const Ahead::At& ahead,
                   std::size_t* nearest_part = nullptr) const noexcept {
    std::size_t cold = kNone;
    if (nearest_part == nullptr) nearest_part = &cold;
    PoseResult result;
    const bool is_clear =
        ahead.is_known && ahead.search.is_complete() && ahead.near.empty() && region_ == nullptr;
    const bool is_hit = ahead.hit != kNone;
    if (!ahead.is_placed && !is_clear && !is_hit) place(ego, pose);
    if (!(is_clear || is_hit || ego.known_) ||
        !(options.margin >= 0.0 && options.margin <= kMaxCoordinate)) {
      result.status = Status::invalid_input;
      return result;
    }
    Decision decision(options.margin);
    if (const std::int64_t shapeless = obstacles_.shapeless(); shapeless >= 0) {
      decision.fail(Status::invalid_input);
      result.nearest = shapeless;
    } else if (const std::int64_t unknown = obstacles_.unknown_in(view); unknown >= 0) {
      decision.fail(Status::prediction_too_short);
      result.nearest = unknown;
    }
    if (!obstacles_.can_require(view, options.margin)) decision.fail(Status::coord_range);
    if (is_hit) {
      decision.take(Verdict::collision, {}, options.margin);
      result.nearest = obstacles_.owner(ahead.hit);
    } else if (options.mode == Mode::collide) {
      collide_at(ego, options.margin, view, ahead, *nearest_part, decision, result);
    } else {
      distance_at(ego, options.margin, view, *nearest_part, decision, result);
      result.lower_bound = decision.lower();
    }
    result.verdict = decision.verdict();
    result.status = decision.status();
    check_free(result.verdict, result.status, decision.lower(), options.margin);
    if (result.verdict == Verdict::unknown) {  // the nearest obstacle may be another one
      constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
      result.distance = kNaN;
      result.witness_ego = result.witness_obstacle = result.direction = {kNaN, kNaN};
    }
    return result;
  }

  // m. The distance that part k requires.
  double required_to(std::size_t k, const Obstacles::View& view, double margin) const noexcept {
    if (obstacles_.margins().none()) return margin;
    return obstacles_.required(static_cast<std::size_t>(obstacles_.owner(k)), view, margin);
  }

  // Certificate from the boxes of two parts.
  static Certificate apart(const Convex& a, const Convex& b) noexcept {
    if (!in_domain(b, b)) return {};
    return Certificate::boxes(a.box(), b.box(), a.beyond_box() + b.beyond_box());
  }

  // Classifies every part within its required distance of the ego, until one collides. `hit_part`
  // is tested first; afterwards it is the part that collides, if any.
  void collide_at(Ego& ego, double margin, const Obstacles::View& view, const Ahead::At& ahead,
                  std::size_t& hit_part, Decision& decision, PoseResult& result) const noexcept {
    const std::size_t first = std::exchange(hit_part, kNone);
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
      if (decision.verdict() != Verdict::collision) return false;
      hit_part = k;
      return true;
    };
    if (first != kNone && look_at(first)) return;
    const double range = obstacles_.range(view, margin);
    Exhausted search = ahead.search;
    if (search.is_complete()) {
      for (const Bvh::Hit& hit : ahead.near) {
        if (look_at(hit.item)) return;
      }
    } else {
      search = obstacles_.overlapping(ego.bounds_.grown(undecided_margin(range)), view, look_at);
    }
    decision.take(Certificate::exhausted(search, range));
  }

  // Pairs are skipped if their boxes are farther apart than the best distance. Their lower bounds
  // are larger than that distance, so they do not change the result. To make it independent of the
  // order of the visits, the lower bound of a pair counts as at least that of its boxes. If
  // collide() might not answer FREE, a pair is classified at any distance, so that the verdict is
  // that of mode collide. `nearest_part` is tested first; afterwards it is the part of the closest
  // pair.
  void distance_at(Ego& ego, double margin, const Obstacles::View& view, std::size_t& nearest_part,
                   Decision& decision, PoseResult& result) const noexcept {
    Closest best;
    best.distance = kInfinity;
    std::size_t best_pair = kNone;
    const std::size_t first = nearest_part;
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
    if (first != kNone) look_at(first);
    const Exhausted search =
        obstacles_.nearest(ego.bounds_, limit(), view, [&](std::uint32_t k) noexcept {
          if (k != first) look_at(k);
          return limit();
        });
    decision.take(Certificate::exhausted(search, limit()));
    result.distance = best.distance;
    nearest_part = best_pair == kNone ? kNone : best_pair / ego.placed_.size();
    if (best_pair == kNone) return;  // no obstacle at a known distance
    result.witness_ego = best.point_a + ego.origin_;
    result.witness_obstacle = best.point_b + ego.origin_;
    result.direction = best.direction;
  }

  // Numbers pairs by obstacle part, then ego part. At equal distances the first pair decides.
  static std::size_t pair_number(const Ego& ego, std::size_t i, std::size_t k) noexcept {
    return k * ego.placed_.size() + i;
  }
  // The bound of a pair, given that of its boxes. Proves nothing if `closest` has no answer.
  static Certificate bound_of(const Closest& closest, const Certificate& boxes) noexcept {
    if (closest.status != Status::success) return {};
    return stronger(Certificate::of(closest), boxes);
  }

  // The parts of the region are the segments of its boundary.
  bool is_of_region(std::size_t k) const noexcept {
    return region_ != nullptr && obstacles_.owner(k) == static_cast<std::int64_t>(size());
  }
  std::size_t first_of_region() const noexcept { return obstacles_.outlines().begin(size()); }
  // Whether some part of the ego is not certainly in the region, given that it touches no part of
  // the region's boundary.
  bool is_outside(const Ego& ego) const noexcept {
    for (std::size_t i = 0; region_ != nullptr && i < ego.placed_.size(); ++i) {
      if (!region_->holds(ego.placed_.just_placed(i).vertex(0), ego.origin_)) return true;
    }
    return false;
  }
  // The signed distance to the outside of the region, for an ego that is not certainly in it.
  [[gnu::noinline]] Closest excursion(const Ego& ego) const noexcept {
    Region::Excursion farthest;
    for (std::size_t i = 0; i < ego.placed_.size(); ++i) {
      farthest.include(*region_, ego.placed_.just_placed(i), ego.origin_);
    }
    return farthest.closest();
  }

  // An obstacle with several parts may be visited more than once.
  bool may_meet_again() const noexcept { return parts() > obstacles_.size(); }

  // Records part k for its obstacle, unless it is farther than `limit` (m).
  std::size_t meet(Ego& ego, std::size_t k, const Obstacles::View& view, double limit) const {
    const Obstacles::Found found = obstacles_.find(k, view, ego.origin_, ego.moving_);
    const std::int64_t owner = obstacles_.owner(k);
    std::size_t met = kNone;
    if (!found) return met;
    std::int32_t before = -1;
    std::int32_t& index = may_meet_again() ? ego.seen_of_[static_cast<std::size_t>(owner)] : before;
    const auto leave = [&] {
      ego.leaves_ = true;
      const Closest closest = excursion(ego);
      if (index < 0) {
        index = static_cast<std::int32_t>(ego.seen_.size());
        ego.seen_.emplace_back();
      }
      Ego::Seen& seen = ego.seen_[static_cast<std::size_t>(index)];
      seen = {{owner, closest},    pair_number(ego, 0, first_of_region()),
              closest.distance,    closest.lower_bound,
              closest.lower_bound, seen.kept};
      return static_cast<std::size_t>(index);
    };
    if (ego.leaves_ && is_of_region(k))
      return index < 0 ? leave() : static_cast<std::size_t>(index);
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
      if (index < 0) {
        index = static_cast<std::int32_t>(ego.seen_.size());
        ego.seen_.push_back({{owner, closest}, pair, rank, closest.lower_bound});
      } else {
        Ego::Seen& seen = ego.seen_[static_cast<std::size_t>(index)];
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
      met = static_cast<std::size_t>(index);
    }
    return met;
  }

  Obstacles obstacles_;
  std::shared_ptr<const Region> region_;  // null: none
};

}  // namespace gjk
