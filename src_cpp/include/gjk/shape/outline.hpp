// SPDX-FileCopyrightText: gjk_collision contributors
// SPDX-License-Identifier: Apache-2.0
// What a view needs to know of its vertices, found in one pass over them.
#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <limits>

#include "gjk/shape/orientation.hpp"
#include "gjk/shape/vec2.hpp"

namespace gjk {

// m. Smaller nonzero coordinates could underflow in exact arithmetic.
inline constexpr double kMinExactCoordinate = 1e-40;

inline bool is_tiny(double v) noexcept { return std::fabs(v) < kMinExactCoordinate && v != 0.0; }
// The point with tiny coordinates set to 0; orientations are decided on such points.
inline Vec2 snapped(Vec2 p) noexcept {
  return {is_tiny(p.x) ? 0.0 : p.x, is_tiny(p.y) ? 0.0 : p.y};
}

// The bounding box of an outline (m).
struct OutlineBox {
  double most[4];  // largest x, largest y, minus the smallest x, minus the smallest y
  double extent;   // largest magnitude of a coordinate; NaN if a coordinate is NaN
};

struct OutlineFacts {
  // The first vertex with the largest x, largest y, smallest x and smallest y, if all are finite.
  std::array<int, 4> farthest{};
  bool is_finite = false;
  bool has_tiny = false;
  // Certainly turns left at each vertex, and goes round once. If false, it may still be convex: see
  // exact::first_reflex_vertex(), whose condition this is.
  bool is_surely_convex = false;
};

// For 3 to 64 vertices.
OutlineFacts examine(const double* x, const double* y, int n) noexcept;

}  // namespace gjk

#ifdef GJK_KERNEL
#include "gjk/simd/lanes.hpp"

namespace gjk {

// In one instruction set; see outline.inc.
template <class Set>
struct OutlineChecksOf;

}  // namespace gjk

#define GJK_SIMD_FILE "gjk/shape/outline.inc"
#include "gjk/simd/each_set.hpp"

namespace gjk {

GJK_KERNEL OutlineFacts examine(const double* x, const double* y, int n) noexcept {
  return simd::on_widest(
      [&](auto set) { return OutlineChecksOf<decltype(set)>::Type::examine(x, y, n); });
}

}  // namespace gjk
#endif
