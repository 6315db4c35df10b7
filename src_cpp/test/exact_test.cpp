// SPDX-FileCopyrightText: gjk_collision contributors
// SPDX-License-Identifier: Apache-2.0
// The exact predicates against 128-bit integers. If these fail, "touching collides" is luck.
#include "gjk/narrow/exact.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <tuple>
#include <utility>
#include <vector>

#include "gjk/certificate.hpp"
#include "gjk/query.hpp"
#include "gjk/shape/expansion.hpp"
#include "pairs.hpp"

namespace gjk::exact_test {
namespace {

using test::Integer;
using test::Outline;

int sign(Integer value) { return value > 0 ? 1 : (value < 0 ? -1 : 0); }

Integer value(const auto& expansion) {
  Integer sum = 0;
  for (int i = 0; i < expansion.size; ++i) sum += static_cast<Integer>(expansion.term[i]);
  return sum;
}

TEST(Expansion, sums_and_products_of_integers_are_exact) {
  std::mt19937_64 random(1);
  std::uniform_int_distribution<std::int64_t> any(-(1LL << 53), 1LL << 53);
  for (int i = 0; i < 20000; ++i) {
    const double a = static_cast<double>(any(random)), b = static_cast<double>(any(random));
    const double c = static_cast<double>(any(random) >> 40), d = static_cast<double>(any(random));
    const auto left = exact_difference(a, b);
    const auto right = exactly(c) + exactly(d);
    ASSERT_EQ(value(left), Integer(a) - Integer(b));
    ASSERT_EQ(value(left * right), (Integer(a) - Integer(b)) * (Integer(c) + Integer(d)))
        << a << " " << b << " " << c << " " << d;
    ASSERT_EQ((left * right).sign(), sign(value(left)) * sign(value(right)));
  }
}

TEST(Expansion, keeps_what_a_double_forgets) {
  const auto sum = (exactly(1e15) + exactly(1e-40)) - exactly(1e15);
  EXPECT_EQ(sum.sign(), 1);
  EXPECT_EQ(sum.approximate(), 1e-40);
  EXPECT_EQ((exactly(0.1) - exactly(0.1)).sign(), 0);
  // Degree 4 at both ends of the domain neither overflows nor underflows.
  const auto high = exactly(1e15) * exactly(1e15) * exactly(1e15) * exactly(1e15);
  const auto tiny = exactly(1e-40) * exactly(1e-40) * exactly(1e-40) * exactly(1e-40);
  EXPECT_EQ(((high + tiny) - high).sign(), 1);
}

TEST(Expansion, is_certain_of_its_sign_and_size_for_any_terms) {
  // Terms that overlap, in any order. Many of their sums nearly cancel.
  std::mt19937_64 random(7);
  std::uniform_int_distribution<std::int64_t> any(-(1LL << 53), 1LL << 53);
  std::uniform_int_distribution<int> places(0, 60);
  int distilled = 0;
  for (int i = 0; i < 100000; ++i) {
    Expansion<8> terms;
    for (int k = 0; k < 3; ++k) terms.push(std::ldexp(double(any(random)), places(random)));
    double plain = 0.0;
    for (int k = 0; k < terms.size; ++k) plain += terms.term[k];
    if (i % 2 == 0) terms.push(-plain);
    if (i % 4 == 0) terms.push(double(i % 3 - 1));
    const Integer truth = value(terms);
    ASSERT_EQ(terms.sign(), sign(truth)) << i;
    ASSERT_EQ(value(terms.distilled()), truth) << i;
    const Integer error = static_cast<Integer>(terms.approximate()) - truth;
    ASSERT_LE(error < 0 ? -error : error, (truth < 0 ? -truth : truth) >> 51) << i;
    distilled += i % 2 == 0 && truth != 0;
  }
  EXPECT_GT(distilled, 10000);
}

TEST(Expansion, of_products_needs_no_second_pass) {
  // Shewchuk's theorems: for nonadjacent terms, approximate() is the sum of the terms.
  std::mt19937_64 random(8);
  std::uniform_int_distribution<std::int64_t> any(-(1LL << 53), 1LL << 53);
  std::uniform_int_distribution<int> shift(0, 53);
  const auto pick = [&] { return std::ldexp(double(any(random) >> shift(random)), shift(random)); };
  for (int i = 0; i < 20000; ++i) {
    const double x = pick();
    const auto a = exact_difference(pick(), pick()) * exact_difference(x, pick());
    const auto b = exact_difference(pick(), pick()) * exact_difference(pick(), pick());
    const auto c = i % 2 == 0 ? a : exact_difference(x, pick()) * exact_difference(pick(), x);
    const auto terms = a * b - c * b;
    double plain = 0.0;
    for (int k = 0; k < terms.size; ++k) plain += terms.term[k];
    ASSERT_EQ(terms.approximate(), plain) << i;
  }
}

TEST(Orientation, agrees_with_integers_beside_a_line) {
  std::mt19937_64 random(2);
  std::uniform_int_distribution<std::int64_t> any(-(1LL << 51), 1LL << 51);
  std::uniform_int_distribution<int> near(-2, 2);
  std::uniform_int_distribution<int> share(-8, 8);
  int flat = 0;
  for (int i = 0; i < 100000; ++i) {
    const std::int64_t ax = any(random) / 64, ay = any(random) / 64;
    const std::int64_t dx = any(random) / 64, dy = any(random) / 64;
    const int t = share(random), u = near(random), v = near(random);
    const std::int64_t cx = ax + t * dx + u, cy = ay + t * dy + v;
    const Vec2 a{double(ax), double(ay)}, b{double(ax + dx), double(ay + dy)};
    const Vec2 c{double(cx), double(cy)};
    const int truth = sign(test::area(ax, ay, ax + dx, ay + dy, cx, cy));
    flat += truth == 0;
    ASSERT_EQ(exact::orientation(a, b, c), truth)
        << ax << " " << ay << " " << dx << " " << dy << " " << cx << " " << cy;
  }
  EXPECT_GT(flat, 1000);
}

TEST(Orientation, filter_is_that_of_the_proof) {
  EXPECT_EQ(kFilterBound, 0x1.8000000000004p-52);  // ccwerrboundA: 3 u + 16 u^2
}

TEST(Orientation, sees_one_step_of_a_double) {
  // Kettner et al., "Classroom examples of robustness problems": a grid of neighbouring doubles
  // against the line through (12, 12) and (24, 24).
  for (int i = 0; i < 64; ++i) {
    for (int j = 0; j < 64; ++j) {
      const Vec2 c{0.5 + i * 0x1p-53, 0.5 + j * 0x1p-53};
      const int truth = c.y > c.x ? 1 : (c.y < c.x ? -1 : 0);
      ASSERT_EQ(exact::orientation({12.0, 12.0}, {24.0, 24.0}, c), truth) << i << " " << j;
    }
  }
}

TEST(Disjoint, agrees_with_integers) {
  std::mt19937_64 random(3);
  int hits = 0;
  constexpr int kPairs = 60000;
  for (int i = 0; i < kPairs; ++i) {
    const std::int64_t size = i % 3 == 0 ? 3 : (i % 3 == 1 ? 12 : 1LL << 40);
    std::uniform_int_distribution<std::int64_t> place(-size, size);
    std::uniform_int_distribution<int> points(1, 9);
    const Outline p = test::random_outline(random, points(random), size);
    const Outline q =
        test::random_outline(random, points(random), size, place(random), place(random));
    const bool truth = test::disjoint(p, q);
    hits += !truth;
    ASSERT_EQ(exact::disjoint(p.convex(), q.convex()), truth)
        << p.literal() << "against " << q.literal();
  }
  EXPECT_GT(hits, kPairs / 10);
  EXPECT_GT(kPairs - hits, kPairs / 10);
}

TEST(ExactCollide, sees_two_vertices_one_step_beside_an_edge) {
  // Two parallel edges, one step of a double apart: doubles are unsure of both ends of both edges.
  const double step = 0x1p-52;
  const double x[] = {0.0, 2.0, 3.0}, y[] = {0.0, -2.0, 1.0};
  const double far_x[] = {0.0, 3.0, -1.0};
  for (const double shift : {0.0, step}) {
    const double far_y[] = {shift, 1.0 + shift, 4.0};
    const Convex p = Convex::view(x, y, 3), q = Convex::view(far_x, far_y, 3);
    const Verdict expected = shift > 0.0 ? Verdict::free : Verdict::collision;
    EXPECT_EQ(collide(p, q), expected);
    EXPECT_EQ(collide(q, p), expected);
  }
}

TEST(ExactCollide, rounds_tiny_lengths_up) {
  // Their squares would underflow. Above 1e-40 m, the answer is exact.
  const double x[] = {0.0, 2e-40};
  const double y[] = {0.0, 0.0};
  const Convex a = Convex::view(x, y, 1, std::nextafter(2e-40, 0.0));
  const Convex b = Convex::view(x + 1, y + 1, 1);
  const Convex tiny = Convex::view(x + 1, y + 1, 1, 1e-60);
  EXPECT_EQ(exact::collide(a, b), Verdict::free);
  EXPECT_EQ(exact::collide(a, b, 1e-60), Verdict::collision);
  EXPECT_EQ(exact::collide(a, tiny), Verdict::collision);
}

TEST(Vec2, norms_of_vectors_whose_squares_underflow) {
  for (const double length : {1.0, 1e-100, 1e-140, 2.7e-162, 1e-300}) {
    EXPECT_NEAR(norm({length, 0.0}) / length, 1.0, 1e-15);
    EXPECT_NEAR(norm({3.0 * length, -4.0 * length}) / length, 5.0, 1e-14);
  }
  EXPECT_EQ(norm({0x1p-1074, 0.0}), 0x1p-1074);
  EXPECT_EQ(norm({0.0, 0.0}), 0.0);
  EXPECT_TRUE(std::isnan(norm({std::numeric_limits<double>::quiet_NaN(), 0.0})));
}

TEST(Expansion, rounds_sums_outwards) {
  const double least = std::numeric_limits<double>::denorm_min();
  EXPECT_EQ(rounded_down(two_sum(1.0, 2.0)), 3.0);
  EXPECT_EQ(rounded_up(two_sum(1.0, 2.0)), 3.0);
  EXPECT_EQ(rounded_down(two_sum(1.0, 1e-30)), 1.0);
  EXPECT_EQ(rounded_up(two_sum(1.0, 1e-30)), std::nextafter(1.0, 2.0));
  EXPECT_EQ(rounded_down(two_sum(1.0, -1e-30)), std::nextafter(1.0, 0.0));
  EXPECT_EQ(rounded_up(two_sum(1.0, -1e-30)), 1.0);
  EXPECT_EQ(rounded_down(two_difference(1.0, least)), std::nextafter(1.0, 0.0));
  for (const double infinite : {HUGE_VAL, -HUGE_VAL}) {
    EXPECT_EQ(rounded_down(two_sum(infinite, 1.0)), infinite);
    EXPECT_EQ(rounded_up(two_sum(infinite, 1.0)), infinite);
  }
}

TEST(Expansion, has_no_zeros_and_the_sign_of_its_largest_term) {
  EXPECT_EQ(exactly(0.0).size, 0);
  EXPECT_EQ(exactly(0.0).sign(), 0);
  EXPECT_EQ(exactly(-2.0).sign(), -1);
  EXPECT_EQ(exactly(-2.0).size, 1);
  EXPECT_EQ(exact_difference(3.0, 1.0).size, 1);
  EXPECT_EQ(exact_difference(1.0, 1.0).size, 0);
  EXPECT_EQ(exact_difference(1.0, 1e-30).size, 2);
  EXPECT_EQ((exactly(1.0) + exactly(-1.0)).size, 0);
  EXPECT_EQ((-exact_difference(1.0, 1e-30)).sign(), -1);
  EXPECT_EQ((-exact_difference(1.0, 1e-30)).approximate(), -1.0);
  EXPECT_EQ((exactly(3.0) * exactly(0.0)).size, 0);
  EXPECT_EQ((exact_difference(1.0, 1e-30) * exactly(0.5)).size, 2);
}

TEST(CertainCross, of_differences_that_are_rounded) {
  std::mt19937_64 random(6);
  std::uniform_int_distribution<std::int64_t> any(-(1LL << 53), 1LL << 53);
  std::uniform_int_distribution<std::int64_t> near(-2, 2);
  std::uniform_int_distribution<int> share(0, 8);
  int flat = 0, rounded = 0;
  for (int i = 0; i < 20000; ++i) {
    // Differences of up to 2^54, of which half are no doubles.
    const int shift = i % 4 == 0 ? 20 : 0;
    const std::int64_t ax = any(random) >> shift, ay = any(random) >> shift;
    const std::int64_t bx = any(random), by = any(random);
    const int k = share(random);
    std::int64_t cx = ax + static_cast<std::int64_t>((Integer(bx) - ax) * k / 8) + near(random);
    std::int64_t cy = ay + static_cast<std::int64_t>((Integer(by) - ay) * k / 8) + near(random);
    if (i % 3 == 0) {  // on the axis, or at an end
      cx = near(random);
      cy = near(random) == 0 ? ay : near(random);
    }
    const Vec2 a{double(ax), double(ay)}, b{double(bx), double(by)}, c{double(cx), double(cy)};
    if (Integer(c.x) != cx || Integer(c.y) != cy) continue;
    rounded += Integer(b.x - a.x) != Integer(bx) - ax;
    const Integer truth = test::area(ax, ay, bx, by, cx, cy);
    flat += truth == 0;
    const double found = exact::certain_cross(a, b, a, c, two_product);
    ASSERT_EQ(sign(truth), found > 0.0 ? 1 : (found < 0.0 ? -1 : 0)) << i;
    const long double difference =
        static_cast<long double>(found) - static_cast<long double>(truth);
    ASSERT_LE(std::fabs(difference), 0x1p-40L * std::fabs(static_cast<long double>(truth))) << i;
    ASSERT_EQ(exact::orientation(a, b, c), sign(truth)) << i;
    ASSERT_EQ(exact::exact_orientation(a, b, c, two_product), sign(truth)) << i;
    // Four points, and the exact polynomials.
    const Integer cross =
        (Integer(bx) - ax) * (Integer(cy) - by) - (Integer(by) - ay) * (Integer(cx) - bx);
    ASSERT_EQ(sign(cross), [&] {
      const double value = exact::certain_cross(a, b, b, c, two_product);
      return value > 0.0 ? 1 : (value < 0.0 ? -1 : 0);
    }()) << i;
    ASSERT_EQ(exact::exact_cross(a, b, b, c).sign(), sign(cross)) << i;
    const Integer dot =
        (Integer(bx) - ax) * (Integer(cx) - ax) + (Integer(by) - ay) * (Integer(cy) - ay);
    ASSERT_EQ(exact::exact_dot(a, b, c).sign(), sign(dot)) << i;
  }
  EXPECT_GT(flat, 100);
  EXPECT_GT(rounded, 1000);
}

TEST(CertainCross, of_one_unit_of_area) {
  // The smallest area that is not 0, of edges of up to 2^54, by Euclid's algorithm.
  std::mt19937_64 random(7);
  std::uniform_int_distribution<std::int64_t> any(-(1LL << 53), 1LL << 53);
  const auto is_double = [](Integer v) { return v >= -(1LL << 53) && v <= (1LL << 53); };
  int found = 0;
  for (int i = 0; i < 15000; ++i) {
    const Integer ax = any(random), ay = any(random);
    const Integer ex = any(random) - ax, ey = any(random) - ay;
    // u ex + v ey = g
    Integer g = ex, h = ey, u = 1, v = 0, u_next = 0, v_next = 1;
    while (h != 0) {
      const Integer q = g / h;
      std::tie(g, h) = std::pair{h, g - q * h};
      std::tie(u, u_next) = std::pair{u_next, u - q * u_next};
      std::tie(v, v_next) = std::pair{v_next, v - q * v_next};
    }
    for (int k = -1; k <= 1; ++k) {  // the same area beside each end
      const Integer cx = ax + k * ex - v, cy = ay + k * ey + u;
      if (!is_double(cx) || !is_double(cy)) continue;
      ++found;
      const Vec2 a{double(ax), double(ay)}, b{double(ax + ex), double(ay + ey)};
      const Vec2 c{double(cx), double(cy)};
      ASSERT_EQ(test::area(ax, ay, ax + ex, ay + ey, cx, cy), g);
      ASSERT_EQ(exact::certain_cross(a, b, a, c, two_product), double(g)) << i;
      ASSERT_EQ(exact::orientation(a, b, c), sign(g)) << i;
      ASSERT_EQ(exact::orientation(b, a, c), -sign(g)) << i;
    }
  }
  EXPECT_GT(found, 1000);
}

TEST(ExpandedCross, is_zero_for_points_that_coincide) {
  const Vec2 a{0.1, 0.2}, b{1e9, 0.3}, c{0.7, -1e-9};
  EXPECT_EQ(exact::expanded_cross(a, b, c, c), 0.0);
  EXPECT_EQ(exact::expanded_cross(a, a, b, c), 0.0);
  EXPECT_EQ(exact::expanded_cross(a, b, a, b), 0.0);
  EXPECT_EQ(exact::expanded_cross({0, 0}, {2, 3}, {1, 0}, {2, 3}), 3.0);
  EXPECT_EQ(exact::expanded_cross({0, 0}, {2, 3}, {0, 0}, {2, 4}), 2.0);
  EXPECT_GT(exact::expanded_cross({0, 0}, {1, 0}, {0, 0}, {0, 1}), 0.0);
  EXPECT_LT(exact::expanded_cross({0, 0}, {0, 1}, {0, 0}, {1, 0}), 0.0);
  EXPECT_GT(exact::expanded_cross({0, 0}, {1, 0}, {5, 0}, {0, 1}), 0.0);
}

// The outline from every start. -1: it is convex.
void expect_reflex(const std::vector<Vec2>& outline, int reflex) {
  const long n = static_cast<long>(outline.size());
  for (long first = 0; first < n; ++first) {
    const long found = exact::first_reflex_vertex(
        n, [&](long i) { return outline[static_cast<std::size_t>((i + first) % n)]; });
    if (reflex < 0) {
      EXPECT_EQ(found, -1) << "from " << first;
    } else {
      ASSERT_GE(found, 0) << "from " << first;
      ASSERT_LT(found, n);
      if (reflex < n) {
        EXPECT_EQ((found + first) % n, reflex) << "from " << first;
      }
    }
  }
}

TEST(FirstReflexVertex, of_convex_outlines_is_none) {
  expect_reflex({{0, 0}, {4, 0}, {4, 3}, {0, 3}}, -1);
  expect_reflex({{0, 0}, {2, 0}, {2, 0}, {4, 0}, {4, 3}, {4, 3}, {4, 3}, {0, 3}}, -1);
  expect_reflex({{0, 0}, {1, -1}, {2, -1}, {3, 0}, {3, 1}, {2, 2}, {1, 2}, {0, 1}}, -1);
  expect_reflex({{1, 2}}, -1);
  expect_reflex({{1, 2}, {1, 2}, {1, 2}}, -1);
  expect_reflex({{1, 2}, {3, 4}}, -1);
  expect_reflex({{1, 2}, {3, 4}, {3, 4}, {1, 2}}, -1);
  expect_reflex({{0, 0}, {1, 1}, {2, 2}, {1, 1}}, -1);  // a segment, there and back
  expect_reflex({{0, 0}, {0, 1}, {0, 2}, {0, 1}}, -1);
}

TEST(FirstReflexVertex, is_where_an_outline_turns_right) {
  expect_reflex({{0, 0}, {4, 0}, {4, 3}, {2, 2.5}, {0, 3}}, 3);
  constexpr int kAny = 99;  // it may be seen before, where the order by x changes too often
  expect_reflex({{0, 0}, {4, 0}, {2, 1}, {4, 3}, {0, 3}}, kAny);
  expect_reflex({{0, 3}, {4, 3}, {4, 0}, {0, 0}}, kAny);  // clockwise
  // A star, a square twice, and a segment that goes back in between.
  expect_reflex({{0, 3}, {-2, -3}, {3, 1}, {-3, 1}, {2, -3}}, kAny);
  expect_reflex({{0, 0}, {4, 0}, {4, 3}, {0, 3}, {0, 0}, {4, 0}, {4, 3}, {0, 3}}, kAny);
  expect_reflex({{0, 0}, {2, 2}, {1, 1}, {3, 3}}, kAny);
}

}  // namespace
}  // namespace gjk::exact_test
