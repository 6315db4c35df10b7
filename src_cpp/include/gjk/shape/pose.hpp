// SPDX-FileCopyrightText: gjk_collision contributors
// SPDX-License-Identifier: Apache-2.0
// Poses and transforms in SE(2). Sine and cosine are identical on every machine.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#include "gjk/shape/expansion.hpp"
#include "gjk/shape/vec2.hpp"

namespace gjk {

// x and y in metres, yaw in radians, counter-clockwise.
struct Pose {
  double x = 0.0;
  double y = 0.0;
  double yaw = 0.0;
};

// Larger yaws are rejected. The argument reduction below is exact up to 2^20 quarter turns.
inline constexpr double kMaxYaw = 1e6;

struct SinCos {
  double sin = 0.0;
  double cos = 1.0;
};

// Absolute error of each value of sin_cos(). Proof: pose.reduction.gappa, pose.sine.gappa,
// pose.cosine.gappa and pose.taylor.sollya.
inline constexpr double kSinCosError = 4.0 * kUnitRoundoff;

// angle - quarters pi/2 = rest, to within 1.0002 u for |angle| <= kMaxYaw; |rest| <= 0.785477. pi/2
// is subtracted in three parts (Cody and Waite). The first two have 32 significant bits, so their
// product with k is exact for |k| < 2^20. Proof: pose.reduction.gappa.
struct Reduced {
  double quarters = 0.0;
  double rest = 0.0;
};
inline Reduced reduce(double angle) noexcept {
  constexpr double kTwoOverPi = 0x1.45f306dc9c883p-1;
  constexpr double kHalfPi1 = 0x1.921fb544p+0;
  constexpr double kHalfPi2 = 0x1.0b4611a6p-34;
  constexpr double kHalfPi3 = 0x1.3198a2e037073p-69;
  const double k = std::rint(angle * kTwoOverPi);
  const double r = ((angle - k * kHalfPi1) - k * kHalfPi2) - k * kHalfPi3;
  return {k, r};
}

// Sine and cosine for |angle| <= kMaxYaw. NaN beyond, so that a shape placed with it is never FREE.
//
// The sine and cosine of the C library differ in the last bit between versions and processors.
// Verdicts must not depend on this. Only +, -, * and rint are used, whose results IEEE 754 defines.
// For |r| <= pi/4 the Taylor series are cut below 2^-54.
inline SinCos sin_cos(double angle) noexcept {
  if (!(std::fabs(angle) <= kMaxYaw)) {  // NaN too
    constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
    return {kNaN, kNaN};
  }
  const auto [k, r] = reduce(angle);
  const double t = r * r;
  const double s =
      r +
      r * t *
          (-1.0 / 6 +
           t * (1.0 / 120 +
                t * (-1.0 / 5040 + t * (1.0 / 362880 + t * (-1.0 / 39916800 +
                                                            t * (1.0 / 6227020800.0 +
                                                                 t * (-1.0 / 1307674368000.0)))))));
  const double c =
      1.0 + t * (-1.0 / 2 +
                 t * (1.0 / 24 +
                      t * (-1.0 / 720 +
                           t * (1.0 / 40320 +
                                t * (-1.0 / 3628800 + t * (1.0 / 479001600 +
                                                           t * (-1.0 / 87178291200.0 +
                                                                t * (1.0 / 20922789888000.0))))))));
  // Apply the quarter turns without branches, which would be mispredicted when yaws vary.
  const auto quarter = static_cast<std::uint64_t>(static_cast<std::int64_t>(k));
  const auto s_bits = std::bit_cast<std::uint64_t>(s);
  const auto c_bits = std::bit_cast<std::uint64_t>(c);
  const std::uint64_t swapped = (s_bits ^ c_bits) & (0 - (quarter & 1));
  return {std::bit_cast<double>((s_bits ^ swapped) ^ (quarter & 2) << 62),
          std::bit_cast<double>((c_bits ^ swapped) ^ ((quarter + 1) & 2) << 62)};
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
    const SinCos turn = sin_cos(pose.yaw);
    const TwoTerms x = two_difference(pose.x, origin.x);
    const TwoTerms y = two_difference(pose.y, origin.y);
    const double error =
        (std::fabs(x.low) + std::fabs(y.low) + pose_error) * (1.0 + 4.0 * kUnitRoundoff);
    return {turn.cos,
            turn.sin,
            {x.high, y.high},
            is_in_domain(pose) ? error : std::numeric_limits<double>::quiet_NaN()};
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
