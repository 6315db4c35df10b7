// SPDX-FileCopyrightText: gjk_collision contributors
// SPDX-License-Identifier: Apache-2.0
// Every instruction set gives the same verdicts and the same doubles, and those of the generic
// code.
#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

#include "gjk/gjk.hpp"
#include "gjk/narrow/axes.hpp"
#include "gjk/narrow/distance_lanes.hpp"
#include "gjk/narrow/view.hpp"
#include "isas.hpp"
#include "pairs.hpp"

namespace gjk::simd_test {
namespace {

using namespace detail;

using test::Outline;
using test::random_outline;

// Runs the query with each set in turn and hands its answers to `compare`.
template <class Query, class Compare>
void on_each_set(const Query& query, const Compare& compare) {
  const simd::Isa usual = simd::isa;
  simd::isa = simd::Isa::baseline;
  const auto reference = query();
  for (const simd::Isa set : verify::available_isas()) {
    simd::isa = set;
    compare(reference, query(), static_cast<int>(set));
  }
  simd::isa = usual;
}

// check.operator()<View>(name) with the views of each set.
template <class Check>
void on_each_view(const Check& check) {
  check.template operator()<baseline::View>("baseline");
#ifdef GJK_X86_DISPATCH
  const simd::Isa widest = simd::detect_isa();
  if (widest == simd::Isa::baseline) return;
  check.template operator()<avx2::View>("avx2");
  if (widest == simd::Isa::avx2) return;
  check.template operator()<avx512::View>("avx512");
#endif
}

TEST(Simd, sine_and_cosine_are_the_same_in_lanes) {
  std::mt19937_64 random(20261127);
  for (const double range : {1e-300, 1e-8, 1.0, 10.0, 1e3, kMaxYaw}) {
    std::uniform_real_distribution<double> any(-range, range);
    for (int round = 0; round < 2000; ++round) {
      double yaws[kDistanceLanes];
      for (double& yaw : yaws) yaw = any(random);
      yaws[round % kDistanceLanes] = std::rint(any(random)) * 1.5707963267948966;
      if (std::fabs(yaws[round % kDistanceLanes]) > kMaxYaw) continue;
      const auto turned = [&] {
        LaneTransforms at;
        simd::on_widest([&](auto set) { DistanceLanesOf<decltype(set)>::Type::turn(yaws, at); });
        return at;
      };
      on_each_set(turned, [&](const LaneTransforms&, const LaneTransforms& at, int set) {
        for (int k = 0; k < kDistanceLanes; ++k) {
          const SinCos alone = sin_cos(yaws[k]);
          ASSERT_EQ(at.sin[k], alone.sin) << set << ' ' << std::hexfloat << yaws[k];
          ASSERT_EQ(at.cos[k], alone.cos) << set << ' ' << std::hexfloat << yaws[k];
        }
      });
    }
  }
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
    const Convex shape = Convex::view(x.data(), y.data(), n);
    const int expected = shape.support(d);
    on_each_view([&]<class View>(const char* set) {
      EXPECT_EQ(View{shape}.support(d), expected) << set << " " << n;
    });
  }
}

// Of real coordinates, where the index that replaces the last bits is felt, and of repeated ones.
TEST(Simd, near_support_is_as_far_as_any_but_for_the_tag) {
  std::mt19937_64 random(8);
  std::uniform_real_distribution<double> real(-50.0, 50.0);
  for (int round = 0; round < 3000; ++round) {
    const int n = 1 + round % 70;
    std::vector<double> x, y;
    for (int i = 0; i < n; ++i) {
      const bool repeats = i > 0 && random() % 4 == 0;
      x.push_back(repeats ? x.back() : real(random));
      y.push_back(repeats ? y.back() : real(random));
    }
    const Convex shape = Convex::view(x.data(), y.data(), n);
    const Vec2 d = round % 10 == 0 ? Vec2{} : Vec2{real(random), real(random)};
    const double farthest = dot(d, shape.vertex(shape.support(d)));
    const int near = baseline::View{shape}.near_support(d);
    ASSERT_GE(near, 0);
    ASSERT_LT(near, n);
    EXPECT_GE(dot(d, shape.vertex(near)), farthest - 0x1p-45 * std::fabs(farthest)) << n;
    on_each_view([&]<class View>(const char* set) {
      EXPECT_EQ(View{shape}.near_support(d), near) << set << " " << n;
    });
  }
}

TEST(Simd, both_tests_of_edges_are_those_of_each) {
  std::mt19937_64 random(9);
  const auto upto = [&random](std::uint64_t n) { return static_cast<int>(random() % n) + 1; };
  int decided = 0;
  for (int round = 0; round < 20000; ++round) {
    const Outline p = random_outline(random, upto(8), 24);
    const Outline q = random_outline(random, upto(8), 24, upto(36), -upto(12));
    const Convex a = p.convex();
    const Convex b = q.convex();
    if (a.size < 2 || b.size < 2) continue;
    const double relative = support_rounding(a, b);
    const EdgeTest of_a = baseline::View{a}.separating_from(baseline::View{b}, relative);
    const EdgeTest of_b = baseline::View{b}.separating_from(baseline::View{a}, relative);
    decided += static_cast<int>((of_a.separates | of_b.separates) != 0);
    on_each_view([&]<class View>(const char* set) {
      const EdgeTests both = View{a}.separating_either(View{b}, relative);
      ASSERT_EQ(both.of_p.separates, of_a.separates) << set << p.literal() << q.literal();
      ASSERT_EQ(both.of_q.separates, of_b.separates) << set << p.literal() << q.literal();
      ASSERT_EQ(both.of_p.unsure, of_a.unsure) << set << p.literal() << q.literal();
      ASSERT_EQ(both.of_q.unsure, of_b.unsure) << set << p.literal() << q.literal();
    });
  }
  EXPECT_GT(decided, 2000);
}

}  // namespace
}  // namespace gjk::simd_test
