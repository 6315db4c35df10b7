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

namespace gjk::certificate_test {
namespace {

Exhausted searched(bool to_its_end) {
  Bvh tree;
  tree.arrange<2>(1, [](std::size_t) noexcept { return Bvh::key_at({}); });
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

TEST(Decision, free_implies_the_distance_that_each_pair_requires) {
  for (const double required : {0.5, 0.7, 2.0}) {
    for (const double margin : {0.5, 0.6, 0.7, 1.0, 3.0}) {
      Decision decision(0.5);
      decision.take(Certificate::of(Verdict::free, 3.0));
      decision.take(Certificate::of(Verdict::free, margin), required);
      EXPECT_EQ(is_free(decision.verdict()), margin >= required) << margin << " " << required;
      EXPECT_EQ(decision.status() == Status::success, margin >= required);
      EXPECT_EQ(decision.lower(), margin);
    }
  }
  Decision decision(0.5);
  EXPECT_FALSE(decision.take(Verdict::free, {}, 2.0));
  EXPECT_TRUE(is_free(decision.verdict()));
  EXPECT_EQ(decision.lower(), 2.0);
  EXPECT_TRUE(decision.take(Verdict::margin, {}, 2.0));
  EXPECT_EQ(decision.verdict(), Verdict::margin);
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

// ---- each certificate: what it proves, and that it proves that much

TEST(Certificate, of_a_line_needs_more_than_the_reach_and_the_rounding) {
  const Vec2 d{-3, 4};  // |d| = 5, |d|_1 = 7
  const auto proves = [&](double along, double rounding, double grown) {
    const Certificate found = Certificate::beyond_line(d, along, rounding, grown, 0.25);
    EXPECT_TRUE(!found.proves(0.25) || found.lower() == 0.25);
    return found.proves(0.25);
  };
  EXPECT_FALSE(proves(10.0, 0.0, 2.0));
  EXPECT_TRUE(proves(std::nextafter(10.0, 11.0), 0.0, 2.0));
  EXPECT_FALSE(proves(1e-3, 0.0, 0x1p-10));
  EXPECT_TRUE(proves(1e-2, 0.0, 0x1p-10));
  EXPECT_FALSE(proves(7.0, 1.0, 0.0));
  EXPECT_TRUE(proves(std::nextafter(7.0, 8.0), 1.0, 0.0));
  EXPECT_FALSE(proves(17.0, 1.0, 2.0));
  EXPECT_TRUE(proves(17.0625, 1.0, 2.0));
  EXPECT_FALSE(proves(-1.0, 0.0, -2.0));  // a reach below 0 does not help
  EXPECT_FALSE(proves(0.0, 0.0, 0.0));
  EXPECT_FALSE(proves(0x1p-1000, 0.0, 0.0));
  EXPECT_TRUE(proves(1e-200, 0.0, 0.0));
  EXPECT_FALSE(proves(kNaN, 0.0, 0.0));
  EXPECT_FALSE(proves(1.0, kNaN, 0.0));
  EXPECT_FALSE(Certificate::beyond_line({kNaN, 1.0}, 1.0, 1.0, 1.0, 0.0).proves(0.0));
}

TEST(Certificate, of_extremes_needs_a_gap_along_an_axis) {
  for (int k = 0; k < 4; ++k) {
    // The smallest x or y of P - Q is 3, or the largest is -3.
    detail::Quadrilateral w{{5, 0, -5, 0}, {0, 5, 0, -5}};
    auto& along = k % 2 == 0 ? w.x : w.y;
    along[k] = k < 2 ? -3.0 : 3.0;
    EXPECT_TRUE(Certificate::boxes(w, 2.5, 0.5).proves(0.5)) << k;
    EXPECT_EQ(Certificate::boxes(w, 2.5, 0.5).lower(), 0.5) << k;
    EXPECT_FALSE(Certificate::boxes(w, 3.0, 0.5).proves(0.5)) << k;
    EXPECT_FALSE(Certificate::boxes(w, 3.5, 0.5).proves(0.5)) << k;
  }
}

TEST(Certificate, of_boxes_is_below_their_gap) {
  std::mt19937_64 random(3);
  std::uniform_real_distribution<double> unit(-1.0, 1.0);
  int proven = 0;
  for (int i = 0; i < 20000; ++i) {
    const double far = i % 2 == 0 ? 2.0 : 1e4;
    Box a, b;
    for (int k = 0; k < 2; ++k) a.include(Vec2{unit(random), unit(random)});
    const Vec2 at{far * unit(random), i % 3 == 0 ? 0.0 : far * unit(random)};
    for (int k = 0; k < 2; ++k) b.include(Vec2{at.x + unit(random), at.y + unit(random)});
    const double beyond = i % 5 == 0 ? 0.0 : 0.5 + 0.5 * unit(random);
    const auto gap = [](double low_a, double high_a, double low_b, double high_b) {
      return std::fmax(0.0L, std::fmax(static_cast<long double>(low_a) - high_b,
                                       static_cast<long double>(low_b) - high_a));
    };
    const long double x = gap(a.low.x, a.high.x, b.low.x, b.high.x);
    const long double y = gap(a.low.y, a.high.y, b.low.y, b.high.y);
    const long double truth = std::hypot(x, y) - static_cast<long double>(beyond);
    for (const double lower :
         {Certificate::boxes(a, b, beyond).lower(), Certificate::boxes(b, a, beyond).lower()}) {
      if (x == 0.0L && y == 0.0L) {
        ASSERT_EQ(lower, -kInfinity);
        continue;
      }
      ASSERT_LE(lower, truth) << i;
      ASSERT_GE(lower, truth - 1e-15L * (20 * std::hypot(x, y) + 20 * beyond)) << i;
      ++proven;
    }
  }
  EXPECT_GT(proven, 1000);
  // At the bound: distance 5, 4 m beyond the boxes.
  const Box a{{0, 0}, {1, 1}}, b{{4, 5}, {6, 6}};
  EXPECT_LE(Certificate::boxes(a, b, 4.0).lower(), 1.0);
  EXPECT_GT(Certificate::boxes(a, b, 4.0).lower(), 1.0 - 1e-13);
  EXPECT_FALSE(Certificate::boxes(a, b, kNaN).proves(-1e300));
}

TEST(Certificate, of_edges_is_that_of_the_certain_ones) {
  EXPECT_FALSE(Certificate::edges({}).proves(0.0));
  EXPECT_FALSE(Certificate::edges({{0, 3}, {0, 1}}).proves(0.0));
  EXPECT_TRUE(Certificate::edges({{2, 2}, {0, 0}}).proves(0.0));
  EXPECT_TRUE(Certificate::edges({{0, 0}, {1, 1}}).proves(0.0));
  EXPECT_EQ(Certificate::edges({{0, 0}, {1, 1}}).lower(), 0.0);
}

TEST(Certificate, of_a_verdict) {
  EXPECT_TRUE(Certificate::of(Verdict::free, 0.5).proves(0.5));
  EXPECT_EQ(Certificate::of(Verdict::free, 0.5).lower(), 0.5);
  EXPECT_TRUE(Certificate::of(Verdict::margin, 0.5).proves(0.0));
  EXPECT_EQ(Certificate::of(Verdict::margin, 0.5).lower(), 0.0);
  EXPECT_EQ(Certificate::of(Verdict::collision, 0.5).lower(), -kInfinity);
  EXPECT_EQ(Certificate::of(Verdict::unknown, 0.5).lower(), -kInfinity);
}

TEST(Certificate, of_the_same_bound_is_strict_if_both_or_either_are) {
  Closest near;
  near.status = Status::success;
  near.lower_bound = 1.0;
  const Certificate weak = Certificate::of(near);  // at least 1
  const Certificate strict = more_than(1.0);
  near.status = Status::numeric_failure;
  EXPECT_EQ(Certificate::of(near).lower(), -kInfinity);
  EXPECT_TRUE(weak.proves(0.5));
  EXPECT_TRUE(weak.proves(std::nextafter(1.0, 0.0)));
  EXPECT_FALSE(weaker(strict, weak).proves(1.0));
  EXPECT_FALSE(weaker(weak, strict).proves(1.0));
  EXPECT_FALSE(weaker(weak, weak).proves(1.0));
  EXPECT_TRUE(weaker(strict, strict).proves(1.0));
  EXPECT_TRUE(stronger(strict, weak).proves(1.0));
  EXPECT_TRUE(stronger(weak, strict).proves(1.0));
  EXPECT_FALSE(stronger(weak, weak).proves(1.0));
  EXPECT_EQ(weaker(more_than(2.0), strict).lower(), 1.0);
  EXPECT_EQ(stronger(more_than(2.0), strict).lower(), 2.0);
  EXPECT_EQ(stronger(strict, more_than(2.0)).lower(), 2.0);
  EXPECT_FALSE(strict.proves(std::nextafter(1.0, 2.0)));
  EXPECT_EQ(Certificate::during(strict, more_than(2.0)).lower(), 1.0);
  EXPECT_EQ(Certificate::during(more_than(2.0), strict).lower(), 1.0);
}

TEST(GrownReach, covers_the_errors_and_the_rounding_of_the_sum) {
  std::mt19937_64 random(4);
  std::uniform_real_distribution<double> unit(0.0, 1.0);
  const test::Outline point{{0}, {0}};
  for (int i = 0; i < 20000; ++i) {
    Convex p = point.convex();
    Convex q = point.convex();
    p.error = i % 3 == 0 ? 0.0 : unit(random);
    q.error = i % 5 == 0 ? 0.0 : unit(random);
    const double reach = i % 7 == 0 ? 0.0 : unit(random);
    const long double truth = static_cast<long double>(reach) + p.error + q.error;
    ASSERT_GE(grown_reach(p, q, reach), truth);
    ASSERT_LE(grown_reach(p, q, reach), truth * (1 + 1e-14L));
  }
}

TEST(Decision, counts_what_has_no_verdict) {
  Decision decision(0.5);
  EXPECT_TRUE(decision.take(Verdict::unknown, more_than(3.0)));
  EXPECT_EQ(decision.verdict(), Verdict::unknown);
  EXPECT_EQ(decision.status(), Status::numeric_failure);
  EXPECT_EQ(decision.lower(), -kInfinity);
  Decision bounded(0.5);
  bounded.take(more_than(1.0));
  EXPECT_TRUE(bounded.fail(Status::iteration_limit, more_than(0.75)));
  EXPECT_EQ(bounded.lower(), 0.75);
  EXPECT_EQ(bounded.verdict(), Verdict::unknown);
  EXPECT_FALSE(bounded.fail(Status::prediction_too_short, more_than(0.75)));
  EXPECT_EQ(bounded.status(), Status::iteration_limit);
}

TEST(Decision, of_a_free_pair_has_the_better_bound) {
  Decision decision(0.5);
  EXPECT_FALSE(decision.take(Verdict::free, more_than(2.0)));
  EXPECT_EQ(decision.lower(), 2.0);
  EXPECT_TRUE(is_free(decision.verdict()));
  EXPECT_FALSE(decision.take(Verdict::free, more_than(0.25)));
  EXPECT_EQ(decision.lower(), 0.5);
  EXPECT_TRUE(is_free(decision.verdict()));
  EXPECT_TRUE(decision.take(Verdict::margin));
  EXPECT_EQ(decision.verdict(), Verdict::margin);
  EXPECT_EQ(decision.status(), Status::success);
  EXPECT_EQ(decision.lower(), 0.0);
  EXPECT_TRUE(decision.take(Verdict::collision));
  EXPECT_FALSE(decision.take(Verdict::collision));
  EXPECT_EQ(decision.lower(), -kInfinity);
}

TEST(CheckFree, free_without_a_bound_of_the_margin_is_an_internal_error) {
  const Verdict free = Certificate::of(Verdict::margin, 0.0).beyond(-1.0, Verdict::unknown);
  ASSERT_TRUE(is_free(free));
  const std::size_t before = internal_errors;
  for (const double bound : {0.5, std::nextafter(0.5, 1.0), 7.0, kInfinity}) {
    Verdict verdict = free;
    Status status = Status::success;
    check_free(verdict, status, bound, 0.5);
    EXPECT_TRUE(is_free(verdict));
    EXPECT_EQ(status, Status::success);
  }
  EXPECT_EQ(internal_errors, before);
  for (const double bound : {std::nextafter(0.5, 0.0), 0.0, -1.0, -kInfinity, kNaN}) {
    Verdict verdict = free;
    Status status = Status::success;
    check_free(verdict, status, bound, 0.5);
    EXPECT_EQ(verdict, Verdict::unknown);
    EXPECT_EQ(status, Status::internal_error);
  }
  EXPECT_EQ(internal_errors, before + 5);
  // Other verdicts stay. What the kernel itself reports is counted.
  Verdict verdict = Verdict::unknown;
  Status status = Status::internal_error;
  check_free(verdict, status, 7.0, 0.5);
  EXPECT_EQ(internal_errors, before + 6);
  verdict = Verdict::margin;
  status = Status::success;
  check_free(verdict, status, 0.1, 0.5);
  EXPECT_EQ(verdict, Verdict::margin);
  EXPECT_EQ(internal_errors, before + 6);
}

}  // namespace
}  // namespace gjk::certificate_test
