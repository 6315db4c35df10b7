// SPDX-FileCopyrightText: gjk_collision contributors
// SPDX-License-Identifier: Apache-2.0
// Vectors of doubles and of points, in every width that an instruction set has.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>

#include "gjk/shape/vec2.hpp"
#include "gjk/simd/bits.hpp"
#include "gjk/simd/dispatch.hpp"

namespace gjk::simd {

// Rotates n < 64 bits: input bit k is element first + k of a ring, output bit k is element k.
inline std::uint64_t rotated(std::uint64_t bits, int first, int n) noexcept {
  return (bits << first | bits >> (n - first)) & low_bits(n);
}

inline constexpr std::int64_t kTag = kMostTagged - 1;

// Vector types of the compilers. Spelt out, because GCC's attribute takes no template parameter.
template <int Width>
struct VectorOf;
#define GJK_VECTOR_OF(width)                                               \
  template <>                                                              \
  struct VectorOf<width> {                                                 \
    typedef double Doubles __attribute__((vector_size(8 * (width))));      \
    typedef std::int64_t Truths __attribute__((vector_size(8 * (width)))); \
  };
GJK_VECTOR_OF(2)
GJK_VECTOR_OF(4)
GJK_VECTOR_OF(8)
#undef GJK_VECTOR_OF

// One lane.
struct OneLane {
  using Vector = double;
  static double all(double v) noexcept { return v; }
  static double abs(double v) noexcept { return std::fabs(v); }
  static double sqrt(double v) noexcept { return std::sqrt(v); }
};

}  // namespace gjk::simd

#define GJK_SIMD_FILE "gjk/simd/lanes.inc"
#include "gjk/simd/each_set.hpp"
