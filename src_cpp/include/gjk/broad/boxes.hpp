// SPDX-FileCopyrightText: gjk_collision contributors
// SPDX-License-Identifier: Apache-2.0
// A node of the tree: eight bounding boxes in single precision, rounded outwards, tested at once.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>

#include "gjk/shape/box.hpp"

#if defined(__SSE2__) && !defined(GJK_SCALAR_ONLY)
#include <emmintrin.h>
#endif

namespace gjk {

// A single-precision box that contains a Box, clamped to kEverywhere. Clamping can only bring boxes
// closer together, never farther apart.
struct FloatBox {
  float low_x, low_y, high_x, high_y;

  // Rounds down without a branch, so that the result is below v even if v is a float. NaN gives the
  // lower border.
  static float below(double v) noexcept {
    const double not_above = v < kEverywhere.high.x ? v : kEverywhere.high.x;
    const double bounded = v > kEverywhere.low.x ? not_above : kEverywhere.low.x;
    const float f = static_cast<float>(bounded);
    return f - (std::fabs(f) * 0x1p-23F + std::numeric_limits<float>::min());
  }
  static float above(double v) noexcept { return -below(-v); }
  static FloatBox around(const Box& box) noexcept {
    return {below(box.low.x), below(box.low.y), above(box.high.x), above(box.high.y)};
  }
};

struct alignas(64) EightBoxes {
  static constexpr std::uint32_t kWidth = 8;
  // Coordinate of an unused box: farther than any limit, and its square does not overflow.
  static constexpr float kUnused = 1e18F;

  float low_x[kWidth];
  float low_y[kWidth];
  float high_x[kWidth];
  float high_y[kWidth];

 private:
  // Four lanes, which every processor with vector instructions has.
  typedef float Floats __attribute__((vector_size(16)));
  typedef std::int32_t Truths __attribute__((vector_size(16)));

 public:
  static EightBoxes unused() noexcept {
    EightBoxes none;
    for (std::uint32_t c = 0; c < kWidth; ++c) {
      none.set(c, {kUnused, kUnused, -kUnused, -kUnused});
    }
    return none;
  }
  void set(std::size_t c, const FloatBox& box) noexcept {
    low_x[c] = box.low_x;
    low_y[c] = box.low_y;
    high_x[c] = box.high_x;
    high_y[c] = box.high_y;
  }
  FloatBox around() const noexcept {
    FloatBox box{low_x[0], low_y[0], high_x[0], high_y[0]};
    for (std::uint32_t c = 1; c < kWidth; ++c) {
      box.low_x = std::min(box.low_x, low_x[c]);
      box.low_y = std::min(box.low_y, low_y[c]);
      box.high_x = std::max(box.high_x, high_x[c]);
      box.high_y = std::max(box.high_y, high_y[c]);
    }
    return box;
  }
  // Contains the interpolation between a and b, rounding included.
  void blend(const EightBoxes& a, const EightBoxes& b, float share) noexcept {
    const auto interpolate = [share](const float* from, const float* to, float outward,
                                     float* out) {
      for (std::uint32_t c = 0; c < kWidth; ++c) {
        const float magnitude = std::fabs(from[c]) + std::fabs(to[c]);
        out[c] = from[c] + share * (to[c] - from[c]) + outward * magnitude;
      }
    };
    interpolate(a.low_x, b.low_x, -0x1p-21F, low_x);
    interpolate(a.low_y, b.low_y, -0x1p-21F, low_y);
    interpolate(a.high_x, b.high_x, 0x1p-21F, high_x);
    interpolate(a.high_y, b.high_y, 0x1p-21F, high_y);
  }
  void include(const EightBoxes& other) noexcept {
    for (std::uint32_t c = 0; c < kWidth; ++c) {
      low_x[c] = std::min(low_x[c], other.low_x[c]);
      low_y[c] = std::min(low_y[c], other.low_y[c]);
      high_x[c] = std::max(high_x[c], other.high_x[c]);
      high_y[c] = std::max(high_y[c], other.high_y[c]);
    }
  }

  void prefetch() const noexcept {
    __builtin_prefetch(low_x);
    __builtin_prefetch(high_x);
  }

  // The box that the eight boxes are compared with, in every lane.
  class Query {
   public:
    explicit Query(const FloatBox& box) noexcept
        : low_x(all(box.low_x)),
          low_y(all(box.low_y)),
          high_x(all(box.high_x)),
          high_y(all(box.high_y)) {}

   private:
    friend struct EightBoxes;
    Floats low_x, low_y, high_x, high_y;
  };

  // Bit c: box c overlaps the query.
  unsigned overlapping(const Query& query) const noexcept {
    unsigned hits = 0;
    for (std::uint32_t c = 0; c < kWidth; c += 4) {
      const Truths hit = (load(low_x + c) <= query.high_x) & (load(high_x + c) >= query.low_x) &
                         (load(low_y + c) <= query.high_y) & (load(high_y + c) >= query.low_y);
      hits |= bits(hit) << c;
    }
    return hits;
  }
  // Writes squared distances (m^2), too large by a relative 2^-21 at most. Bit c: that of box c is
  // at most `limit` (m^2).
  unsigned within(const Query& query, float limit, float* distances) const noexcept {
    unsigned near = 0;
    for (std::uint32_t c = 0; c < kWidth; c += 4) {
      const Floats x = gap(load(low_x + c) - query.high_x, query.low_x - load(high_x + c));
      const Floats y = gap(load(low_y + c) - query.high_y, query.low_y - load(high_y + c));
      const Floats distance = x * x + y * y;
      std::memcpy(distances + c, &distance, sizeof distance);
      near |= bits(distance <= all(limit)) << c;
    }
    return near;
  }

 private:
  static Floats load(const float* p) noexcept {
    Floats v;
    std::memcpy(&v, p, sizeof v);
    return v;
  }
  static Floats all(float value) noexcept { return Floats{value, value, value, value}; }
  static Floats gap(Floats a, Floats b) noexcept {
    const Floats larger = a > b ? a : b;
    return larger > Floats{} ? larger : Floats{};
  }
  static unsigned bits(Truths t) noexcept {
#if defined(__SSE2__) && !defined(GJK_SCALAR_ONLY)
    return static_cast<unsigned>(_mm_movemask_ps((__m128)t));
#else
    unsigned result = 0;
    for (int k = 0; k < 4; ++k) result |= (static_cast<unsigned>(t[k]) & 1U) << k;
    return result;
#endif
  }
};

}  // namespace gjk
