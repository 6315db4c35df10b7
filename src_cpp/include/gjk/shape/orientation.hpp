// SPDX-FileCopyrightText: gjk_collision contributors
// SPDX-License-Identifier: Apache-2.0
// Cross products whose sign is that of the real numbers: is a point left of a line?
//
// In stages, after Shewchuk (1997), section 4.3: plain floating point, then the tails of the
// differences to first order, then expansions; each stage only where the bound of the one before
// does not settle it.
#pragma once

#include <cmath>

#include "gjk/shape/expansion.hpp"
#include "gjk/shape/vec2.hpp"

namespace gjk {

// A sum or difference of two products of differences of doubles is accurate to this times the sum
// of their magnitudes (Shewchuk's ccwerrboundA).
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

// The relative error of certain_cross.
inline constexpr double kCrossError = 0x1p-40;

[[gnu::noinline]] inline double expanded_cross(Vec2 a, Vec2 b, Vec2 c, Vec2 d) noexcept {
  if (c == d || a == b || (a == c && b == d)) return 0.0;  // as where two vertices meet
  return exact_cross(a, b, c, d).approximate();
}

// (b - a) x (d - c), with the right sign, and 0 only where that is 0. `product` is two_product or
// does the same.
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
    // As for points near each other, and on a grid.
    const double high = left.high - right.high;
    if (high == 0.0) return low;
    // The high parts are near each other, or the low ones do not count: no further cancellation.
    const double value = high + low;
    if (std::fabs(value) >= 0.5 * std::fabs(high)) return value;
  }
  const TwoTerms high = two_difference(left.high, right.high);
  const double tails =
      (x1.high * y2.low + y2.high * x1.low) - (y1.high * x2.low + x2.high * y1.low);
  const double value = high.high + (high.low + (low + tails));
  // With S the sum of the products' magnitudes: a tail is at most u of its head, so the products of
  // two tails are below u^2 S, and the roundings of `low` and `tails`, which are sums of terms of
  // at most u S, below 14 u^2 S.
  constexpr double kBound = 16.0 * kUnitRoundoff * kUnitRoundoff;
  const double bound = kBound * (std::fabs(left.high) + std::fabs(right.high));
  if (std::fabs(value) * (0.5 * kCrossError) > bound) return value;
  return expanded_cross(a, b, c, d);
}

// The product that the shape's instruction set has.
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

// The same with a filter before it.
inline int orientation(Vec2 a, Vec2 b, Vec2 c) noexcept {
  const double left = (b.x - a.x) * (c.y - a.y);
  const double right = (b.y - a.y) * (c.x - a.x);
  const double det = left - right;
  const double bound = kFilterBound * (std::fabs(left) + std::fabs(right));
  if (det > bound) return 1;
  if (det < -bound) return -1;
  return exact_orientation(a, b, c, two_product);
}

// Index of a vertex at which a counter-clockwise outline of n vertices at(i) turns right or doubles
// back; -1 for a convex one. Collinear and repeated vertices are allowed. A convex outline turns
// left throughout and its edges change between lexicographically rising and falling exactly twice:
// once around, no star.
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
