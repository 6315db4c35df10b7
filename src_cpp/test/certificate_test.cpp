// SPDX-FileCopyrightText: gjk_collision contributors
// SPDX-License-Identifier: Apache-2.0
// What a certificate may claim, and that a decision without one is not FREE.
#include "gjk/certificate.hpp"

#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "gjk/broad/bvh.hpp"
#include "gjk/query.hpp"
#include "pairs.hpp"

namespace gjk {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

Exhausted searched(bool to_its_end) {
  Bvh tree;
  const std::vector<Bvh::Key> keys(1);
  tree.arrange(keys);
  tree.set(0, Box{{0, 0}, {1, 1}});
  tree.update();
  const FloatBox all = FloatBox::around(kEverywhere);
  return tree.overlapping(all, {}, [to_its_end](std::uint32_t) { return !to_its_end; });
}

Certificate more_than(double lower) { return Certificate::exhausted(searched(true), lower); }

TEST(Certificate, proves_nothing_until_made) {
  const Certificate none;
  EXPECT_EQ(none.lower(), -kInfinity);
  EXPECT_FALSE(none.proves(0.0));
  EXPECT_EQ(none.beyond(0.0, Verdict::collision), Verdict::collision);
}

TEST(Certificate, of_points_in_any_order_is_below_the_distance_of_their_hulls) {
  std::mt19937_64 random(1);
  std::uniform_real_distribution<double> coordinate(-1.0, 1.0);
  int proven = 0;
  for (int k = 0; k < 20000; ++k) {
    const auto points = [&](double x) {  // unordered, not convex, some twice
      test::Outline outline;
      for (int i = 1 + static_cast<int>(random() % 12); i > 0; --i) {
        outline.x.push_back(x + coordinate(random));
        outline.y.push_back(coordinate(random));
        if (random() % 4 == 0) {
          outline.x.push_back(outline.x.front());
          outline.y.push_back(outline.y.front());
        }
      }
      return outline;
    };
    const test::Outline a = points(0.0);
    const test::Outline b = points(2.5 * coordinate(random));
    const double turn = 3.2 * coordinate(random);
    const Vec2 n{std::cos(turn), std::sin(turn)};
    const Vec2 from{1e3 * coordinate(random), coordinate(random)};
    const double lower = Certificate::along(a.convex(), b.convex(), n, from).lower();
    // No two points of the hulls are nearer along n than these, in longer numbers.
    long double gap = std::numeric_limits<long double>::infinity();
    for (int i = 0; i < a.size(); ++i) {
      for (int j = 0; j < b.size(); ++j) {
        const Vec2 p = a.convex().vertex(i);
        const Vec2 q = b.convex().vertex(j);
        gap = std::fmin(gap,
                        static_cast<long double>(n.x) * (static_cast<long double>(q.x) - p.x) +
                            static_cast<long double>(n.y) * (static_cast<long double>(q.y) - p.y));
      }
    }
    ASSERT_LE(lower, gap);
    ASSERT_GE(lower, gap - 1e-11L);
    proven += lower > 0.0;
  }
  EXPECT_GT(proven, 1000);
}

TEST(Certificate, along_a_vector_of_any_length_but_none) {
  const test::Outline a{{0}, {0}};
  const test::Outline b{{3}, {4}};
  const auto lower = [&](Vec2 n) {
    return Certificate::along(a.convex(), b.convex(), n, {}).lower();
  };
  for (const double length : {1e-90, 0.5, 1.0, 2.0, 1e15}) {
    EXPECT_LE(lower({0.6 * length, 0.8 * length}), 5.0);
    EXPECT_GT(lower({0.6 * length, 0.8 * length}), 5.0 - 1e-13);
    EXPECT_LT(lower({-0.6 * length, -0.8 * length}), -5.0);
  }
  for (const Vec2 n : {Vec2{0, 0}, Vec2{kNaN, 0}, Vec2{0, kNaN}, Vec2{kInfinity, 0},
                       Vec2{kInfinity, -kInfinity}, Vec2{6e-180, 8e-180}}) {
    EXPECT_EQ(lower(n), -kInfinity) << n.x << " " << n.y;
  }
}

TEST(Certificate, along_counts_radii_and_errors) {
  const test::Outline a{{0}, {0}};
  const test::Outline b{{3}, {4}};
  const Convex p = a.convex(0.5);
  Convex q = b.convex(0.25);
  q.error = 0.125;
  const double lower = Certificate::along(p, q, {0.6, 0.8}, {}).lower();
  EXPECT_LE(lower, 4.125);
  EXPECT_GE(lower, 4.125 - 1e-13);
}

TEST(Certificate, exact_ones_look_at_all_vertices_of_both) {
  // Its first edge has the point on the outer side, but so it has the last vertex: no outline.
  const test::Outline dented{{0, 4, 4, 0, 2}, {0, 0, 3, 3, -2}};
  const test::Outline point{{2}, {-1}};
  for (const double margin : {0.0, 0.5}) {
    EXPECT_FALSE(Certificate::exact(dented.convex(), point.convex(), margin, {}).proves(margin));
    EXPECT_FALSE(Certificate::exact(point.convex(), dented.convex(), margin, {}).proves(margin));
  }
  const test::Outline outline{{0, 2, 4, 4, 0}, {0, -2, 0, 3, 3}};
  const test::Outline below{{2}, {-3}};
  const test::Outline beside{{2, 6}, {-6, -2}};
  for (const test::Outline* other : {&below, &beside}) {
    const auto proves = [&](double margin) {
      const Convex p = outline.convex();
      const Convex q = other->convex();
      const bool one = Certificate::exact(p, q, margin, {}).proves(margin);
      EXPECT_EQ(Certificate::exact(q, p, margin, {}).proves(margin), one);
      return one;
    };
    EXPECT_TRUE(proves(0.0));
    EXPECT_TRUE(proves(std::nextafter(1.0, 0.0)));
    EXPECT_EQ(proves(1.0), other == &beside);
    EXPECT_EQ(proves(std::sqrt(8.0)), false);
  }
}

TEST(Certificate, of_both_is_the_weaker_and_of_either_the_stronger) {
  EXPECT_EQ(weaker(more_than(1.0), more_than(2.0)).lower(), 1.0);
  EXPECT_EQ(stronger(more_than(1.0), more_than(2.0)).lower(), 2.0);
  EXPECT_FALSE(weaker(more_than(1.0), {}).proves(0.0));
  EXPECT_TRUE(stronger({}, more_than(1.0)).proves(1.0));
  // At least as far as a margin is not farther than it.
  Closest touching;
  touching.status = Status::success;
  touching.lower_bound = 1.0;
  EXPECT_FALSE(Certificate::of(touching).proves(1.0));
  EXPECT_FALSE(weaker(Certificate::of(touching), more_than(1.0)).proves(1.0));
  EXPECT_TRUE(stronger(Certificate::of(touching), more_than(1.0)).proves(1.0));
  touching.lower_bound = kNaN;
  EXPECT_EQ(Certificate::of(touching).lower(), -kInfinity);
}

TEST(Certificate, a_search_that_was_aborted_proves_nothing) {
  EXPECT_TRUE(searched(true).is_complete());
  EXPECT_FALSE(searched(false).is_complete());
  EXPECT_FALSE(Exhausted().is_complete());
  EXPECT_TRUE(Certificate::exhausted(searched(true), 0.0).proves(0.0));
  EXPECT_FALSE(Certificate::exhausted(searched(false), 0.0).proves(0.0));
}

TEST(Decision, on_nothing_is_unknown) {
  const Decision none(0.0);
  EXPECT_EQ(none.verdict(), Verdict::unknown);
  EXPECT_EQ(none.status(), Status::internal_error);
  EXPECT_EQ(none.lower(), -kInfinity);
}

TEST(Decision, without_the_end_of_its_search_is_unknown) {
  Decision decision(0.5);
  decision.take(more_than(1.0));
  EXPECT_TRUE(is_free(decision.verdict()));
  EXPECT_EQ(decision.status(), Status::success);
  decision.take(Certificate::exhausted(searched(false), 0.5));
  EXPECT_EQ(decision.verdict(), Verdict::unknown);
  EXPECT_EQ(decision.status(), Status::internal_error);
}

TEST(Decision, free_implies_a_bound_of_at_least_the_margin) {
  for (const double lower : {-1.0, 0.0, 0.4, 0.5, 0.6}) {
    Decision decision(0.5);
    decision.take(more_than(lower));
    EXPECT_EQ(is_free(decision.verdict()), lower >= 0.5);
    EXPECT_EQ(decision.lower(), lower);
  }
}

TEST(Decision, is_the_worst) {
  Decision decision(1.0);
  EXPECT_FALSE(decision.take(Verdict::free));
  EXPECT_EQ(decision.lower(), 1.0);
  EXPECT_TRUE(decision.take(Verdict::margin, more_than(0.25)));
  EXPECT_EQ(decision.lower(), 0.25);
  EXPECT_TRUE(decision.fail(Status::prediction_too_short));
  EXPECT_EQ(decision.status(), Status::prediction_too_short);
  EXPECT_FALSE(decision.take(Verdict::margin));
  EXPECT_TRUE(decision.take(Verdict::collision));
  EXPECT_EQ(decision.status(), Status::success);
  EXPECT_FALSE(decision.fail(Status::iteration_limit));
  EXPECT_EQ(decision.verdict(), Verdict::collision);
  EXPECT_EQ(decision.lower(), -kInfinity);
}

}  // namespace
}  // namespace gjk
