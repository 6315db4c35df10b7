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
    Decision decision{0.0};
    // m. Lower bound of the distance of all pairs whose distance is not known; NaN: there is none.
    double unsure = std::numeric_limits<double>::quiet_NaN();
    double distance = std::numeric_limits<double>::infinity();   // m
    std::size_t pair = std::numeric_limits<std::size_t>::max();  // part times parts of the ego
  };

  // required(k): m, the distance that part k requires, at least the margin.
  template <class RequiredTo>
  const std::array<Answer, kDistanceLanes>& compare(const PoseGroup& group, const Shape& ego,
                                                    const Obstacles& obstacles, double margin,
                                                    const RequiredTo& required) {
    answers_ = {};
    place(group, ego, margin, obstacles.origin());
    const Obstacles::View view = Obstacles::at_rest();
    const double range = undecided_margin(obstacles.range(view, margin));
    const auto limit_of = [&](int k) noexcept { return larger(answer(k).distance, range); };
    const auto limit = [&]() noexcept {
      double most = range;
      for (int k = 0; k < group.size(); ++k) {
        if (answer(k).is_known) most = larger(most, limit_of(k));
      }
      return most;
    };
    const Exhausted search = obstacles.nearest(
        group.bounds(obstacles.origin()), limit(), view, [&](std::uint32_t k) noexcept {
          meet(group, ego, obstacles.at_rest(k), k, required(k));
          return limit();
        });
    for (int k = 0; k < group.size(); ++k) {
      answer(k).decision.take(Certificate::exhausted(search, limit_of(k)));
      // Such pairs that only other poses of the group need have no effect.
      answer(k).is_known &= !(answer(k).unsure <= answer(k).distance);
    }
    return answers_;
  }

 private:
  Answer& answer(int k) noexcept { return answers_[static_cast<std::size_t>(k)]; }

  // A part of the ego at a pose.
  struct Placed {
    double radius = 0.0;  // m
    double extent = 0.0;  // m, rounded up
    double error = 0.0;   // m
    Box box;              // contains the part
  };
  struct Part {
    LaneOutline outline;
    std::array<Placed, kDistanceLanes> at;
  };

  // Places the ego. Poses without a rotation are left to the query of one pose, which is exact.
  void place(const PoseGroup& group, const Shape& ego, double margin, Vec2 origin) {
    parts_.resize(static_cast<std::size_t>(ego.parts()));
    for (int lane = 0; lane < kDistanceLanes; ++lane) {
      Transform& at = transforms_[static_cast<std::size_t>(lane)];
      at = Transform::from_pose(group.pose(std::min(lane, group.size() - 1)), origin);
      bool is_usable = at.is_rotated() && lane < group.size();
      at_.cos[lane] = at.cos;
      at_.sin[lane] = at.sin;
      at_.x[lane] = at.t.x;
      at_.y[lane] = at.t.y;
      for (int i = 0; i < ego.parts(); ++i) {
        const Convex local = ego.part(i);
        Placed& placed = part(i).at[static_cast<std::size_t>(lane)];
        placed.radius = local.radius;
        placed.extent = placed_extent(local, at);
        is_usable &= placed.extent <= kMaxCoordinate;
        const double error = placed_error(local, at, at.error(local.extent));
        placed.error = larger(error, kMinExactCoordinate);  // a coordinate may be tiny
        placed.box = box_at(local, at);
      }
      answer(lane).is_known = is_usable;
      answer(lane).decision = Decision(margin);
    }
    for (int i = 0; i < ego.parts(); ++i) {
      simd::on_widest([&](auto set) noexcept {
        DistanceLanesOf<decltype(set)>::Type::place(ego.part(i), at_, part(i).outline);
      });
    }
  }

  void meet(const PoseGroup& group, const Shape& ego, const FoundPart& found, std::size_t number,
            double required) noexcept {
    if (!found || !found.part().is_known()) {
      answers_ = {};
      return;
    }
    const Convex q = found.part().facts();
    const PackedParts::Vertices vertices = found.in->vertices(found.index);
    for (int i = 0; i < ego.parts(); ++i) {
      std::array<Certificate, kDistanceLanes> boxes;
      unsigned open = 0;
      for (int k = 0; k < group.size(); ++k) {
        if (!answer(k).is_known) continue;
        const Placed& p = part(i).at[static_cast<std::size_t>(k)];
        Certificate& apart = boxes[static_cast<std::size_t>(k)];
        apart = Certificate::boxes(p.box, q.box(), q.beyond_box());
        if (apart.lower() > answer(k).distance && apart.proves(certain(p, q, required))) {
          answer(k).decision.take(apart, required);
        } else {
          open |= 1U << k;
        }
      }
      if (open == 0) continue;
      LaneDistances lanes;
      simd::on_widest([&](auto set) noexcept {
        using Lanes = typename DistanceLanesOf<decltype(set)>::Type;
        Lanes::measure(part(i).outline, vertices, at_, lanes);
      });
      const std::size_t pair = number * parts_.size() + static_cast<std::size_t>(i);
      for (; open != 0; open &= open - 1) {
        const int k = std::countr_zero(open);
        const auto lane = static_cast<std::size_t>(k);
        const auto classified = [&]() noexcept {
          return classify(room_.place(ego.part(i), transforms_[lane]), found.convex(), required);
        };
        take(OutlineDistance(lanes, k), part(i).at[lane], q, required, boxes[lane], pair, answer(k),
             classified);
      }
    }
  }

  // m. Above it, a bound proves FREE in any query; see free_above().
  static double certain(const Placed& p, const Convex& q, double required) noexcept {
    return undecided_margin(required) + undecided(p) + undecided(q);
  }

  // classify(): the verdict of the query of two parts.
  template <class Classify>
  static void take(const OutlineDistance& found, const Placed& p, const Convex& q, double required,
                   const Certificate& boxes, std::size_t pair, Answer& answer,
                   const Classify& classify) noexcept {
    const Certificate along = Certificate::along(p, q, found.of_p, found.of_q, found.towards);
    const Certificate bound = stronger(along, boxes);
    const bool is_clear = bound.proves(certain(p, q, required));
    const double distance = detail::surface_bounds(p, q, {found.upper, found.upper}).upper;
    const double tolerance = found.tolerance + certain(p, q, 0.0);
    if (found.is_contact || !(distance - along.lower() <= tolerance)) {
      answer.unsure = std::fmin(answer.unsure, bound.lower());
      answer.is_known &= is_clear;
      answer.decision.take(bound, required);
      return;
    }
    if (is_clear) {
      answer.decision.take(bound, required);
    } else {
      const bool is_hit = distance < -certain(p, q, 0.0);
      answer.decision.take(is_hit ? Verdict::collision : classify(), bound, required);
    }
    if (distance < answer.distance || (distance == answer.distance && pair < answer.pair)) {
      answer.distance = distance;
      answer.pair = pair;
    }
  }

  Part& part(int i) noexcept { return parts_[static_cast<std::size_t>(i)]; }

  std::array<Transform, kDistanceLanes> transforms_;
  LaneTransforms at_;        // the same
  std::vector<Part> parts_;  // of the ego
  Room room_;
  std::array<Answer, kDistanceLanes> answers_;
};

}  // namespace gjk
