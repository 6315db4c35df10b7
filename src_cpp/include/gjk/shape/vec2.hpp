// SPDX-FileCopyrightText: gjk_collision contributors
// SPDX-License-Identifier: Apache-2.0
// Points and vectors in the plane, in double precision.
#pragma once

#include <cmath>

#include "gjk/arithmetic.hpp"

namespace gjk {

struct Vec2 {
  double x = 0.0;
  double y = 0.0;
};

// Domain of the kernel (m). No product of degree 4 overflows in it.
inline constexpr double kMaxCoordinate = 1e15;

// Half an ulp of 1: bound on the relative error of +, -, *, / and sqrt.
inline constexpr double kUnitRoundoff = 0x1p-53;

// b if either is NaN. std::fmax is a call, which costs several times as much.
template <class Number>
constexpr Number larger(Number a, Number b) noexcept {
  return a > b ? a : b;
}

constexpr Vec2 operator+(Vec2 a, Vec2 b) noexcept { return {a.x + b.x, a.y + b.y}; }
constexpr Vec2 operator-(Vec2 a, Vec2 b) noexcept { return {a.x - b.x, a.y - b.y}; }
constexpr Vec2 operator-(Vec2 a) noexcept { return {-a.x, -a.y}; }
constexpr Vec2 operator*(double s, Vec2 a) noexcept { return {s * a.x, s * a.y}; }
constexpr bool operator==(Vec2 a, Vec2 b) noexcept { return a.x == b.x && a.y == b.y; }

constexpr double dot(Vec2 a, Vec2 b) noexcept { return a.x * b.x + a.y * b.y; }
constexpr double cross(Vec2 a, Vec2 b) noexcept { return a.x * b.y - a.y * b.x; }
// a rotated by +90 degrees.
constexpr Vec2 perpendicular(Vec2 a) noexcept { return {-a.y, a.x}; }
inline double norm(Vec2 a) noexcept {
  const double square = dot(a, a);
  if (square >= 0x1p-900 || !(square >= 0.0)) return std::sqrt(square);  // NaN too
  // Below a length of about 1e-135 the square would underflow.
  const Vec2 scaled{a.x * 0x1p+600, a.y * 0x1p+600};
  return std::sqrt(dot(scaled, scaled)) * 0x1p-600;
}
// The direction of a finite vector of any length other than 0, with a length of 1 up to rounding.
// NaN for other vectors.
inline Vec2 unit(Vec2 a) noexcept {
  const double most = std::fmax(std::fabs(a.x), std::fabs(a.y));
  if (!(most > 0.0 && std::isfinite(a.x) && std::isfinite(a.y))) {
    return {kNaN, kNaN};
  }
  // Lengths of subnormal vectors have few digits.
  const int power = -std::ilogb(most);
  const Vec2 scaled{std::scalbn(a.x, power), std::scalbn(a.y, power)};
  const double length = norm(scaled);
  return {scaled.x / length, scaled.y / length};
}
// |a.x| + |a.y|. Rounding bounds on a dot product with a are proportional to it.
inline double norm1(Vec2 a) noexcept { return std::fabs(a.x) + std::fabs(a.y); }

// Order by x, then by y. It is monotonic along any line.
constexpr bool lexicographically_less(Vec2 a, Vec2 b) noexcept {
  return a.x < b.x || (a.x == b.x && a.y < b.y);
}

}  // namespace gjk
