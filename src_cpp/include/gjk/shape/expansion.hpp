// SPDX-FileCopyrightText: gjk_collision contributors
// SPDX-License-Identifier: Apache-2.0
// Exact arithmetic on sums of doubles.
//
// An expansion is a sum of nonzero doubles that do not overlap, smallest first. Its value is exact.
// Source: J. R. Shewchuk, "Adaptive Precision Floating-Point Arithmetic and Fast Robust Geometric
// Predicates", 1997, sections 2.1 to 2.5. Results are exact as long as nothing overflows or
// underflows; convex.hpp limits coordinates so that the products of degree 4 in exact.hpp neither
// overflow nor underflow.
//
// Proof: expansion.v. It does not use that the terms do not overlap: approximate() checks its own
// error. Shewchuk's theorems only say that this check succeeds.
#pragma once

#include <cmath>
#include <cstdint>

#include "gjk/arithmetic.hpp"
#include "gjk/shape/vec2.hpp"

namespace gjk {

// Counts the uses of exact arithmetic in gjk_verify.
#ifdef GJK_COUNT_EXACT
inline thread_local std::int64_t exact_steps = 0;
inline void count_exact() noexcept { ++exact_steps; }
#else
inline constexpr std::int64_t exact_steps = 0;
inline void count_exact() noexcept {}
#endif

struct TwoTerms {
  double high = 0.0;
  double low = 0.0;
};

// high + low == a + b exactly (Shewchuk, theorem 7).
inline TwoTerms two_sum(double a, double b) noexcept {
  const double s = a + b;
  const double b_virtual = s - a;
  const double a_virtual = s - b_virtual;
  return {s, (a - a_virtual) + (b - b_virtual)};
}

inline TwoTerms two_difference(double a, double b) noexcept { return two_sum(a, -b); }

// The sum if it is a double, otherwise the next double below or above it. Infinite sums stay
// infinite.
inline double rounded_down(TwoTerms sum) noexcept {
  return sum.low < 0.0 ? std::nextafter(sum.high, -kInfinity) : sum.high;
}
inline double rounded_up(TwoTerms sum) noexcept {
  return sum.low > 0.0 ? std::nextafter(sum.high, kInfinity) : sum.high;
}

// Veltkamp's splitting into two halves of at most 26 bits (Shewchuk, theorem 17).
inline TwoTerms split(double a) noexcept {
  const double c = 134217729.0 * a;  // 2^27 + 1
  const double high = c - (c - a);
  return {high, a - high};
}

// high + low == a * b exactly (Dekker; Shewchuk, theorem 18). Does not use std::fma, which is a
// library call on baseline x86-64.
inline TwoTerms two_product(double a, double b) noexcept {
  const double p = a * b;
  const TwoTerms x = split(a);
  const TwoTerms y = split(b);
  const double error = ((p - x.high * y.high) - x.low * y.high) - x.high * y.low;
  return {p, x.low * y.low - error};
}

template <int Capacity>
struct Expansion {
  double term[Capacity];
  int size = 0;

  void push(double value) noexcept {
    if (value != 0.0) term[size++] = value;
  }
  int sign() const noexcept {
    const double value = approximate();
    return value > 0.0 ? 1 : (value < 0.0 ? -1 : 0);
  }
  // Relative error below 2^-51. An addition has an error of at most u times the magnitude of its
  // result, so the error of the sum is at most u times the sum of these magnitudes. That is less
  // than 2.5 times the result if the terms are nonadjacent (Shewchuk, theorems 10 and 19). NaN
  // compares false.
  double approximate() const noexcept {
    double sum = 0.0;
    double magnitudes = 0.0;
    for (int i = 0; i < size; ++i) {
      sum += term[i];
      magnitudes += std::fabs(sum);
    }
    if (magnitudes > 3.0 * std::fabs(sum)) return distilled().approximate();
    return sum;
  }
  // The same value in nonadjacent terms, from any terms (Shewchuk, theorem 10).
  [[gnu::noinline]] Expansion distilled() const noexcept;
};

inline Expansion<1> exactly(double a) noexcept {
  Expansion<1> e;
  e.term[0] = a;
  e.size = a != 0.0 ? 1 : 0;
  return e;
}

inline Expansion<2> exact_difference(double a, double b) noexcept {
  const TwoTerms d = two_difference(a, b);
  Expansion<2> e;
  e.push(d.low);
  e.push(d.high);
  return e;
}

// Grow-expansion for each term of b (Shewchuk, theorems 10 and 12), without zeros.
template <int N, int M>
void add_to(Expansion<N>& sum, const Expansion<M>& b) noexcept {
  for (int j = 0; j < b.size; ++j) {
    double carry = b.term[j];
    int kept = 0;
    for (int i = 0; i < sum.size; ++i) {
      const TwoTerms s = two_sum(carry, sum.term[i]);
      carry = s.high;
      if (s.low != 0.0) sum.term[kept++] = s.low;
    }
    if (carry != 0.0) sum.term[kept++] = carry;
    sum.size = kept;
  }
}

template <int N>
Expansion<N> Expansion<N>::distilled() const noexcept {
  Expansion sum;
  add_to(sum, *this);
  return sum;
}

template <int N, int M>
Expansion<N + M> operator+(const Expansion<N>& a, const Expansion<M>& b) noexcept {
  Expansion<N + M> sum;
  add_to(sum, a);
  add_to(sum, b);
  return sum;
}

template <int N>
Expansion<N> operator-(Expansion<N> a) noexcept {
  for (int i = 0; i < a.size; ++i) a.term[i] = -a.term[i];
  return a;
}

template <int N, int M>
Expansion<N + M> operator-(const Expansion<N>& a, const Expansion<M>& b) noexcept {
  return a + (-b);
}

// Scale-expansion (Shewchuk, theorem 19), without zeros.
template <int N>
Expansion<2 * N> scale(const Expansion<N>& a, double b) noexcept {
  Expansion<2 * N> product;
  double carry = 0.0;
  for (int i = 0; i < a.size; ++i) {
    const TwoTerms p = two_product(a.term[i], b);
    const TwoTerms low = two_sum(carry, p.low);
    product.push(low.low);
    const TwoTerms high = two_sum(p.high, low.high);
    product.push(high.low);
    carry = high.high;
  }
  product.push(carry);
  return product;
}

template <int N, int M>
Expansion<2 * N * M> operator*(const Expansion<N>& a, const Expansion<M>& b) noexcept {
  Expansion<2 * N * M> product;
  for (int j = 0; j < b.size; ++j) add_to(product, scale(a, b.term[j]));
  return product;
}

}  // namespace gjk
