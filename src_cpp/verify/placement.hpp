// SPDX-FileCopyrightText: gjk_collision contributors
// SPDX-License-Identifier: Apache-2.0
// Shapes at poses, to 1e-60 m: the truth that the kernel's rounded transforms are held against.
#pragma once

#include "gjk/pose.hpp"
#include "oracle.hpp"

namespace gjk::verify {

// Fixed point with this many bits after the point.
inline constexpr int kFraction = 320;

struct Turn {
  mpz_class cos;
  mpz_class sin;
};

// By the Taylor series at angle / 2^24, then doubling the angle 24 times, which costs 48 bits.
inline Turn turn_of(double angle) {
  constexpr int kHalvings = 24;
  const mpz_class one = mpz_class(1) << kFraction;
  mpz_class t = to_integer<mpz_class>(angle, -kFraction) >> kHalvings;
  const mpz_class squared = (t * t) >> kFraction;
  Turn turn{one, t};
  mpz_class cos_term = one;
  mpz_class sin_term = t;
  for (int k = 1; sin_term != 0 || cos_term != 0; ++k) {
    cos_term = -((cos_term * squared) >> kFraction) / ((2 * k - 1) * (2 * k));
    sin_term = -((sin_term * squared) >> kFraction) / ((2 * k) * (2 * k + 1));
    if (abs(cos_term) <= 1) cos_term = 0;  // floors of negatives end at -1
    if (abs(sin_term) <= 1) sin_term = 0;
    turn.cos += cos_term;
    turn.sin += sin_term;
  }
  for (int k = 0; k < kHalvings; ++k) {
    const mpz_class sin = (2 * turn.sin * turn.cos) >> kFraction;
    turn.cos = one - ((2 * turn.sin * turn.sin) >> kFraction);
    turn.sin = sin;
  }
  return turn;
}

// World coordinates of the polygon's vertices, on a grid of 2^-kFraction m.
inline Ring<mpz_class> placed_exactly(const Polygon& polygon, const Pose& pose) {
  const Turn turn = turn_of(pose.yaw);
  const Ring<mpz_class> local = to_ring<mpz_class>(polygon, -kFraction);
  const mpz_class tx = to_integer<mpz_class>(pose.x, -kFraction);
  const mpz_class ty = to_integer<mpz_class>(pose.y, -kFraction);
  Ring<mpz_class> world;
  for (const auto& v : local) {
    world.push_back({mpz_class(((turn.cos * v.x - turn.sin * v.y) >> kFraction) + tx),
                     mpz_class(((turn.sin * v.x + turn.cos * v.y) >> kFraction) + ty)});
  }
  return world;
}

}  // namespace gjk::verify
