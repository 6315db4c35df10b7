// SPDX-FileCopyrightText: gjk_collision contributors
// SPDX-License-Identifier: Apache-2.0
// What neighbours certify is what all pairs of edges and vertices say.
#include <gtest/gtest.h>

#include <random>

#include "gjk/gjk.hpp"
#include "gjk/narrow/features.hpp"
#include "pairs.hpp"

namespace gjk::neighbours_test {
namespace {

using namespace detail;

TEST(Neighbours, a_settled_walk_ends_at_the_nearest) {
  std::mt19937_64 random(20261121);
  int settled = 0;
  int open = 0;
  constexpr int kRounds = 20000;
  for (int round = 0; round < kRounds; ++round) {
    const auto upto = [&random](std::uint64_t n) { return static_cast<int>(random() % n) + 1; };
    const test::Outline p = test::random_outline(random, upto(24), 24);
    const test::Outline q = test::random_outline(random, upto(24), 24, upto(60), -upto(12));
    const Convex a = p.convex();
    const Convex b = q.convex();
    // From anywhere: what is certified must not depend on where the walk began.
    const int i = upto(static_cast<std::uint64_t>(a.size)) - 1;
    const int j = upto(static_cast<std::uint64_t>(b.size)) - 1;
    const Neighbourhood around = walk(a, b, i, j, kWalk);
    if (around.nearness != Nearness::settled) {
      ++open;
      continue;
    }
    const Bounds bounds = certain_bounds(a, b, around);
    if (!exact::disjoint(a, b)) {
      ASSERT_LE(bounds.lower, 0.0) << p.literal() << "\n" << q.literal();
      continue;
    }
    ++settled;
    const Bounds truth = exact::distance(a, b).bounds;
    ASSERT_LE(bounds.lower, truth.upper) << p.literal() << "\n" << q.literal();
    ASSERT_GE(bounds.upper, truth.lower) << p.literal() << "\n" << q.literal();
  }
  EXPECT_GT(settled, kRounds / 10);
  EXPECT_GT(open, kRounds / 100);
}

TEST(Neighbours, ends_at_a_vertex_or_beside_an_edge) {
  const test::Outline box{{0, 2, 2, 0}, {0, 0, 2, 2}};
  const test::Outline right{{4, 6, 5}, {1, 0, 3}};  // nearest with its first vertex
  const test::Outline corner{{5, 7, 6}, {6, 5, 8}};
  const Convex a = box.convex();
  const Convex beside = right.convex();
  const Neighbourhood edge = walk(a, beside, 1, 0, kWalk);
  EXPECT_EQ(edge.nearness, Nearness::settled);
  EXPECT_FALSE(edge.is_vertex());
  EXPECT_NEAR(certain_bounds(a, beside, edge).upper, 2.0, 1e-14);
  const Convex off = corner.convex();
  const Neighbourhood vertex = walk(a, off, 2, 0, kWalk);
  EXPECT_EQ(vertex.nearness, Nearness::settled);
  EXPECT_TRUE(vertex.is_vertex());
  EXPECT_NEAR(certain_bounds(a, off, vertex).upper, 5.0, 1e-14);
}

TEST(Neighbours, a_repeated_vertex_certifies_nothing) {
  const test::Outline box{{0, 2, 2, 2, 0}, {0, 0, 0, 2, 2}};
  const test::Outline away{{5, 6, 6}, {1, 0, 2}};
  // Vertices 1 and 2 are one; the nearest is on the edge after them.
  const Neighbourhood at_first = neighbourhood(box.convex(), away.convex(), 1, 0);
  EXPECT_NE(at_first.nearness, Nearness::settled);
}

TEST(Neighbours, vectors_whose_squares_underflow_certify_nothing) {
  const test::Outline here{{-2.1640845568068783e-243}, {-2.1640845568163056e-243}};
  const test::Outline there{{-2.1640845568163056e-243}, {-2.1640845568163056e-243}};
  const Convex a = here.convex(5.0);
  const Convex b = there.convex();
  EXPECT_NE(neighbourhood(a, b, 0, 0).nearness, Nearness::settled);
  const Closest found = closest(a, b);
  EXPECT_LE(found.lower_bound, -5.0);
  EXPECT_GE(found.distance, -5.0);
}

TEST(Neighbours, of_shapes_with_errors_neighbours_only_propose) {
  // Within the error the outline is convex; as computed its short edge turns away from the long one
  // after it, which is nearer to the point.
  const test::Outline computed{{0.0, 1e-13, 4.0, 2.0}, {0.0, 1e-13, -1.0, 4.0}};
  const test::Outline point{{3.0 + 5e-14}, {-3.0 + 5e-14}};
  Convex a = computed.convex();
  const Convex b = point.convex();
  a.error = 1e-12;
  a.extent = 4.0;  // as placed: a view would have to be convex
  EXPECT_EQ(neighbourhood(a, b, 0, 0).nearness, Nearness::settled);
  const Closest found = closest(a, b);
  constexpr double kTruth = 2.182820625326997;  // m, from the point to the edge (0, 0) to (4, -1)
  EXPECT_LE(found.lower_bound, kTruth);
  EXPECT_GE(found.lower_bound, kTruth - 4e-12);
  EXPECT_GE(found.distance, kTruth);
  EXPECT_LE(found.distance, kTruth + 8e-12);
}

}  // namespace
}  // namespace gjk::neighbours_test
