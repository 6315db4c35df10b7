// SPDX-FileCopyrightText: gjk_collision contributors
// SPDX-License-Identifier: Apache-2.0
// Shapes at poses in fixed point with as many bits as asked for: the truth that the kernel's
// rounded transforms are held against.
#pragma once

#include <utility>

#include "gjk/shape/pose.hpp"
#include "oracle.hpp"

namespace gjk::verify {

// Bits after the point. The first number is enough for almost every question and fast. The second
// one resolves the smallest double times the sine of the smallest double (2^-2148).
inline constexpr int kFraction = 320;
inline constexpr int kWideFraction = 2400;

// A pose in real numbers: yaw = angle + half_turns * pi.
struct TruePose {
  mpq_class x;
  mpq_class y;
  mpq_class angle;
  mpq_class half_turns;

  static TruePose of(const Pose& pose) {
    return {mpq_class(pose.x), mpq_class(pose.y), mpq_class(pose.yaw), {}};
  }
  bool is_turned() const { return angle != 0 || half_turns != 0; }
};

namespace detail {

// A value in units of 2^-bits, rounded down, and whether nothing was lost.
struct Fixed {
  mpz_class value;
  bool is_exact = true;
};

inline Fixed to_fixed(const mpq_class& value, int bits) {
  const mpz_class scaled = value.get_num() << static_cast<mp_bitcnt_t>(bits);
  Fixed result;
  mpz_class rest;
  mpz_fdiv_qr(result.value.get_mpz_t(), rest.get_mpz_t(), scaled.get_mpz_t(),
              value.get_den_mpz_t());
  result.is_exact = rest == 0;
  return result;
}

// arctan(1 / n) in units of 2^-bits, by its series.
inline mpz_class arctan_of_inverse(int n, int bits) {
  mpz_class power = (mpz_class(1) << static_cast<mp_bitcnt_t>(bits)) / n;
  mpz_class sum = power;
  for (int k = 1; power != 0; ++k) {
    power /= n * n;
    const mpz_class term = power / (2 * k + 1);
    sum += k % 2 == 0 ? term : mpz_class(-term);
  }
  return sum;
}

}  // namespace detail

// pi in units of 2^-bits (J. Machin, 1706), off by less than one.
inline mpz_class pi_to(int bits) {
  constexpr int kGuard = 64;
  static const mpz_class most = [] {
    constexpr int kBits = kWideFraction + 2 * kGuard;
    const mpz_class quarter =
        4 * detail::arctan_of_inverse(5, kBits) - detail::arctan_of_inverse(239, kBits);
    return mpz_class(4 * quarter);
  }();
  return most >> static_cast<mp_bitcnt_t>(kWideFraction + 2 * kGuard - bits);
}

struct Turn {
  mpz_class cos;
  mpz_class sin;
};

// Cosine and sine in units of 2^-bits of an angle in the same units (|angle| < 7 rad). By the
// Taylor series at angle / 2^24, then doubling the angle 24 times. That costs less than 60 bits.
inline Turn turn_of(const mpz_class& angle, int bits) {
  constexpr int kHalvings = 24;
  const auto shift = static_cast<mp_bitcnt_t>(bits);
  const mpz_class one = mpz_class(1) << shift;
  const mpz_class t = angle >> kHalvings;
  const mpz_class squared = (t * t) >> shift;
  Turn turn{one, t};
  mpz_class cos_term = one;
  mpz_class sin_term = t;
  for (int k = 1; sin_term != 0 || cos_term != 0; ++k) {
    cos_term = -((cos_term * squared) >> shift) / ((2 * k - 1) * (2 * k));
    sin_term = -((sin_term * squared) >> shift) / ((2 * k) * (2 * k + 1));
    if (abs(cos_term) <= 1) cos_term = 0;  // floors of negatives end at -1
    if (abs(sin_term) <= 1) sin_term = 0;
    turn.cos += cos_term;
    turn.sin += sin_term;
  }
  for (int k = 0; k < kHalvings; ++k) {
    const mpz_class sin = (2 * turn.sin * turn.cos) >> shift;
    turn.cos = one - ((2 * turn.sin * turn.sin) >> shift);
    turn.sin = sin;
  }
  return turn;
}

// World coordinates of points in units of 2^-bits m. Each is less than `error` units off; 0: exact.
struct Placing {
  Ring<mpz_class> points;
  mpz_class error = 0;
};

inline Placing placed_exactly(const Polygon& polygon, const TruePose& pose, int bits) {
  Placing placing;
  const detail::Fixed x = detail::to_fixed(pose.x, bits);
  const detail::Fixed y = detail::to_fixed(pose.y, bits);
  bool is_exact = x.is_exact && y.is_exact;
  Ring<mpz_class> local;
  double extent = 0.0;
  for (int i = 0; i < polygon.size(); ++i) {
    const Vec2 v = polygon.vertex(i);
    const detail::Fixed vx = detail::to_fixed(mpq_class(v.x), bits);
    const detail::Fixed vy = detail::to_fixed(mpq_class(v.y), bits);
    is_exact = is_exact && vx.is_exact && vy.is_exact;
    extent = std::max({extent, std::fabs(v.x), std::fabs(v.y)});
    local.push_back({vx.value, vy.value});
  }
  if (!pose.is_turned()) {
    for (const auto& v : local) {
      placing.points.push_back({mpz_class(v.x + x.value), mpz_class(v.y + y.value)});
    }
    placing.error = is_exact ? 0 : 2;
    return placing;
  }
  // With the guard bits sine and cosine are exact to less than 2^-60 of a unit per metre.
  constexpr int kGuard = 128;
  const int precision = bits + kGuard;
  const detail::Fixed angle = detail::to_fixed(pose.angle, precision);
  const detail::Fixed half_turns = detail::to_fixed(pose.half_turns, precision);
  mpz_class yaw =
      angle.value + ((half_turns.value * pi_to(precision)) >> static_cast<mp_bitcnt_t>(precision));
  const mpz_class whole = 2 * pi_to(precision);
  yaw -= (yaw / whole) * whole;
  const Turn turn = turn_of(yaw, precision);
  const auto shift = static_cast<mp_bitcnt_t>(precision);
  for (const auto& v : local) {
    placing.points.push_back({mpz_class(((turn.cos * v.x - turn.sin * v.y) >> shift) + x.value),
                              mpz_class(((turn.sin * v.x + turn.cos * v.y) >> shift) + y.value)});
  }
  // Floors: of the pose, of both local coordinates as they are turned, and of the product. The yaw
  // is off by up to 2^-(kGuard - 2) units, times 2^51 m at most.
  placing.error = 4;
  return placing;
}

}  // namespace gjk::verify
