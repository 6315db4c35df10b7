// SPDX-FileCopyrightText: gjk_collision contributors
// SPDX-License-Identifier: Apache-2.0
// Neighbouring poses of a batch, which search the tree together and are compared with each part in
// lanes; see narrow/pose_lanes.hpp.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>

#include "gjk/broad/boxes.hpp"
#include "gjk/broad/bvh.hpp"
#include "gjk/broad/exhausted.hpp"
#include "gjk/certificate.hpp"
#include "gjk/narrow/pose_lanes.hpp"
#include "gjk/scene/time_slice.hpp"
#include "gjk/shape/box.hpp"
#include "gjk/shape/convex.hpp"
#include "gjk/shape/pose.hpp"
#include "gjk/shape/vec2.hpp"

namespace gjk {

// Up to eight poses of one ego.
class PoseGroup {
 public:
  PoseGroup() = default;
  // Takes poses of a batch, by their numbers, from the first one on: up to eight. It ends before a
  // pose with which the box around the positions would be wider than 4 reaches of the ego, and
  // before a value that is NaN or out of range. It refers to the numbers, which ascend.
  PoseGroup(const LaneShape& ego, std::span<const Pose> poses,
            std::span<const std::size_t> numbers) noexcept
      : ego_(&ego), poses_(poses.data()), numbers_(numbers.data()) {
    const int count = static_cast<int>(std::min<std::size_t>(numbers.size(), kPoseLanes));
    const double wide = 4.0 * ego.reach();
    const auto fits = [wide](const Box& box) noexcept {
      return box.high.x - box.low.x <= wide && box.high.y - box.low.y <= wide;
    };
    Box even;  // two boxes, because each step waits for the one before it
    Box odd;
    bool are_in_domain = true;
    const auto include = [&](int k, Box& box) noexcept {
      are_in_domain &= is_in_domain(pose(k));
      box.include(position(k));
    };
    int k = 0;
    for (; k + 1 < count; k += 2) {
      include(k, even);
      include(k + 1, odd);
    }
    if (k < count) include(k, even);
    even.include(odd);
    if (are_in_domain && fits(even)) {  // in most cases
      box_ = even;
      size_ = count;
      return;
    }
    for (; size_ < count && is_in_domain(pose(size_)); ++size_) {
      Box grown = box_;
      grown.include(position(size_));
      if (!fits(grown)) return;
      box_ = grown;
    }
  }
  int size() const noexcept { return size_; }
  // Whether the numbers of its poses follow each other.
  bool is_run() const noexcept {
    return number(size_ - 1) - number(0) + 1 == static_cast<std::size_t>(size_);
  }
  unsigned all() const noexcept { return (1U << size_) - 1U; }
  std::size_t number(int k) const noexcept { return numbers_[k]; }

  // Whether rounding errors far from the origins of the frame and of the obstacles are below 2^-26
  // of the ego's reach.
  bool is_in_range(Vec2 origin) const noexcept {
    const Vec2 at = box_.center();
    const auto largest = [](Vec2 v) noexcept { return larger(std::fabs(v.x), std::fabs(v.y)); };
    return largest(at) <= 0x1p+26 * ego_->reach() &&
           largest(at - origin) <= 0x1p+20 * ego_->reach();
  }
  // Contains the ego at all poses, relative to the obstacles' origin. 2^-24 of the reach are more
  // than the rounding errors and undecided() of the placed ego.
  Box bounds(Vec2 origin) const noexcept { return grown(origin, 0.0); }
  // The same, and what is within `range` (m).
  FloatBox around(Vec2 origin, double range) const noexcept {
    return FloatBox::around(grown(origin, undecided_margin(range)));
  }
  const Pose& pose(int k) const noexcept { return poses_[number(k)]; }

  // What is known of the poses. Bit k: of pose k.
  struct Answers {
    CertificatesInLanes free;
    unsigned hit = 0;
    std::array<std::uint32_t, kPoseLanes> part{};  // that pose k hits
  };
  // Compares the poses with the parts that a search with around() has found, in their order. A pose
  // hits the first part that is not proven apart, or is left open. found(k): part k;
  // required(k): m, the distance it requires. `until_hit`: poses after one that hits are left open.
  template <class FoundAt, class RequiredTo>
  Answers compare(const Exhausted& search, std::span<const Bvh::Hit> near, Vec2 origin,
                  const FoundAt& found, const RequiredTo& required, bool until_hit) const noexcept {
    Answers answers;
    answers.free = CertificatesInLanes(search, all());
    if (near.empty()) return answers;
    simd::on_widest([&](auto set) noexcept {
      using Lanes = typename PoseLanesOf<decltype(set)>::Type;
      const Vec2 centre = box_.center();
      const Vec2 offset = origin - centre;
      const auto pose_in = [this](int lane) noexcept -> const Pose& {
        return pose(std::min(lane, size_ - 1));
      };
      Lanes lanes(*ego_, centre, pose_in);
      for (const Bvh::Hit& hit : near) {
        const unsigned open = answers.free.poses();
        if (open == 0) return;
        const FoundPart& part = found(hit.item);
        if (!part || !part.part().is_known() || part.part().size() > LaneShape::kMost) {
          return answers.free.take({});
        }
        const LanePart q(part.part().box(), part.part().radius(), part.part().error(), offset,
                         required(hit.item), ego_->reach());
        if (!q.is_in_range()) return answers.free.take({});
        const ApartInLanes circles = lanes.circles(q);
        if ((open & ~circles.poses()) == 0) {
          answers.free.take(circles);
          continue;
        }
        lanes.turn(pose_in);
        const PackedParts::Vertices at = part.in->vertices(part.index);
        const LaneVertices vertices(at.x, at.y, at.size, offset);
        unsigned overlapping = 0;
        for (const LaneShape::Part& own : ego_->parts()) {
          typename Lanes::Met met = lanes.axes(own, q, vertices, open & ~circles.poses());
          met.apart.include(circles);
          answers.free.take(met.apart);
          overlapping |= met.overlapping;
        }
        answers.hit |= overlapping;
        if (until_hit && overlapping != 0) answers.free.drop(~(answers.hit ^ (answers.hit - 1U)));
        for (; overlapping != 0; overlapping &= overlapping - 1) {
          answers.part[static_cast<std::size_t>(std::countr_zero(overlapping))] = hit.item;
        }
      }
    });
    return answers;
  }

 private:
  Box grown(Vec2 origin, double by) const noexcept {
    const Box relative{box_.low - origin, box_.high - origin};
    return relative.grown(ego_->reach() * (1.0 + 0x1p-24) + by);
  }
  Vec2 position(int k) const noexcept { return {pose(k).x, pose(k).y}; }

  const LaneShape* ego_ = nullptr;
  const Pose* poses_ = nullptr;
  const std::size_t* numbers_ = nullptr;
  Box box_;  // of the positions
  int size_ = 0;
};

}  // namespace gjk
