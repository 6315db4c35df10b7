// SPDX-FileCopyrightText: gjk_collision contributors
// SPDX-License-Identifier: Apache-2.0
// Poses and transforms in SE(2).
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>

#include "gjk/arithmetic.hpp"
#include "gjk/shape/expansion.hpp"
#include "gjk/shape/vec2.hpp"

namespace gjk {

// x and y in metres, yaw in radians, counter-clockwise.
struct Pose {
  double x = 0.0;
  double y = 0.0;
  double yaw = 0.0;
};

// Larger yaws are rejected. The argument reduction in turn.inc is exact up to 2^20 quarter turns.
inline constexpr double kMaxYaw = 1e6;

// Maximum magnitude of a time on the scene's clock (s). Seconds since 1970 are within it.
inline constexpr double kMaxTime = 1e10;

struct SinCos {
  double sin = 0.0;
  double cos = 1.0;
};

// Absolute error of each value of sin_cos(). Proof: pose.reduction.gappa, pose.sine.gappa,
// pose.cosine.gappa and pose.taylor.sollya.
inline constexpr double kSinCosError = 4.0 * kUnitRoundoff;

}  // namespace gjk

#define GJK_SIMD_SET doubles
#include "gjk/shape/turn.inc"
#undef GJK_SIMD_SET

namespace gjk {

// Sine and cosine for |angle| <= kMaxYaw. NaN beyond, so that a shape placed with it is never FREE.
inline SinCos sin_cos(double angle) noexcept {
  SinCos turn{kNaN, kNaN};
  if (std::fabs(angle) <= kMaxYaw) {
    doubles::sin_cos<double, std::int64_t>(angle, turn.sin, turn.cos);
  }
  return turn;
}

// Within the kernel's domain. False for NaN.
inline bool is_in_domain(const Pose& pose) noexcept {
  // Without branches, so that many poses are tested fast.
  return (static_cast<int>(std::fabs(pose.yaw) <= kMaxYaw) &
          static_cast<int>(std::fabs(pose.x) <= kMaxCoordinate) &
          static_cast<int>(std::fabs(pose.y) <= kMaxCoordinate)) != 0;
}

// p -> R p + t. The identity is applied without rounding, so it adds no error.
struct Transform {
  double cos = 1.0;
  double sin = 0.0;
  Vec2 t;
  double t_error = 0.0;  // m. Error of t; NaN if the pose is outside the domain

  // The pose relative to `origin`. The origin is subtracted before any rotation or sum, so
  // coordinates and their rounding errors stay small far from the origin of the frame. `pose_error`
  // (m) bounds the displacement of any point of the shape by the error of the pose.
  static Transform from_pose(const Pose& pose, Vec2 origin = {}, double pose_error = 0.0) noexcept {
    return from_pose(pose, sin_cos(pose.yaw), origin, pose_error);
  }
  // The same with the sine and cosine of the yaw.
  static Transform from_pose(const Pose& pose, const SinCos& turn, Vec2 origin,
                             double pose_error) noexcept {
    const TwoTerms x = two_difference(pose.x, origin.x);
    const TwoTerms y = two_difference(pose.y, origin.y);
    const double error =
        (std::fabs(x.low) + std::fabs(y.low) + pose_error) * (1.0 + 4.0 * kUnitRoundoff);
    return {turn.cos, turn.sin, {x.high, y.high}, is_in_domain(pose) ? error : kNaN};
  }
  // sin_cos() is exact at a yaw of 0, and gives another value at every other yaw.
  bool is_rotated() const noexcept { return cos != 1.0 || sin != 0.0; }
  bool is_identity() const noexcept { return !is_rotated() && t.x == 0.0 && t.y == 0.0; }
  Vec2 rotate(Vec2 p) const noexcept { return {cos * p.x - sin * p.y, sin * p.x + cos * p.y}; }
  Vec2 rotate_back(Vec2 p) const noexcept { return {cos * p.x + sin * p.y, cos * p.y - sin * p.x}; }
  Vec2 apply(Vec2 p) const noexcept { return rotate(p) + t; }

  // Bound (m) on the displacement of a point by the rounding error of apply(). Its coordinates do
  // not exceed `extent`. Sine and cosine move it by at most 8 u extent, and the rest by less than
  // 7 u extent + u |t|. Proof: pose.turn.gappa, pose.apply.gappa.
  double error(double extent) const noexcept {
    if (is_identity()) return 0.0;
    return (16.0 * extent + 1.25 * norm1(t)) * kUnitRoundoff;
  }
};

}  // namespace gjk
