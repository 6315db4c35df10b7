// SPDX-FileCopyrightText: gjk_collision contributors
// SPDX-License-Identifier: Apache-2.0
// What a view finds out about its vertices, with each instruction set, against the definitions.
#include "gjk/shape/outline.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

#include "gjk/shape/convex.hpp"
#include "isas.hpp"

namespace gjk::outline_test {
namespace {

// An outline on a grid of integers, so that the oracle has no rounding.
struct Ring {
  std::vector<std::int64_t> x;
  std::vector<std::int64_t> y;

  int size() const { return static_cast<int>(x.size()); }
  std::int64_t turn(std::size_t a, std::size_t b, std::size_t c) const {
    return (x[b] - x[a]) * (y[c] - y[a]) - (y[b] - y[a]) * (x[c] - x[a]);
  }
};

// Each vertex is strictly to the left of each edge that does not end at it.
bool is_strictly_convex(const Ring& ring) {
  const std::size_t n = ring.x.size();
  for (std::size_t i = 0; i < n; ++i) {
    const std::size_t next = (i + 1) % n;
    for (std::size_t k = 0; k < n; ++k) {
      if (k != i && k != next && ring.turn(i, next, k) <= 0) return false;
    }
  }
  return n > 2;
}

// Points of a parabola are strictly convex for any n. Then the ring is rotated, and one in two is
// changed: two vertices exchanged, one repeated, one moved, reversed, or every second vertex taken.
Ring random_ring(std::mt19937_64& random, int n) {
  const auto below = [&random](std::size_t limit) {
    return static_cast<std::size_t>(random() % limit);
  };
  Ring ring;
  const std::int64_t shift = static_cast<std::int64_t>(below(40)) - 20;
  for (int i = 0; i < n; ++i) {
    const std::int64_t t = i - n / 2;
    ring.x.push_back(t + shift);
    ring.y.push_back(t * t - shift);
  }
  if (below(2) != 0)
    ring.x.swap(ring.y), std::ranges::reverse(ring.x), std::ranges::reverse(ring.y);
  const auto by = static_cast<std::ptrdiff_t>(below(ring.x.size()));
  std::rotate(ring.x.begin(), ring.x.begin() + by, ring.x.end());
  std::rotate(ring.y.begin(), ring.y.begin() + by, ring.y.end());
  const std::size_t i = below(ring.x.size());
  const std::size_t k = below(ring.x.size());
  switch (below(10)) {
    case 0:
      std::swap(ring.x[i], ring.x[k]);
      std::swap(ring.y[i], ring.y[k]);
      break;
    case 1:
      ring.x[i] = ring.x[k];
      ring.y[i] = ring.y[k];
      break;
    case 2:
      ring.x[i] += static_cast<std::int64_t>(below(9)) - 4;
      break;
    case 3:
      std::ranges::reverse(ring.x);
      std::ranges::reverse(ring.y);
      break;
    case 4: {  // of an odd number: a star, which turns left at each vertex
      Ring star;
      for (std::size_t s = 0; s < ring.x.size(); ++s) {
        star.x.push_back(ring.x[2 * s % ring.x.size()]);
        star.y.push_back(ring.y[2 * s % ring.x.size()]);
      }
      return star;
    }
    default:
      break;
  }
  return ring;
}

TEST(Outline, facts_agree_with_their_definitions) {
  std::mt19937_64 random(20261124);
  const simd::Isa usual = simd::isa;
  int convex = 0;
  int others = 0;
  constexpr int kRounds = 40000;
  for (int round = 0; round < kRounds; ++round) {
    const int n = 3 + static_cast<int>(random() % 62);
    const Ring ring = random_ring(random, n);
    const double unit = std::ldexp(1.0, round % 3 == 0 ? 0 : (round % 3 == 1 ? 20 : -140));
    std::vector<double> x(ring.x.begin(), ring.x.end());
    std::vector<double> y(ring.y.begin(), ring.y.end());
    for (double& v : x) v *= unit;
    for (double& v : y) v *= unit;
    constexpr double kBad[] = {std::numeric_limits<double>::quiet_NaN(),
                               std::numeric_limits<double>::infinity(),
                               -std::numeric_limits<double>::infinity()};
    const bool is_bad = round % 11 == 0;
    if (is_bad) (round % 2 == 0 ? x : y)[random() % x.size()] = kBad[round % 3];

    const auto first = [](const auto& at) { return static_cast<int>(at); };
    const std::array<int, 4> farthest{first(std::ranges::max_element(x) - x.begin()),
                                      first(std::ranges::max_element(y) - y.begin()),
                                      first(std::ranges::min_element(x) - x.begin()),
                                      first(std::ranges::min_element(y) - y.begin())};
    const auto is_small = [](double v) { return v != 0.0 && std::fabs(v) < 1e-40; };
    const bool has_small = std::ranges::any_of(x, is_small) || std::ranges::any_of(y, is_small);
    const bool is_convex = is_strictly_convex(ring);
    (is_convex ? convex : others) += 1;
    for (const simd::Isa set : verify::available_isas()) {
      simd::isa = set;
      const OutlineFacts found = examine(x.data(), y.data(), n);
      ASSERT_EQ(found.is_finite, !is_bad) << round;
      if (is_bad) {
        ASSERT_TRUE(std::isnan(Convex::view(x.data(), y.data(), n).extent)) << round;
        continue;
      }
      ASSERT_EQ(found.has_tiny, has_small) << round;
      ASSERT_EQ(found.farthest, farthest) << round;
      ASSERT_EQ(found.is_surely_convex, is_convex && !has_small) << round << " n " << n;
      ASSERT_EQ(Convex::view(x.data(), y.data(), n).outline_one_by_one().farthest, farthest);
    }
    simd::isa = usual;
  }
  EXPECT_GT(convex, kRounds / 4);
  EXPECT_GT(others, kRounds / 4);
}

// Beyond the vectors: 1, 2 and 65 vertices.
TEST(Outline, view_of_any_number_of_vertices) {
  for (const int n : {1, 2, 3, 64, 65, 200}) {
    std::vector<double> x;
    std::vector<double> y;
    for (int i = 0; i < n; ++i) {
      x.push_back(i);
      y.push_back(static_cast<double>(i) * i);
    }
    const Convex view = Convex::view(x.data(), y.data(), n);
    EXPECT_EQ(view.extent, n == 1 ? 0.0 : (n - 1.0) * (n - 1.0)) << n;
    EXPECT_EQ(view.extreme[0], n - 1) << n;
    EXPECT_EQ(view.extreme[2], 0) << n;
    if (n < 3) continue;
    std::ranges::reverse(x);
    std::ranges::reverse(y);
    EXPECT_TRUE(std::isnan(Convex::view(x.data(), y.data(), n).extent)) << n;  // clockwise
  }
  EXPECT_TRUE(std::isnan(Convex::view(nullptr, nullptr, 0).extent));
}

}  // namespace
}  // namespace gjk::outline_test
