// SPDX-FileCopyrightText: gjk_collision contributors
// SPDX-License-Identifier: Apache-2.0
// Random numbers that are the same on every machine: integers and IEEE +, -, *, /, sqrt only.
#pragma once

#include <cmath>
#include <cstdint>
#include <utility>

#include "gjk/shape/vec2.hpp"

namespace gjk::verify {

// SplitMix64 (Steele, Lea, Flood). The standard's engines are portable, its distributions are not.
class Random {
 public:
  explicit Random(std::uint64_t seed) noexcept : state_(seed) {}

  std::uint64_t next() noexcept {
    std::uint64_t z = (state_ += 0x9e3779b97f4a7c15ULL);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
    return z ^ (z >> 31);
  }
  // In [0, n).
  int below(int n) noexcept { return static_cast<int>((next() >> 33) % static_cast<unsigned>(n)); }
  // In [low, high], both ends included.
  int between(int low, int high) noexcept { return low + below(high - low + 1); }
  bool chance(double share) noexcept { return uniform() < share; }
  double uniform() noexcept { return static_cast<double>(next() >> 11) * 0x1p-53; }
  double uniform(double low, double high) noexcept { return low + (high - low) * uniform(); }
  // Uniform on the unit circle.
  Vec2 direction() noexcept {
    for (;;) {
      const double x = uniform(-1.0, 1.0);
      const double y = uniform(-1.0, 1.0);
      const double squared = x * x + y * y;
      if (squared > 0.01 && squared <= 1.0) return (1.0 / std::sqrt(squared)) * Vec2{x, y};
    }
  }
  template <class Sequence>
  void shuffle(Sequence& sequence) noexcept {
    for (std::size_t i = sequence.size(); i > 1; --i) {
      std::swap(sequence[i - 1], sequence[static_cast<std::size_t>(next() % i)]);
    }
  }

 private:
  std::uint64_t state_;
};

}  // namespace gjk::verify
