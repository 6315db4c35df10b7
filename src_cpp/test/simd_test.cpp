// SPDX-FileCopyrightText: gjk_collision contributors
// SPDX-License-Identifier: Apache-2.0
// Every instruction set gives the same verdicts and the same doubles, and those of the generic
// code.
#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "gjk/gjk.hpp"
#include "pairs.hpp"

namespace gjk {
namespace {

using test::Outline;
using test::random_outline;

std::vector<simd::Isa> supported() {
  std::vector<simd::Isa> sets{simd::Isa::baseline};
  const simd::Isa widest = simd::detect_isa();
  if (widest != simd::Isa::baseline) sets.push_back(simd::Isa::avx2);
  if (widest == simd::Isa::avx512) sets.push_back(simd::Isa::avx512);
  return sets;
}

// Runs the query with each set in turn and hands its answers to `compare`.
template <class Query, class Compare>
void on_each_set(const Query& query, const Compare& compare) {
  const simd::Isa usual = simd::isa;
  simd::isa = simd::Isa::baseline;
  const auto reference = query();
  for (const simd::Isa set : supported()) {
    simd::isa = set;
    compare(reference, query(), static_cast<int>(set));
  }
  simd::isa = usual;
}

TEST(Simd, all_sets_agree) {
  std::mt19937_64 random(20261120);
  int collisions = 0;
  constexpr int kRounds = 20000;
  for (int round = 0; round < kRounds; ++round) {
    // A grid this coarse gives contacts, parallel edges and shared vertices.
    const auto upto = [&random](std::uint64_t n) { return static_cast<int>(random() % n) + 1; };
    const Outline p = random_outline(random, upto(40), 24);
    const Outline q = random_outline(random, upto(40), 24, upto(36), -upto(12));
    const Convex a = p.convex();
    const Convex b = q.convex();
    const Verdict exactly = exact::collide(a, b);
    collisions += exactly == Verdict::collision ? 1 : 0;
    on_each_set([&] { return collide(a, b); },
                [&](Verdict, Verdict verdict, int set) {
                  ASSERT_EQ(verdict, exactly) << "set " << set << " round " << round << "\n"
                                              << p.literal() << "\n"
                                              << q.literal();
                });
    on_each_set([&] { return closest(a, b); },
                [&](const Closest& one, const Closest& other, int set) {
                  ASSERT_EQ(one.distance, other.distance)
                      << "set " << set << " round " << round << "\n"
                      << p.literal() << "\n"
                      << q.literal();
                  ASSERT_EQ(one.lower_bound, other.lower_bound);
                  ASSERT_EQ(one.point_a, other.point_a);
                  ASSERT_EQ(one.direction, other.direction);
                });
  }
  EXPECT_GT(collisions, kRounds / 10);
  EXPECT_LT(collisions, kRounds * 9 / 10);
}

TEST(Simd, support_is_the_first_of_the_farthest) {
  std::mt19937_64 random(7);
  const auto small = [&random](int most) {
    return static_cast<double>(static_cast<int>(random() % static_cast<unsigned>(2 * most + 1)) -
                               most);
  };
  for (int n = 1; n <= 200; ++n) {
    std::vector<double> x, y;
    for (int i = 0; i < n; ++i) {
      x.push_back(small(3));
      y.push_back(small(3));
    }
    const Vec2 d{small(2), small(2)};
    const int expected = Convex::view(x.data(), y.data(), n).support(d);
    EXPECT_EQ(simd::baseline::farthest(x.data(), y.data(), n, d), expected) << n;
#ifdef GJK_X86_DISPATCH
    if (simd::detect_isa() == simd::Isa::baseline) continue;
    EXPECT_EQ(simd::avx2::farthest(x.data(), y.data(), n, d), expected) << n;
    if (simd::detect_isa() == simd::Isa::avx2) continue;
    EXPECT_EQ(simd::avx512::farthest(x.data(), y.data(), n, d), expected) << n;
#endif
  }
}

}  // namespace
}  // namespace gjk
