// SPDX-FileCopyrightText: gjk_collision contributors
// SPDX-License-Identifier: Apache-2.0
// Mode distance at neighbouring poses of a batch, which search the tree together and are compared
// with each part in lanes; see narrow/distance_lanes.hpp.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "gjk/arithmetic.hpp"
#include "gjk/certificate.hpp"
#include "gjk/narrow/distance_lanes.hpp"
#include "gjk/narrow/separation.hpp"
#include "gjk/query.hpp"
#include "gjk/scene/obstacles.hpp"
#include "gjk/scene/packed_parts.hpp"
#include "gjk/scene/pose_groups.hpp"
#include "gjk/shape/box.hpp"
#include "gjk/shape/convex.hpp"
#include "gjk/shape/placing.hpp"
#include "gjk/shape/pose.hpp"
#include "gjk/shape/shape.hpp"

namespace gjk {

// The signed distances of a group of poses to the obstacles at rest, whose parts must not have more
// than LaneOutline::kMost vertices. An answer does not depend on the other poses of the group.
class DistanceGroup {
 public:
  struct Answer {
    bool is_known = false;  // else the distance at this pose is not known
    Decision decision;
    double distance = kInfinity;  // m
    std::int64_t pair = -1;       // part times parts of the ego; -1: there is none
  };

  // required(k): m, the distance that part k requires, at least the margin.
  template <class RequiredTo>
  void compare(const PoseGroup& group, const Shape& ego, const Obstacles& obstacles, double margin,
               const RequiredTo& required) {
    place(group, ego, margin, obstacles.origin());
    const Obstacles::View view = Obstacles::at_rest();
    const double range = undecided_margin(obstacles.range(view, margin));
    const auto limit = [&]() noexcept {
      double most = range;
      for (const double distance : nearest_.distance) most = larger(most, distance);
      return most;
    };
    const Exhausted search = obstacles.nearest(group.bounds(obstacles.origin()), limit(), view,
                                               [&](std::uint32_t k) noexcept {
                                                 meet(ego, obstacles.at_rest(k), k, required(k));
                                                 return limit();
                                               });
    for (std::size_t k = 0; k < kDistanceLanes; ++k) {
      decisions_[k].take(Certificate::in_lane(nearest_.bounds, k));
      decisions_[k].take(Certificate::exhausted(search, larger(nearest_.distance[k], range)));
    }
  }
  Answer at(int pose) const noexcept {
    const auto k = static_cast<std::size_t>(pose);
    const double distance = nearest_.distance[k];
    // Such pairs that only other poses of the group need have no effect.
    const bool is_known = is_wanted(k) && !(unsure_[k] <= distance);
    return {is_known, decisions_[k], distance, nearest_.pair[k] == kNone ? -1 : nearest_.pair[k]};
  }

 private:
  static constexpr std::int64_t kNone = std::numeric_limits<std::int64_t>::max();

  bool is_wanted(std::size_t k) const noexcept { return nearest_.distance[k] > -kInfinity; }
  void give_up(std::size_t k) noexcept { nearest_.distance[k] = -kInfinity; }

  // Places the ego. Poses without a rotation are left to the query of one pose, which is exact.
  void place(const PoseGroup& group, const Shape& ego, double margin, Vec2 origin) {
    parts_.resize(static_cast<std::size_t>(ego.parts()));
    const auto pose = [&](int lane) noexcept -> const Pose& {
      return group.pose(std::min(lane, group.size() - 1));
    };
    double yaws[kDistanceLanes];
    for (int lane = 0; lane < kDistanceLanes; ++lane) yaws[lane] = pose(lane).yaw;
    simd::on_widest(
        [&](auto set) noexcept { DistanceLanesOf<decltype(set)>::Type::turn(yaws, at_); });
    nearest_.bounds = {};
    for (int lane = 0; lane < kDistanceLanes; ++lane) {
      const auto k = static_cast<std::size_t>(lane);
      Transform& at = transforms_[k];
      at = Transform::from_pose(pose(lane), {at_.sin[lane], at_.cos[lane]}, origin, 0.0);
      at_.x[lane] = at.t.x;
      at_.y[lane] = at.t.y;
      bool is_usable = at.is_rotated() && lane < group.size();
      for (int i = 0; i < ego.parts(); ++i) {
        const Convex local = ego.part(i);
        LaneEgo& placed = part(i);
        const double extent = placed_extent(local, at);
        is_usable &= extent <= kMaxCoordinate;
        // A coordinate may be tiny.
        const double error =
            larger(placed_error(local, at, at.error(local.extent)), kMinExactCoordinate);
        placed.error[lane] = error;
        placed.margin[lane] = undecided(Placed{local.radius, extent, error});
        const Box box = box_at(local, at);
        placed.low_x[lane] = box.low.x;
        placed.low_y[lane] = box.low.y;
        placed.high_x[lane] = box.high.x;
        placed.high_y[lane] = box.high.y;
      }
      nearest_.distance[lane] = is_usable ? kInfinity : -kInfinity;
      nearest_.pair[lane] = kNone;
      decisions_[k] = Decision(margin);
      unsure_[k] = kNaN;
    }
    for (int i = 0; i < ego.parts(); ++i) {
      part(i).radius = ego.part(i).radius;
      simd::on_widest([&](auto set) noexcept {
        DistanceLanesOf<decltype(set)>::Type::place(ego.part(i), at_, part(i).outline);
      });
    }
  }

  void meet(const Shape& ego, const FoundPart& found, std::size_t number,
            double required) noexcept {
    if (!found || !found.part().is_known()) {
      for (std::size_t k = 0; k < kDistanceLanes; ++k) give_up(k);
      return;
    }
    const Convex q = found.part().facts();
    const PackedParts::Vertices vertices = found.in->vertices(found.index);
    for (int i = 0; i < ego.parts(); ++i) {
      const std::size_t pair = number * parts_.size() + static_cast<std::size_t>(i);
      const LaneObstacle obstacle(q, required, pair);
      LaneOpen open;
      simd::on_widest([&](auto set) noexcept {
        using Lanes = typename DistanceLanesOf<decltype(set)>::Type;
        Lanes::compare(part(i), obstacle, vertices, at_, nearest_, open);
      });
      for (; open.poses != 0; open.poses &= open.poses - 1) {
        const auto k = static_cast<std::size_t>(std::countr_zero(open.poses));
        take(open, k, obstacle.pair, required, [&]() noexcept {
          return classify(room_.place(ego.part(i), transforms_[k]), found.convex(), required);
        });
      }
    }
  }

  // classify(): the verdict of the query of two parts.
  template <class Classify>
  void take(const LaneOpen& open, std::size_t k, std::int64_t pair, double required,
            const Classify& classify) noexcept {
    const Certificate bound = Certificate::in_lane(open.bounds, k);
    const bool is_clear = (open.clear >> k & 1U) != 0;
    const double distance = open.distance[k];
    if ((open.known >> k & 1U) == 0) {
      unsure_[k] = std::fmin(unsure_[k], bound.lower());
      decisions_[k].take(bound, required);
      if (!is_clear) give_up(k);
      return;
    }
    const bool is_hit = distance < -open.contact[k];
    decisions_[k].take(is_hit ? Verdict::collision : classify(), bound, required);
    double& least = nearest_.distance[k];
    std::int64_t& of = nearest_.pair[k];
    if (distance < least || (distance == least && pair < of)) {
      least = distance;
      of = pair;
    }
  }

  LaneEgo& part(int i) noexcept { return parts_[static_cast<std::size_t>(i)]; }

  // What undecided() needs of a part at a pose.
  struct Placed {
    double radius;  // m
    double extent;  // m, rounded up
    double error;   // m
  };

  std::array<Transform, kDistanceLanes> transforms_;
  LaneTransforms at_;           // the same
  std::vector<LaneEgo> parts_;  // of the ego
  Room room_;
  LaneNearest nearest_;
  std::array<Decision, kDistanceLanes> decisions_;
  std::array<double, kDistanceLanes> unsure_{};  // m. The least bound of the pairs whose distance
                                                 // is not known; NaN: there is none
};

}  // namespace gjk
