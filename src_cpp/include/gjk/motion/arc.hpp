// SPDX-FileCopyrightText: gjk_collision contributors
// SPDX-License-Identifier: Apache-2.0
// Curves of circular arcs and straight lines, as a vehicle drives them.
#pragma once

#include <cmath>
#include <span>

#include "gjk/motion/motion.hpp"
#include "gjk/shape/pose.hpp"
#include "gjk/shape/vec2.hpp"

namespace gjk {

struct Arc {
  double curvature = 0.0;  // 1/m, positive: turns left when driving forwards
  double length = 0.0;     // m, negative: drives backwards
};

// Arcs that follow one another from a start pose. The view does not own the arcs.
struct ArcPath {
  Pose start;
  std::span<const Arc> arcs;

  double length() const noexcept {  // m
    double sum = 0.0;
    for (const Arc& arc : arcs) sum += std::fabs(arc.length);
    return sum;
  }
  // rad. The yaw of the start and all turns, as magnitudes.
  double turns() const noexcept {
    double sum = 0.0;
    for (const Arc& arc : arcs) sum += std::fabs(arc.curvature * arc.length);
    return std::fabs(start.yaw) + sum;
  }
  bool is_in_domain() const noexcept {
    return gjk::is_in_domain(start) && length() <= kMaxCoordinate && turns() <= kMaxYaw;
  }
};

// Yields the pieces of a curve, in order.
class Along {
 public:
  explicit Along(const Pose& start) noexcept : at_{start, 0.0, 0.0} {}

  // The motion along the next arc, from `begin` to `end` (s), with constant speed.
  Piece next(const Arc& arc, double begin, double end) noexcept {
    const Piece piece = Piece::arc(begin, at_, end, {arc.length, 0.0}, arc.curvature * arc.length);
    at_ = piece.on_arc(end);
    return piece;
  }

 private:
  Reached at_;
};

}  // namespace gjk
