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
#include <span>
#include <vector>

#include "gjk/broad/boxes.hpp"
#include "gjk/broad/bvh.hpp"
#include "gjk/certificate.hpp"
#include "gjk/motion/motion.hpp"
#include "gjk/query.hpp"
#include "gjk/scene/obstacles.hpp"
#include "gjk/scene/parallel.hpp"
#include "gjk/scene/placed_parts.hpp"
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
        placed_.add(part, {}, 0);
        reach_ = std::fmax(reach_, gjk::reach(part) + part.radius);
      }
    }

   private:
    friend class Scene;
    friend class GradientQuery;
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
    PlacedParts placed_;  // relative to origin_
    Vec2 origin_;
    bool known_ = false;
    Box bounds_;          // of all parts, relative to the obstacles' origin
    PlacedParts moving_;  // one part of a moving obstacle, at the query's time
    std::vector<Seen> seen_;
    std::vector<std::int32_t> seen_of_;  // by obstacle: its index in seen_, or -1
    std::vector<std::size_t> kept_;      // heap of the nearest k, the farthest on top
  };

  void reserve(std::size_t obstacles) { obstacles_.reserve(obstacles); }
  // Without a motion, its pose is known at `stamp` (s) only, which is on the clock of the query
  // times. Times of the motion are seconds after `stamp`.
  void add(const Shape& shape, const Pose& pose, Motion motion = {}, double stamp = 0.0) {
    obstacles_.add(shape, pose, motion, stamp);
  }
  // Error bound (s) of query times and stamps; included in every bound.
  void set_time_error(double error) noexcept { obstacles_.set_time_error(error); }
  // Distances (m) that the obstacles require in addition to the margin of a query, and their growth
  // (m/s) after the stamps; one per obstacle, or empty. Call before build().
  void set_margins(std::span<const double> margins, std::span<const double> rates) {
    obstacles_.set_margins(margins, rates);
  }
  // Call once, after the last add().
  void build() { obstacles_.build(); }

  // A scene in which some obstacles are changed; this one stays as it is.
  Scene updated(std::span<const Obstacles::Change> changes) const {
    Scene scene = *this;
    scene.obstacles_.change(changes);
    return scene;
  }

  std::size_t size() const noexcept { return obstacles_.size(); }
  std::size_t parts() const noexcept { return obstacles_.parts(); }
  std::size_t bytes() const noexcept { return obstacles_.bytes(); }
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
    constexpr std::size_t kChunk = 128;
    const bool timed = !times.empty();
    const bool looks_ahead =
        detail::takes(detail::Step::ahead) && !timed && options.mode == Mode::collide;
    const std::size_t length = options.trajectory > 0 ? options.trajectory : poses.size();
    // By trajectory: the first pose that is not FREE.
    std::vector<std::atomic<std::size_t>> stop_after(
        options.stop_at_first && length > 0 ? (poses.size() + length - 1) / length : 0);
    for (std::atomic<std::size_t>& first : stop_after) first = poses.size();
    for_each_chunk(poses.size(), kChunk, threads, [&] {
      const std::size_t group = looks_ahead ? std::min(poses.size(), kAhead) : 1;
      return [&, group, egos = Egos(shapes, which, group)](std::size_t begin,
                                                           std::size_t end) mutable {
        Ahead ahead;
        Memory memory;
        std::size_t group_begin = begin;  // of the poses in `ahead`
        std::size_t group_end = begin;
        for (std::size_t n = begin; n < end; ++n) {
          if (options.stop_at_first && n > stop_after[n / length]) {  // to the next trajectory
            n = n - n % length + length - 1;
            continue;
          }
          if (looks_ahead && n >= group_end) {
            group_begin = n;
            group_end = std::min(n + group, end);
            look_ahead(egos, n, poses.subspan(n, group_end - n), options.margin, ahead);
          }
          const std::size_t i = looks_ahead ? n - group_begin : 0;
          Ego& ego = egos.at(n, i);
          const PoseResult result =
              timed         ? check(ego, poses[n], times[n], options)
              : looks_ahead ? check(ego, poses[n], options, Obstacles::at_rest(), ahead.at[i])
                            : check_next(ego, poses[n], options, memory);
          put(n, result);
          if (!options.stop_at_first || is_free(result.verdict)) continue;
          std::atomic<std::size_t>& stop = stop_after[n / length];
          std::size_t first = stop;
          while (n < first && !stop.compare_exchange_weak(first, n)) {
          }
        }
      };
    });
    for (std::size_t k = 0; k < stop_after.size(); ++k) {
      const std::size_t end = std::min(poses.size(), (k + 1) * length);
      for (std::size_t n = stop_after[k] + 1; n < end; ++n) put(n, {});
    }
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
  static constexpr std::size_t kNone = std::numeric_limits<std::size_t>::max();
  static constexpr double kInfinity = std::numeric_limits<double>::infinity();
  static constexpr std::size_t kAhead = 16;  // poses searched together

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
    if (may_meet_again()) ego.seen_of_.resize(size(), -1);
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
    ego.moving_.require_room(obstacles_.most_vertices());
    const bool exact = place_about(ego, pose, obstacles_.origin());
    ego.bounds_ = {};
    ego.known_ = ego.placed_.size() > 0;
    for (std::size_t i = 0; i < ego.placed_.size(); ++i) {
      ego.bounds_.include(ego.placed_.part(i).bounds());
      ego.known_ &= ego.placed_.part(i).known();
    }
    // If the ego is exact relative to the frame's origin but not to the obstacles', it is far from
    // them. Keep its exact position.
    const Vec2 zero;
    if (exact || pose.yaw != 0.0 || obstacles_.origin() == zero) return;
    if (!place_about(ego, pose, zero)) place_about(ego, pose, obstacles_.origin());
  }
  // Returns true if nothing was rounded.
  static bool place_about(Ego& ego, const Pose& pose, Vec2 origin) noexcept {
    const Transform at = Transform::from_pose(pose, origin);
    ego.origin_ = origin;
    bool exact = true;
    for (std::size_t k = 0; k < ego.placed_.size(); ++k) {
      const Convex local = ego.shape_->part(static_cast<int>(k));
      ego.placed_.replace(k, local, at);
      exact &= ego.placed_.part(k).convex.error <= local.error;
    }
    return exact;
  }

  // State passed from one pose of a batch to the next, in modes distance and witness.
  struct Memory {
    Pose pose{std::numeric_limits<double>::quiet_NaN(), 0.0, 0.0};
    std::size_t nearest_part = kNone;
  };

  // Results of look_ahead() for the next poses of a batch.
  struct Ahead {
    struct At {
      bool is_placed = false;  // the ego is placed there
      Exhausted search;        // complete: `near` holds all parts whose bounds overlap the ego's
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

  // Places an ego at each of the next poses, from pose `first` on, and searches the tree for all of
  // them together, so that their memory accesses overlap.
  void look_ahead(Egos& egos, std::size_t first, std::span<const Pose> poses, double margin,
                  Ahead& ahead) const {
    std::array<FloatBox, kAhead> boxes;
    const std::size_t count = poses.size();
    const double range = undecided_margin(obstacles_.range(Obstacles::at_rest(), margin));
    for (std::size_t i = 0; i < count; ++i) {
      Ego& ego = egos.at(first + i, i);
      place(ego, poses[i]);
      ahead.at[i] = {};
      ahead.at[i].is_placed = true;
      boxes[i] = FloatBox::around(ego.bounds_.grown(range));
    }
    std::size_t found = 0;
    const Exhausted search =
        obstacles_.overlapping(std::span(boxes).first(count), ahead.hits, found);
    if (!search.is_complete()) return;
    std::size_t end = 0;
    for (std::size_t query = 0; query < count; ++query) {
      const std::size_t begin = end;
      for (; end < found && ahead.hits[end].query == query; ++end) {
        obstacles_.prefetch(ahead.hits[end].item);
      }
      ahead.at[query].search = search;
      ahead.at[query].near = std::span(ahead.hits).subspan(begin, end - begin);
    }
  }

  // check() in modes distance and witness. If the pose is near the previous one, the search starts
  // at the part that was nearest there. The answer is the same, but most of the tree is skipped.
  PoseResult check_next(Ego& ego, const Pose& pose, const CheckOptions& options,
                        Memory& memory) const noexcept {
    const double moved = norm({pose.x - memory.pose.x, pose.y - memory.pose.y});
    const double turned = ego.reach_ * std::fabs(pose.yaw - memory.pose.yaw);
    if (!(options.warm_start && moved + turned <= ego.reach_)) memory.nearest_part = kNone;
    memory.pose = pose;
    return check(ego, pose, options, Obstacles::at_rest(), {}, &memory.nearest_part);
  }

  PoseResult check(Ego& ego, const Pose& pose, const CheckOptions& options,
                   const Obstacles::View& view, const Ahead::At& ahead,
                   std::size_t* nearest_part = nullptr) const noexcept {
    PoseResult result;
    if (!ahead.is_placed) place(ego, pose);
    if (!ego.known_ || !(options.margin >= 0.0 && options.margin <= kMaxCoordinate)) {
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
    if (options.mode == Mode::collide) {
      collide_at(ego, options.margin, view, ahead, decision, result);
    } else {
      std::size_t cold = kNone;
      distance_at(ego, options.margin, view, nearest_part != nullptr ? *nearest_part : cold,
                  decision, result);
      result.lower_bound = decision.lower();
    }
    result.verdict = decision.verdict();
    result.status = decision.status();
    return result;
  }

  // m. The distance that part k requires.
  double required_to(std::size_t k, const Obstacles::View& view, double margin) const noexcept {
    if (obstacles_.margins().none()) return margin;
    return obstacles_.required(static_cast<std::size_t>(obstacles_.owner(k)), view, margin);
  }

  // Certificate from the boxes of two parts.
  static Certificate apart(const PlacedParts::Part& a, const PlacedParts::Part& b) noexcept {
    if (!b.known()) return {};
    return Certificate::boxes(a.box(), b.box(), a.beyond_box() + b.beyond_box());
  }

  // Classifies every part within its required distance of the ego, until one collides.
  void collide_at(Ego& ego, double margin, const Obstacles::View& view, const Ahead::At& ahead,
                  Decision& decision, PoseResult& result) const noexcept {
    const auto look_at = [&](std::uint32_t k) noexcept {
      const Obstacles::Found found = obstacles_.find(k, view, ego.origin_, ego.moving_);
      if (!found) return false;
      const double required = required_to(k, view, margin);
      for (std::size_t i = 0; i < ego.placed_.size(); ++i) {
        const Verdict verdict = classify(ego.placed_.convex(i), found.convex(), required);
        if (decision.take(verdict, {}, required)) {
          result.nearest = obstacles_.owner(k);
        }
      }
      return decision.verdict() == Verdict::collision;
    };
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
    const auto look_at = [&](std::size_t k) noexcept {
      const Obstacles::Found found = obstacles_.find(k, view, ego.origin_, ego.moving_);
      if (!found) return;
      const double required = required_to(k, view, margin);
      for (std::size_t i = 0; i < ego.placed_.size(); ++i) {
        const Convex a = ego.placed_.convex(i);
        const Convex b = found.convex();
        const double certain = free_above(a, b, required);
        const Certificate boxes = apart(ego.placed_.part(i), found.part());
        if (boxes.lower() > best.distance && boxes.proves(certain)) {
          decision.take(boxes, required);
          continue;
        }
        const Closest closest = gjk::closest(a, b);
        const std::size_t pair = pair_number(ego, i, k);
        if (closest.distance < best.distance ||
            (closest.distance == best.distance && pair < best_pair)) {
          best = closest;
          best_pair = pair;
          result.nearest = obstacles_.owner(k);
        }
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

  // An obstacle with several parts may be visited more than once.
  bool may_meet_again() const noexcept { return parts() > size(); }

  // Records part k for its obstacle, unless it is farther than `limit` (m).
  std::size_t meet(Ego& ego, std::size_t k, const Obstacles::View& view, double limit) const {
    const Obstacles::Found found = obstacles_.find(k, view, ego.origin_, ego.moving_);
    const std::int64_t owner = obstacles_.owner(k);
    std::size_t met = kNone;
    if (!found) return met;
    std::int32_t before = -1;
    std::int32_t& index = may_meet_again() ? ego.seen_of_[static_cast<std::size_t>(owner)] : before;
    for (std::size_t i = 0; i < ego.placed_.size(); ++i) {
      const Certificate boxes = apart(ego.placed_.part(i), found.part());
      if (boxes.lower() > limit) continue;
      Closest closest = gjk::closest(ego.placed_.convex(i), found.convex());
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
};

}  // namespace gjk
