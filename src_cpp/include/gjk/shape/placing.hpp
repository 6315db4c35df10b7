// SPDX-FileCopyrightText: gjk_collision contributors
// SPDX-License-Identifier: Apache-2.0
// Places shapes at poses in rounded arithmetic, with a bound on the rounding error.
#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "gjk/arithmetic.hpp"
#include "gjk/shape/box.hpp"
#include "gjk/shape/convex.hpp"
#include "gjk/shape/pose.hpp"
#include "gjk/shape/vec2.hpp"

namespace gjk {

// m. Error of the vertices at a pose, of which `rounding` (m) is that of placing them.
inline double placed_error(const Convex& local, const Transform& at, double rounding) noexcept {
  return (local.error + rounding + at.t_error) * (1.0 + 4.0 * kUnitRoundoff);
}

// Places the vertices of `local` in x and y. placed.error bounds their distance from the true
// positions; it is local.error if nothing was rounded. A placed outline need not be convex.
void place(const Convex& local, const Transform& at, double* x, double* y, Convex& placed) noexcept;

// m. Upper bound on the magnitude of the coordinates of the shape at the pose. NaN outside the
// domain.
inline double placed_extent(const Convex& local, const Transform& at) noexcept {
  return norm1(at.t) + 2.0 * local.extent + at.t_error;
}

// A box that contains the shape at a pose, with its radius and all rounding errors: its own box,
// rotated. The cost does not depend on the number of vertices. kEverywhere if the shape may leave
// the kernel's domain.
inline Box box_at(const Convex& local, const Transform& at) noexcept {
  if (!(placed_extent(local, at) <= kMaxCoordinate)) return kEverywhere;
  const Vec2 low{local.extreme_x[2], local.extreme_y[3]};
  const Vec2 high{local.extreme_x[0], local.extreme_y[1]};
  const Vec2 center = at.apply(0.5 * (low + high));
  const Vec2 half = 0.5 * (high - low);
  const double cos = std::fabs(at.cos);
  const double sin = std::fabs(at.sin);
  // Covers at.error() and the rounding of the arithmetic in this function.
  const double rounding = (128.0 * local.extent + 16.0 * norm1(at.t)) * kUnitRoundoff;
  const double by =
      (local.radius + local.error + at.t_error) * (1.0 + 16.0 * kUnitRoundoff) + rounding;
  const Vec2 reach{cos * half.x + sin * half.y + by, sin * half.x + cos * half.y + by};
  return {center - reach, center + reach};
}

// Memory for a placed shape during a query. More than kMost vertices are stored on the heap.
class Room {
 public:
  static constexpr int kMost = 64;

  explicit Room(int vertices = kMost)
      : many_(vertices > kMost ? 2 * static_cast<std::size_t>(vertices) : 0) {}
  Room(const Room&) = delete;
  Room& operator=(const Room&) = delete;

  // `local` must not have more vertices than there is room for. The result is valid until the next
  // call.
  const Convex& place(const Convex& local, const Transform& at) noexcept {
    double* const x = many_.empty() ? few_ : many_.data();
    gjk::place(local, at, x, x + local.size, placed_);
    return placed_;
  }

 private:
  double few_[2 * kMost];
  std::vector<double> many_;
  Convex placed_;
};

}  // namespace gjk

#ifdef GJK_KERNEL
#include "gjk/shape/expansion.hpp"
#include "gjk/simd/lanes.hpp"

namespace gjk {

// Placing in one instruction set; see placing.inc.
template <class Set>
struct PlacingOf;

}  // namespace gjk

#define GJK_SIMD_FILE "gjk/shape/placing.inc"
#include "gjk/simd/each_set.hpp"

namespace gjk {

GJK_KERNEL void place(const Convex& local, const Transform& at, double* x, double* y,
                      Convex& placed) noexcept {
  placed.x = x;
  placed.y = y;
  placed.size = local.size;
  placed.radius = local.radius;
  placed.extent = kNaN;
  const bool is_known = local.size > 0 && in_domain(local, local) && !std::isnan(at.t_error);
  double rounding = 0.0;
  if (at.is_rotated()) {
    rounding = at.error(local.extent);
    constexpr int kFew = 8;  // fewer vertices are faster one by one
    if (is_known && local.size >= kFew && local.size <= simd::kMostTagged) {
      placed.take_extremes(simd::on_widest([&](auto set) {
        return PlacingOf<decltype(set)>::Type::place_and_find_extremes(local, at, x, y);
      }));
    } else {
      for (int i = 0; i < local.size; ++i) {
        const Vec2 v = at.apply(local.vertex(i));
        x[i] = v.x;
        y[i] = v.y;
      }
      if (is_known) placed.find_extremes();
    }
  } else {
    for (int i = 0; i < local.size; ++i) {  // the actual rounding errors, often 0
      const TwoTerms sx = two_sum(local.x[i], at.t.x);
      const TwoTerms sy = two_sum(local.y[i], at.t.y);
      x[i] = sx.high;
      y[i] = sy.high;
      const double lost = 2.0 * (std::fabs(sx.low) + std::fabs(sy.low));
      rounding = lost > rounding ? lost : rounding;
    }
    if (is_known) placed.find_extremes();
  }
  placed.error = placed_error(local, at, rounding);
  if (!(placed.error >= kMinExactCoordinate) && placed.has_tiny()) {
    placed.error = kMinExactCoordinate;
  }
}

}  // namespace gjk
#endif
