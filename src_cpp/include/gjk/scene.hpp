// SPDX-FileCopyrightText: gjk_collision contributors
// SPDX-License-Identifier: Apache-2.0
// Many obstacles, and the ego shape at many poses among them.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "gjk/collide.hpp"
#include "gjk/convex.hpp"
#include "gjk/distance.hpp"
#include "gjk/expansion.hpp"
#include "gjk/pose.hpp"
#include "gjk/shape.hpp"
#include "gjk/verdict.hpp"

namespace gjk {

// Axis-aligned bounding box, m.
struct Box {
  Vec2 low{std::numeric_limits<double>::infinity(), std::numeric_limits<double>::infinity()};
  Vec2 high{-std::numeric_limits<double>::infinity(), -std::numeric_limits<double>::infinity()};

  void include(Vec2 p) noexcept {
    low = {std::fmin(low.x, p.x), std::fmin(low.y, p.y)};
    high = {std::fmax(high.x, p.x), std::fmax(high.y, p.y)};
  }
  // Per axis, how far the boxes are apart; 0 where they overlap.
  Vec2 gap(const Box& other) const noexcept {
    return {std::fmax(0.0, std::fmax(low.x - other.high.x, other.low.x - high.x)),
            std::fmax(0.0, std::fmax(low.y - other.high.y, other.low.y - high.y))};
  }
};

// Convex parts placed in the scene's local frame; owns their coordinates.
//
// A placed vertex is computed once; how far it can be from its true place is kept per part, 0 when
// the placement was exact.
class PlacedParts {
 public:
  struct Part {
    Convex convex;  // its pointers are set by part()
    std::size_t begin = 0;
    std::int32_t owner = 0;  // index of the obstacle
    Box box;                 // of the vertices, without the radius
  };

  void clear() noexcept {
    x_.clear();
    y_.clear();
    parts_.clear();
  }
  std::size_t size() const noexcept { return parts_.size(); }
  Convex convex(std::size_t i) const noexcept {
    Convex c = parts_[i].convex;
    c.x = x_.data() + parts_[i].begin;
    c.y = y_.data() + parts_[i].begin;
    return c;
  }
  const Part& part(std::size_t i) const noexcept { return parts_[i]; }

  // Adds the parts of `shape` at `pose`, relative to `origin`.
  void place(const Shape& shape, const Pose& pose, Vec2 origin, std::int32_t owner) {
    Transform transform = Transform::from_pose(pose);
    const TwoTerms tx = two_difference(pose.x, origin.x);
    const TwoTerms ty = two_difference(pose.y, origin.y);
    transform.t = {tx.high, ty.high};
    const bool rotated = transform.cos != 1.0 || transform.sin != 0.0;
    for (int k = 0; k < shape.parts(); ++k) {
      const Convex local = shape.part(k);
      const std::size_t begin = x_.size();
      double rounding = 0.0;  // of an unrotated placement: what the sums really lost
      for (int i = 0; i < local.size; ++i) {
        const Vec2 v = local.vertex(i);
        if (rotated) {
          const Vec2 at = transform.apply(v);
          x_.push_back(at.x);
          y_.push_back(at.y);
        } else {
          const TwoTerms sx = two_sum(v.x, tx.high);
          const TwoTerms sy = two_sum(v.y, ty.high);
          x_.push_back(sx.high);
          y_.push_back(sy.high);
          rounding = std::fmax(rounding, std::fabs(sx.low) + std::fabs(sy.low));
        }
      }
      if (rotated) rounding = transform.error(local.extent);
      rounding += std::fabs(tx.low) + std::fabs(ty.low);

      Part part;
      part.begin = begin;
      part.owner = owner;
      part.convex =
          Convex::view(x_.data() + begin, y_.data() + begin, local.size, local.radius);
      part.convex.error = std::fmax(part.convex.error, local.error + 2.0 * rounding);
      for (std::size_t i = begin; i < x_.size(); ++i) part.box.include({x_[i], y_[i]});
      parts_.push_back(part);
    }
  }

 private:
  std::vector<double> x_;
  std::vector<double> y_;
  std::vector<Part> parts_;
};

enum class Mode : std::uint8_t { collide = 0, distance = 1, witness = 2 };

struct CheckOptions {
  double margin = 0.0;  // m
  Mode mode = Mode::collide;
  bool stop_at_first = false;  // the poses after the first that is not free stay UNKNOWN
};

// The answer at one pose.
struct PoseResult {
  Verdict verdict = Verdict::unknown;
  Status status = Status::undefined;
  double distance = std::numeric_limits<double>::quiet_NaN();     // m; modes distance, witness
  double lower_bound = std::numeric_limits<double>::quiet_NaN();  // m
  std::int64_t nearest = -1;                                      // obstacle index, -1: none
  Vec2 witness_ego{std::numeric_limits<double>::quiet_NaN(),
                   std::numeric_limits<double>::quiet_NaN()};
  Vec2 witness_obstacle = witness_ego;
};

struct Nearest {
  std::int64_t obstacle = -1;
  Closest closest;  // a: ego, b: obstacle; in the frame of the poses
};

// Immutable after build(); queries are const and may run on many threads, each with its own Ego.
class Scene {
 public:
  // The ego shape and the room for its placed copy, so that no query allocates after the first.
  class Ego {
   public:
    explicit Ego(const Shape& shape) : shape_(&shape) {}

   private:
    friend class Scene;
    const Shape* shape_;
    PlacedParts placed_;
  };

  void reserve(std::size_t obstacles) {
    shapes_.reserve(obstacles);
    poses_.reserve(obstacles);
  }
  void add(Shape shape, const Pose& pose) {
    shapes_.push_back(std::move(shape));
    poses_.push_back(pose);
  }

  // Places all obstacles about a local origin near their middle, so that coordinates stay small and
  // their rounding with them. Scenes about the frame's own origin keep it: their doubles stay exact.
  void build() {
    Box box;
    for (std::size_t i = 0; i < shapes_.size(); ++i) {
      const Transform transform = Transform::from_pose(poses_[i]);
      for (int k = 0; k < shapes_[i].parts(); ++k) {
        const Convex part = shapes_[i].part(k);
        for (int v = 0; v < part.size; ++v) box.include(transform.apply(part.vertex(v)));
      }
    }
    constexpr double kGrid = 1024.0;
    const auto round_to_grid = [](double low, double high) noexcept {
      return std::rint(0.5 * (low + high) / kGrid) * kGrid;
    };
    if (!shapes_.empty()) {
      origin_ = {round_to_grid(box.low.x, box.high.x), round_to_grid(box.low.y, box.high.y)};
    }
    obstacles_.clear();
    for (std::size_t i = 0; i < shapes_.size(); ++i) {
      obstacles_.place(shapes_[i], poses_[i], origin_, static_cast<std::int32_t>(i));
    }
  }

  std::size_t size() const noexcept { return shapes_.size(); }
  std::size_t parts() const noexcept { return obstacles_.size(); }

  PoseResult check(Ego& ego, const Pose& pose, const CheckOptions& options) const {
    place(ego, pose);
    return options.mode == Mode::collide ? collide_at(ego, options.margin)
                                         : distance_at(ego, options.margin);
  }

  // One result per pose, in their order.
  void check(Ego& ego, std::span<const Pose> poses, const CheckOptions& options,
             std::span<PoseResult> results) const {
    for (std::size_t n = 0; n < poses.size(); ++n) {
      results[n] = check(ego, poses[n], options);
      if (options.stop_at_first && results[n].verdict != Verdict::free) {
        std::fill(results.begin() + static_cast<std::ptrdiff_t>(n) + 1, results.end(), PoseResult{});
        return;
      }
    }
  }

  // The k nearest obstacles no farther than max_distance (m), by ascending distance.
  void nearest(Ego& ego, const Pose& pose, std::size_t k, double max_distance,
               std::vector<Nearest>& result) const {
    place(ego, pose);
    result.clear();
    for (std::size_t j = 0; j < obstacles_.size(); ++j) {
      const std::int64_t owner = obstacles_.part(j).owner;
      Nearest candidate{owner, {}};
      candidate.closest.distance = std::numeric_limits<double>::infinity();
      const bool same_obstacle = !result.empty() && result.back().obstacle == owner;
      if (same_obstacle) candidate = result.back();
      bool within = same_obstacle;
      for (std::size_t i = 0; i < ego.placed_.size(); ++i) {
        if (box_distance(ego, i, j) > max_distance) continue;
        const Closest closest = gjk::closest(ego.placed_.convex(i), obstacles_.convex(j));
        if (closest.distance > max_distance) continue;
        within = true;
        merge(candidate.closest, closest);
      }
      if (!within) continue;
      if (same_obstacle) {
        result.back() = candidate;
      } else {
        result.push_back(candidate);
      }
    }
    const std::size_t count = std::min(k, result.size());
    std::partial_sort(result.begin(), result.begin() + static_cast<std::ptrdiff_t>(count),
                      result.end(), [](const Nearest& a, const Nearest& b) {
                        if (a.closest.distance != b.closest.distance) {
                          return a.closest.distance < b.closest.distance;
                        }
                        return a.obstacle < b.obstacle;
                      });
    result.resize(count);
    for (Nearest& n : result) {
      n.closest.point_a = n.closest.point_a + origin_;
      n.closest.point_b = n.closest.point_b + origin_;
    }
  }

 private:
  void place(Ego& ego, const Pose& pose) const {
    ego.placed_.clear();
    ego.placed_.place(*ego.shape_, pose, origin_, 0);
  }

  // A certified lower bound (m) on the distance of two parts, from their boxes.
  double box_distance(const Ego& ego, std::size_t i, std::size_t j) const noexcept {
    const PlacedParts::Part& a = ego.placed_.part(i);
    const PlacedParts::Part& b = obstacles_.part(j);
    const Vec2 gap = a.box.gap(b.box);
    const double reach = a.convex.radius + b.convex.radius + a.convex.error + b.convex.error;
    return norm(gap) * (1.0 - 8.0 * kUnitRoundoff) - reach * (1.0 + 8.0 * kUnitRoundoff);
  }

  // The smaller distance wins, and the smaller lower bound holds for both.
  static void merge(Closest& best, const Closest& other) noexcept {
    const double lower = std::fmin(best.lower_bound, other.lower_bound);
    const bool first = best.status == Status::undefined;
    if (first || other.distance < best.distance) best = other;
    if (!first) best.lower_bound = lower;
  }

  static int rank(Verdict v) noexcept {  // COLLISION > UNKNOWN > MARGIN > FREE
    switch (v) {
      case Verdict::collision:
        return 3;
      case Verdict::unknown:
        return 2;
      case Verdict::margin:
        return 1;
      case Verdict::free:
        break;
    }
    return 0;
  }

  PoseResult collide_at(const Ego& ego, double margin) const {
    PoseResult result{Verdict::free, Status::success};
    for (std::size_t j = 0; j < obstacles_.size(); ++j) {
      for (std::size_t i = 0; i < ego.placed_.size(); ++i) {
        if (box_distance(ego, i, j) > margin) continue;
        const Verdict verdict = classify(ego.placed_.convex(i), obstacles_.convex(j), margin);
        if (rank(verdict) > rank(result.verdict)) {
          result.verdict = verdict;
          result.nearest = obstacles_.part(j).owner;
          if (verdict == Verdict::unknown) result.status = Status::numeric_failure;
          if (verdict == Verdict::collision) {
            result.status = Status::success;
            return result;
          }
        }
      }
    }
    return result;
  }

  PoseResult distance_at(const Ego& ego, double margin) const {
    PoseResult result{Verdict::free, Status::success};
    Closest best;
    best.distance = best.lower_bound = std::numeric_limits<double>::infinity();
    for (std::size_t j = 0; j < obstacles_.size(); ++j) {
      for (std::size_t i = 0; i < ego.placed_.size(); ++i) {
        const double box = box_distance(ego, i, j);
        if (box > best.distance) continue;
        const Convex a = ego.placed_.convex(i);
        const Convex b = obstacles_.convex(j);
        const Closest closest = gjk::closest(a, b);
        if (best.status == Status::undefined || closest.distance < best.distance) {
          result.nearest = obstacles_.part(j).owner;
        }
        merge(best, closest);
        if (closest.lower_bound > margin) continue;
        const Verdict verdict = classify(a, b, margin);
        if (rank(verdict) > rank(result.verdict)) result.verdict = verdict;
      }
    }
    if (result.verdict == Verdict::unknown) result.status = Status::numeric_failure;
    result.distance = best.distance;
    result.lower_bound = best.lower_bound;
    if (best.status == Status::undefined) return result;  // no obstacle
    result.witness_ego = best.point_a + origin_;
    result.witness_obstacle = best.point_b + origin_;
    return result;
  }

  std::vector<Shape> shapes_;
  std::vector<Pose> poses_;
  PlacedParts obstacles_;
  Vec2 origin_;
};

}  // namespace gjk
