// SPDX-FileCopyrightText: gjk_collision contributors
// SPDX-License-Identifier: Apache-2.0
// Exact decisions about polygons with radii and margins, and the bounds on their distance, against
// rational arithmetic.
#include <gmpxx.h>
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "gjk/certificate.hpp"
#include "gjk/narrow/exact.hpp"
#include "gjk/narrow/view.hpp"
#include "pairs.hpp"

namespace gjk::margin_test {
namespace {

using test::Outline;

// The squared distance of a point to an edge.
mpq_class squared_distance(Vec2 from, Vec2 to, Vec2 vertex) {
  const mpq_class ex = mpq_class(to.x) - mpq_class(from.x);
  const mpq_class ey = mpq_class(to.y) - mpq_class(from.y);
  const mpq_class vx = mpq_class(vertex.x) - mpq_class(from.x);
  const mpq_class vy = mpq_class(vertex.y) - mpq_class(from.y);
  const mpq_class length = ex * ex + ey * ey;
  mpq_class share = length > 0 ? mpq_class((ex * vx + ey * vy) / length) : mpq_class(0);
  if (share < 0) share = 0;
  if (share > 1) share = 1;
  const mpq_class x = vx - share * ex;
  const mpq_class y = vy - share * ey;
  return x * x + y * y;
}

// The squared distance of two outlines that are disjoint.
mpq_class squared_distance(const Outline& p, const Outline& q) {
  mpq_class least = -1;
  for (const auto& [own, other] : {std::pair{&p, &q}, std::pair{&q, &p}}) {
    for (int i = 0; i < own->size(); ++i) {
      const Vec2 from = own->convex().vertex(i);
      const Vec2 to = own->convex().vertex((i + 1) % own->size());
      for (int j = 0; j < other->size(); ++j) {
        const mpq_class squared = squared_distance(from, to, other->convex().vertex(j));
        if (least < 0 || squared < least) least = squared;
      }
    }
  }
  return least;
}

// Sign of the distance minus a value that is not negative.
int compare(const mpq_class& squared_distance, const mpq_class& value) {
  return cmp(squared_distance, mpq_class(value * value));
}

struct Case {
  Outline p;
  Outline q;
};

// Disjoint outlines on a grid of integers.
class Cases {
 public:
  Case next() {
    while (true) {
      ++count_;
      const std::int64_t size = count_ % 3 == 0 ? 4 : (count_ % 3 == 1 ? 12 : 1000);
      Case c{test::random_outline(random_, 1 + below(8), size),
             test::random_outline(random_, 1 + below(8), size,
                                  below(3 * static_cast<int>(size)) - size,
                                  below(3 * static_cast<int>(size)) - size)};
      if (test::disjoint(c.p, c.q)) return c;
    }
  }
  int below(int n) { return std::uniform_int_distribution<int>(0, n - 1)(random_); }

 private:
  std::mt19937_64 random_{20261123};
  int count_ = 0;
};

// Next to x, or x itself.
double beside(double x, int ulps) {
  for (; ulps > 0; --ulps) x = std::nextafter(x, 1e300);
  for (; ulps < 0; ++ulps) x = std::nextafter(x, 0.0);
  return x;
}

TEST(ExactMargin, of_polygons_with_radii_is_that_of_rational_arithmetic) {
  Cases cases;
  int hits = 0, equal = 0;
  constexpr int kPairs = 4000;
  for (int i = 0; i < kPairs; ++i) {
    const Case c = cases.next();
    const mpq_class squared = squared_distance(c.p, c.q);
    // Radii and a margin that add up to the distance, or nearly so.
    const double distance = beside(std::sqrt(squared.get_d()), cases.below(7) - 3);
    double radius[2] = {0.0, 0.0};
    double margin = 0.0;
    switch (i % 4) {
      case 0:
        margin = distance;
        break;
      case 1:
        radius[0] = distance;
        break;
      case 2:
        radius[1] = 0.25 * distance;
        margin = 0.75 * distance;
        break;
      default:
        radius[0] = 0.3 * distance;
        radius[1] = 0.1 * distance;
        margin = distance - (radius[0] + radius[1]);
    }
    const mpq_class reach = mpq_class(radius[0]) + mpq_class(radius[1]) + mpq_class(margin);
    const int truth = compare(squared, reach);
    hits += truth <= 0;
    equal += truth == 0;
    const Convex p = c.p.convex(radius[0]);
    const Convex q = c.q.convex(radius[1]);
    const Verdict expected = truth <= 0 ? Verdict::collision : Verdict::free;
    ASSERT_EQ(exact::collide(p, q, margin), expected)
        << c.p.literal() << "against " << c.q.literal() << std::hexfloat << radius[0] << " "
        << radius[1] << " " << margin;
    ASSERT_EQ(exact::collide(q, p, margin), expected) << c.p.literal() << c.q.literal();
  }
  EXPECT_GT(hits, kPairs / 5);
  EXPECT_GT(kPairs - hits, kPairs / 5);
  EXPECT_GT(equal, 40);
}

TEST(ExactMargin, of_polygons_with_an_error_is_free_only_beyond_it_and_free_where_clearly_apart) {
  Cases cases;
  int hits = 0;
  constexpr int kPairs = 2000;
  for (int i = 0; i < kPairs; ++i) {
    const Case c = cases.next();
    const mpq_class squared = squared_distance(c.p, c.q);
    const double distance = std::sqrt(squared.get_d());
    const double error = std::ldexp(distance, -2 - i % 45);
    Convex p = c.p.convex(i % 2 == 0 ? 0.25 * distance : 0.0);
    Convex q = c.q.convex(i % 3 == 0 ? 0.125 * distance : 0.0);
    p.error = i % 5 < 3 ? 0.75 * error : 0.0;
    q.error = i % 5 == 0 ? 0.0 : 0.25 * error;
    const double errors = p.error + q.error;
    for (const double share : {0.0, 0.5, 1.0, 1.0 + 0x1p-30, 4.0}) {
      const double margin = distance - p.radius - q.radius - share * errors;
      if (margin < 0.0) continue;
      const Verdict verdict = exact::collide(p, q, margin);
      const mpq_class reach = mpq_class(p.radius) + mpq_class(q.radius) + mpq_class(margin);
      const bool is_certain = compare(squared, reach + mpq_class(errors)) > 0;
      hits += !is_certain;
      if (!is_certain) {
        ASSERT_EQ(verdict, Verdict::collision) << i << " " << share;
      }
      const mpq_class room = mpq_class(2 * errors) + mpq_class(1e-12 * distance);
      if (compare(squared, reach + room) > 0) {
        ASSERT_EQ(verdict, Verdict::free) << i << " " << share;
      }
      // The candidate of the search does not change the answer where it is clear.
      const exact::Contact near{cases.below(p.size), cases.below(q.size), i % 2 == 0};
      const Verdict beside = exact::collide(p, q, margin, near);
      if (!is_certain) {
        ASSERT_EQ(beside, Verdict::collision) << i << " " << share;
      }
    }
  }
  EXPECT_GT(hits, kPairs / 5);
}

TEST(ExactMargin, outside_the_domain_is_unknown) {
  const Outline a{{0}, {0}};
  const Outline b{{3}, {4}};
  const auto collide = [&](double margin) {
    return exact::collide(a.convex(), b.convex(), margin);
  };
  EXPECT_EQ(collide(5.0), Verdict::collision);
  EXPECT_EQ(collide(4.0), Verdict::free);
  EXPECT_EQ(collide(kMaxCoordinate), Verdict::collision);
  for (const double margin : {-1e-300, -1.0, kNaN, std::nextafter(kMaxCoordinate, INFINITY)}) {
    EXPECT_EQ(collide(margin), Verdict::unknown);
  }
  const Outline far{{2e15}, {0}};
  EXPECT_EQ(exact::collide(a.convex(), far.convex()), Verdict::unknown);
  EXPECT_EQ(exact::collide(far.convex(), a.convex()), Verdict::unknown);
}

// Each of the two tests on its own, without the other and without a filter.
TEST(ExactMargin, of_a_pair_is_that_of_rational_arithmetic) {
  Cases cases;
  int reached = 0, proven = 0;
  for (int i = 0; i < 300; ++i) {
    const Case c = cases.next();
    const mpq_class squared = squared_distance(c.p, c.q);
    const Convex p = c.p.convex(), q = c.q.convex();
    const double reach = beside(std::sqrt(squared.get_d()), cases.below(5) - 2);
    const auto reach_squared = exactly(reach) * exactly(reach);
    bool is_proven = false;
    exact::for_each_pair(p, q, [&](const exact::Pair& pair) {
      const mpq_class of_pair = squared_distance(pair.from, pair.to, pair.vertex);
      ASSERT_EQ(exact::within(pair, reach_squared), compare(of_pair, mpq_class(reach)) <= 0);
      reached += exact::within(pair, reach_squared);
      const bool separates = pair.edge_is_of_p ? exact::separates_beyond(p, q, pair, reach_squared)
                                               : exact::separates_beyond(q, p, pair, reach_squared);
      ASSERT_TRUE(!separates || compare(squared, mpq_class(reach)) > 0);
      is_proven |= separates;
    });
    ASSERT_EQ(is_proven, compare(squared, mpq_class(reach)) > 0) << c.p.literal() << c.q.literal();
    proven += is_proven;
  }
  EXPECT_GT(reached, 50);
  EXPECT_GT(proven, 50);
}

TEST(PairDistance, bounds_hold_the_true_distance_and_are_narrow) {
  std::mt19937_64 random(7);
  const auto coordinate = [&](int bits) {
    const double v = std::uniform_real_distribution<double>(-1.0, 1.0)(random);
    return std::ldexp(v, bits);
  };
  int beside = 0;
  for (int i = 0; i < 8000; ++i) {
    exact::Pair pair;
    const int bits = static_cast<int>(random() % 20);
    pair.from = {coordinate(bits), coordinate(bits)};
    pair.to = {coordinate(bits), coordinate(bits)};
    if (i % 2 == 0) {
      pair.vertex = {coordinate(bits), coordinate(bits)};
    } else {  // near the line through the edge
      const double share = coordinate(0) + 0.5;
      const double off = std::ldexp(coordinate(bits), -static_cast<int>(random() % 50));
      const Vec2 edge = pair.to - pair.from;
      pair.vertex = pair.from + share * edge + off * perpendicular(edge);
    }
    const mpq_class squared = squared_distance(pair.from, pair.to, pair.vertex);
    const double size = norm(pair.to - pair.from) + norm(pair.vertex - pair.from);
    beside += squared.get_d() < 1e-20 * size * size;
    const Bounds fast = exact::distance_bounds(pair);
    const Bounds tight = exact::tight_distance_bounds(pair);
    for (const Bounds& bounds : {fast, tight}) {
      ASSERT_GE(bounds.lower, 0.0);
      ASSERT_GE(compare(squared, mpq_class(bounds.lower)), 0) << i;
      ASSERT_LE(compare(squared, mpq_class(bounds.upper)), 0) << i;
    }
    const double truth = std::sqrt(squared.get_d());
    ASSERT_LE(tight.upper - tight.lower, 40 * kUnitRoundoff * truth) << i;
    ASSERT_LE(fast.upper - fast.lower, 40 * kUnitRoundoff * (truth + size)) << i;

    const Vec2 n = exact::edge_to_vertex(pair);
    ASSERT_NEAR(norm(n), 1.0, 1e-14);
    if (truth > 1e-6 * size) {
      // Along n, the whole edge is behind the vertex by the distance.
      for (const Vec2 end : {pair.from, pair.to}) {
        ASSERT_GE(dot(n, pair.vertex - end), truth * (1 - 1e-8)) << i;
      }
    }
  }
  EXPECT_GT(beside, 100);
}

TEST(Distance, bounds_hold_the_distance_of_polygons) {
  Cases cases;
  for (int i = 0; i < 1500; ++i) {
    const Case c = cases.next();
    const mpq_class squared = squared_distance(c.p, c.q);
    const exact::Distance found = exact::distance(c.p.convex(), c.q.convex());
    ASSERT_GE(compare(squared, mpq_class(found.bounds.lower)), 0) << c.p.literal() << c.q.literal();
    ASSERT_LE(compare(squared, mpq_class(found.bounds.upper)), 0) << c.p.literal() << c.q.literal();
    ASSERT_LE(found.bounds.upper - found.bounds.lower, 1e-14 * found.bounds.upper);
    ASSERT_GT(found.gap, 0.0);
    ASSERT_GE(compare(squared, mpq_class(found.gap)), 0) << c.p.literal() << c.q.literal();
    ASSERT_GE(found.gap, found.bounds.lower * (1 - 1e-11)) << c.p.literal() << c.q.literal();
    const mpq_class of_pair = squared_distance(found.pair.from, found.pair.to, found.pair.vertex);
    ASSERT_LE(compare(of_pair, mpq_class(found.bounds.upper)), 0);
    // The indices are those of the features.
    const Outline& own = found.pair.edge_is_of_p ? c.p : c.q;
    const Outline& other = found.pair.edge_is_of_p ? c.q : c.p;
    ASSERT_EQ(found.pair.from, own.convex().vertex(found.pair.edge_first));
    ASSERT_EQ(found.pair.to, own.convex().vertex(found.pair.edge_second));
    ASSERT_EQ(found.pair.vertex, other.convex().vertex(found.pair.vertex_index));
  }
}

TEST(SurfacesApart, subtracts_radii_and_errors_and_rounds_down) {
  std::mt19937_64 random(8);
  std::uniform_real_distribution<double> unit(0.0, 1.0);
  const Outline point{{0}, {0}};
  for (int i = 0; i < 20000; ++i) {
    Convex p = point.convex(i % 2 == 0 ? unit(random) : 0.0);
    Convex q = point.convex(i % 3 == 0 ? unit(random) : 0.0);
    p.error = i % 5 == 0 ? unit(random) : 0.0;
    q.error = i % 7 == 0 ? unit(random) : 0.0;
    const double apart = std::ldexp(4.0 * unit(random) - 2.0, static_cast<int>(random() % 30) - 10);
    const double found = exact::surfaces_apart(p, q, apart);
    const mpq_class truth = mpq_class(apart) - mpq_class(p.radius) - mpq_class(q.radius) -
                            mpq_class(p.error) - mpq_class(q.error);
    ASSERT_LE(mpq_class(found), truth) << i;
    const double size = std::fabs(apart) + p.radius + q.radius + p.error + q.error;
    ASSERT_GE(mpq_class(found), truth - mpq_class(16 * kUnitRoundoff * size)) << i;
    if (truth == mpq_class(apart)) {
      ASSERT_EQ(found, apart);
    }
  }
}

// Edges that a filter left undecided, in the views of the queries.
TEST(UnsureEdges, separate_disjoint_polygons_and_no_others) {
  std::mt19937_64 random(9);
  std::uniform_int_distribution<int> points(3, 9);
  int hits = 0;
  constexpr int kPairs = 4000;
  for (int i = 0; i < kPairs; ++i) {
    const std::int64_t size = i % 3 == 0 ? 3 : (i % 3 == 1 ? 12 : 1LL << 40);
    std::uniform_int_distribution<std::int64_t> place(-size, size);
    const Outline p = test::random_outline(random, points(random), size);
    const Outline q =
        test::random_outline(random, points(random), size, place(random), place(random));
    if (p.size() < 3 || q.size() < 3) continue;
    const bool truth = test::disjoint(p, q);
    hits += !truth;
    const auto proves = [&](std::uint64_t of_p, std::uint64_t of_q) {
      return on_views(p.convex(), q.convex(), [&](const auto& a, const auto& b) {
        return Certificate::unsure_edges(a, b, {{0, of_p}, {0, of_q}}).proves(0.0);
      });
    };
    const std::uint64_t all_p = (1ULL << p.size()) - 1, all_q = (1ULL << q.size()) - 1;
    ASSERT_EQ(proves(all_p, all_q), truth) << p.literal() << "against " << q.literal();
    ASSERT_FALSE(proves(0, 0));
    ASSERT_EQ(proves(all_p, 0) || proves(0, all_q), truth);
    bool by_one = false;
    for (int e = 0; e < p.size(); ++e) by_one |= proves(1ULL << e, 0);
    for (int e = 0; e < q.size(); ++e) by_one |= proves(0, 1ULL << e);
    ASSERT_EQ(by_one, truth);
  }
  EXPECT_GT(hits, kPairs / 10);
}

TEST(UnsureEdges, of_a_vertex_beside_an_edge_are_decided_exactly) {
  constexpr double kLength = 4e14;  // m; the area of the vertex beside the edge is 1
  const Outline p{{0, kLength, 0}, {0, kLength + 1, kLength}};
  const auto separates = [&](const Outline& q) {
    return on_views(p.convex(), q.convex(), [](const auto& a, const auto& b) {
      return Certificate::unsure_edges(a, b, {{0, 1}, {0, 0}}).proves(0.0);
    });
  };
  const std::vector<double> x{kLength + 1, kLength + 2, kLength + 2};
  EXPECT_TRUE(separates({x, {kLength + 2, kLength + 1, kLength + 2}}));
  EXPECT_FALSE(separates({{kLength - 1, kLength, kLength}, {kLength, kLength - 1, kLength}}));
}

TEST(LiesOnLeft, looks_at_every_vertex) {
  for (int off = 0; off < 5; ++off) {
    Outline points{{0, 4, 4, 2, 0}, {0, 0, 3, 4, 3}};
    const auto k = static_cast<std::size_t>(off);
    EXPECT_TRUE(exact::lies_on_left(points.convex(), {-1, 0}, {7, 0}));
    EXPECT_FALSE(exact::lies_on_left(points.convex(), {7, 0}, {-1, 0}));
    points.y[k] = -0x1p-40;
    EXPECT_FALSE(exact::lies_on_left(points.convex(), {-1, 0}, {7, 0})) << off;
    points.y[k] = 0.0;
    EXPECT_TRUE(exact::lies_on_left(points.convex(), {-1, 0}, {7, 0})) << off;
  }
}

}  // namespace
}  // namespace gjk::margin_test
