// SPDX-FileCopyrightText: gjk_collision contributors
// SPDX-License-Identifier: Apache-2.0
// Exact signs of cross products: on which side of a line is a point?
//
// Evaluated in stages, after Shewchuk (1997), section 4.3: plain floating point, then the tails of
// the differences to first order, then expansions. A stage runs only if the error bound of the
// previous one does not decide the sign.
#pragma once

#include <cmath>

#include "gjk/shape/expansion.hpp"
#include "gjk/shape/vec2.hpp"

namespace gjk {

// The sign of a sum or difference of two products of differences of doubles is certain if its
// magnitude exceeds this times the sum of the magnitudes of the products (Shewchuk's ccwerrboundA).
// Its error may be larger: by the rounding of the sum or difference. Proof:
// orientation.filter.gappa.
inline constexpr double kFilterBound = (3.0 + 16.0 * kUnitRoundoff) * kUnitRoundoff;

}  // namespace gjk

namespace gjk::exact {

inline Expansion<16> exact_cross(Vec2 a, Vec2 b, Vec2 c, Vec2 d) noexcept {
  return exact_difference(b.x, a.x) * exact_difference(d.y, c.y) -
         exact_difference(b.y, a.y) * exact_difference(d.x, c.x);
}

inline Expansion<16> exact_dot(Vec2 a, Vec2 b, Vec2 c) noexcept {
  return exact_difference(b.x, a.x) * exact_difference(c.x, a.x) +
         exact_difference(b.y, a.y) * exact_difference(c.y, a.y);
}

// Relative error of certain_cross().
inline constexpr double kCrossError = 0x1p-40;

[[gnu::noinline]] inline double expanded_cross(Vec2 a, Vec2 b, Vec2 c, Vec2 d) noexcept {
  if (c == d || a == b || (a == c && b == d)) return 0.0;  // common case: the edges share a vertex
  return exact_cross(a, b, c, d).approximate();
}

// (b - a) x (d - c) with the correct sign; the result is 0 only if the cross product is 0.
// `product` must return the same as two_product().
template <class Product>
double certain_cross(Vec2 a, Vec2 b, Vec2 c, Vec2 d, const Product& product) noexcept {
  count_exact();
  const TwoTerms x1 = two_difference(b.x, a.x);
  const TwoTerms y1 = two_difference(b.y, a.y);
  const TwoTerms x2 = two_difference(d.x, c.x);
  const TwoTerms y2 = two_difference(d.y, c.y);
  const TwoTerms left = product(x1.high, y2.high);
  const TwoTerms right = product(y1.high, x2.high);
  const double low = left.low - right.low;
  if (x1.low == 0.0 && y1.low == 0.0 && x2.low == 0.0 && y2.low == 0.0) {
    // Common case: points close to each other, or on a grid.
    const double high = left.high - right.high;
    if (high == 0.0) return low;
    // `low` does not cancel `high`, so the relative error is small.
    const double value = high + low;
    if (std::fabs(value) >= 0.5 * std::fabs(high)) return value;
  }
  const TwoTerms high = two_difference(left.high, right.high);
  const double tails =
      (x1.high * y2.low + y2.high * x1.low) - (y1.high * x2.low + x2.high * y1.low);
  const double value = high.high + (high.low + (low + tails));
  // Let S be the sum of the magnitudes of the products. A tail is at most u times its head, so the
  // products of two tails are below u^2 S. `low` and `tails` are sums of terms of at most u S, so
  // their rounding errors are below 15 u^2 S. Proof: orientation.tails.gappa.
  constexpr double kBound = 16.0 * kUnitRoundoff * kUnitRoundoff;
  const double bound = kBound * (std::fabs(left.high) + std::fabs(right.high));
  if (std::fabs(value) * (0.5 * kCrossError) > bound) return value;
  return expanded_cross(a, b, c, d);
}

// two_product() in the instruction set of the shape's view.
template <class P>
auto product_of(const P&) noexcept {
  if constexpr (requires { P::two_product(1.0, 1.0); }) {
    return [](double a, double b) noexcept { return P::two_product(a, b); };
  } else {
    return [](double a, double b) noexcept { return two_product(a, b); };
  }
}

// Sign of (b - a) x (c - a): 1 when a, b, c turn left, 0 when they are collinear.
template <class Product>
int exact_orientation(Vec2 a, Vec2 b, Vec2 c, const Product& product) noexcept {
  const double cross = certain_cross(a, b, a, c, product);
  return cross > 0.0 ? 1 : (cross < 0.0 ? -1 : 0);
}

// The same, with a floating-point filter first.
inline int orientation(Vec2 a, Vec2 b, Vec2 c) noexcept {
  const double left = (b.x - a.x) * (c.y - a.y);
  const double right = (b.y - a.y) * (c.x - a.x);
  const double det = left - right;
  const double bound = kFilterBound * (std::fabs(left) + std::fabs(right));
  if (det > bound) return 1;
  if (det < -bound) return -1;
  return exact_orientation(a, b, c, two_product);
}

// Index of a vertex at which a counter-clockwise outline of n vertices at(i) turns right or
// reverses; -1 if it is convex. Collinear and repeated vertices are allowed. An outline is convex
// if it always turns left and its edges change between lexicographically rising and falling exactly
// twice. The second condition excludes outlines that wind around more than once (stars).
template <class At>
long first_reflex_vertex(long n, const At& at) noexcept {
  const auto repeats = [&](long i) { return at(i) == at((i + n - 1) % n); };
  long first = 0;
  while (first < n && repeats(first)) ++first;
  if (first == n) return -1;  // one point
  const auto beside = [&](long i, long step) {
    do i = (i + step) % n;
    while (repeats(i));
    return i;
  };
  int changes = 0;
  long a = beside(first, n - 1);
  long b = first;
  do {
    const long c = beside(b, 1);
    if (orientation(at(a), at(b), at(c)) < 0) return b;
    changes += lexicographically_less(at(a), at(b)) != lexicographically_less(at(b), at(c)) ? 1 : 0;
    if (changes > 2) return b;
    a = b;
    b = c;
  } while (b != first);
  return -1;
}

}  // namespace gjk::exact
