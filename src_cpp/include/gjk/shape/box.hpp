// SPDX-FileCopyrightText: gjk_collision contributors
// SPDX-License-Identifier: Apache-2.0
// Axis-aligned bounding boxes.
#pragma once

#include <cmath>

#include "gjk/arithmetic.hpp"
#include "gjk/shape/vec2.hpp"

namespace gjk {

// m. Empty until a point or a box is included.
struct Box {
  Vec2 low{kInfinity, kInfinity};
  Vec2 high{-kInfinity, -kInfinity};

  void include(Vec2 p) noexcept {
    low = {p.x < low.x ? p.x : low.x, p.y < low.y ? p.y : low.y};
    high = {p.x > high.x ? p.x : high.x, p.y > high.y ? p.y : high.y};
  }
  void include(const Box& other) noexcept {
    include(other.low);
    include(other.high);
  }
  // Grown by at least `by` (m) on each side, including rounding. Unchanged if `by` is 0.
  Box grown(double by) const noexcept {
    if (by == 0.0) return *this;
    const auto outward = [by](double v) noexcept {
      return by + 2.0 * kUnitRoundoff * (std::fabs(v) + by);
    };
    return {{low.x - outward(low.x), low.y - outward(low.y)},
            {high.x + outward(high.x), high.y + outward(high.y)}};
  }
  // False if `other` is empty or contains a NaN.
  bool holds(const Box& other) const noexcept {
    return low.x <= other.low.x && other.low.x <= other.high.x && other.high.x <= high.x &&
           low.y <= other.low.y && other.low.y <= other.high.y && other.high.y <= high.y;
  }
  Vec2 center() const noexcept { return 0.5 * (low + high); }
  // Gap per axis; 0 where the boxes overlap.
  Vec2 gap(const Box& other) const noexcept {
    const auto positive = [](double a, double b) noexcept {
      return larger(larger(a, b), 0.0);  // NaN: 0
    };
    return {positive(low.x - other.high.x, other.low.x - high.x),
            positive(low.y - other.high.y, other.low.y - high.y)};
  }
};

// Larger than the kernel's domain.
inline constexpr Box kEverywhere{{-1e17, -1e17}, {1e17, 1e17}};

}  // namespace gjk
