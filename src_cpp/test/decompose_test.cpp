// SPDX-FileCopyrightText: gjk_collision contributors
// SPDX-License-Identifier: Apache-2.0
// Outlines with holes, and outlines that touch themselves, as convex parts; and the flaws that are
// reported. If one of these tests fails, an obstacle may have a gap that does not exist.
#include "gjk/shape/decompose.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "gjk/shape/domain.hpp"
#include "gjk/shape/shape.hpp"

namespace gjk::decompose_test {
namespace {

using Ring = std::vector<Vec2>;

Ring box(double x0, double y0, double x1, double y1) {
  return {{x0, y0}, {x1, y0}, {x1, y1}, {x0, y1}};
}
Ring reversed(Ring ring) {
  std::reverse(ring.begin(), ring.end());
  return ring;
}
bool is_in_box(Vec2 p, double x0, double y0, double x1, double y1) {
  return p.x > x0 && p.x < x1 && p.y > y0 && p.y < y1;
}
bool is_in_part(Vec2 p, const Ring& part) {
  for (std::size_t i = 0; i < part.size(); ++i) {
    if (!(cross(part[(i + 1) % part.size()] - part[i], p - part[i]) > 0.0)) return false;
  }
  return part.size() > 2;
}

TEST(Decompose, parts_cover_the_outline_without_its_holes_once) {
  // Two holes touch each other along an edge, one touches the outline in a vertex.
  const std::vector<Ring> holes{box(2, 2, 4, 4), box(4, 2, 6, 4), {{8, 7}, {10, 8}, {8, 9}}};
  for (int turned = 0; turned < 16; ++turned) {
    std::vector<Ring> rings{box(0, 0, 10, 10), holes[0], holes[1], holes[2]};
    for (std::size_t r = 0; r < rings.size(); ++r) {
      if ((turned >> r) % 2 == 1) rings[r] = reversed(rings[r]);
    }
    const Decomposition found = decompose(rings);
    ASSERT_EQ(found.flaw.kind, Flaw::Kind::none) << turned;
    // No corner of a part is on such a point, nor does an edge between two vertices contain one.
    for (double x = -0.687; x < 11.0; x += 0.5) {
      for (double y = -0.829; y < 11.0; y += 0.5) {
        const Vec2 p{x, y};
        const bool in_triangle = x > 8.0 && y > 7.0 + (x - 8.0) / 2 && y < 9.0 - (x - 8.0) / 2;
        const bool is_inside = is_in_box(p, 0, 0, 10, 10) && !is_in_box(p, 2, 2, 4, 4) &&
                               !is_in_box(p, 4, 2, 6, 4) && !in_triangle;
        EXPECT_EQ(std::ranges::count_if(found.parts,
                                        [&](const Ring& part) { return is_in_part(p, part); }),
                  is_inside ? 1 : 0)
            << turned << ": " << x << ", " << y;
      }
    }
  }
}

TEST(Decompose, an_edge_without_width_is_a_part) {
  const std::vector<Ring> rings{{{0, 0}, {4, 0}, {4, 2}, {7, 2}, {4, 2}, {4, 4}, {0, 4}}};
  const Decomposition found = decompose(rings);
  ASSERT_EQ(found.flaw.kind, Flaw::Kind::none);
  int edges = 0;
  for (const Ring& part : found.parts) {
    if (part.size() != 2) continue;
    ++edges;
    EXPECT_EQ(std::min(part[0].x, part[1].x), 4.0);
    EXPECT_EQ(std::max(part[0].x, part[1].x), 7.0);
    EXPECT_EQ(part[0].y, 2.0);
    EXPECT_EQ(part[1].y, 2.0);
  }
  EXPECT_EQ(edges, 1);
}

using Ends = std::set<std::pair<std::size_t, long>>;
Ends ends_of(const Flaw& flaw) {
  return {{flaw.first.ring, flaw.first.vertex}, {flaw.second.ring, flaw.second.vertex}};
}

std::set<std::size_t> rings_of(const Flaw& flaw) { return {flaw.first.ring, flaw.second.ring}; }

TEST(Decompose, flaws_name_the_rings_and_edges) {
  // The edges from (0, 0) to (2, 2) and from (2, 0) to (0, 2) cross.
  const Ring bow{{0, 0}, {2, 2}, {2, 0}, {0, 2}};
  const Decomposition crossing = decompose(std::vector<Ring>{bow});
  EXPECT_TRUE(crossing.parts.empty());
  EXPECT_EQ(crossing.flaw.kind, Flaw::Kind::crossing);
  EXPECT_EQ(ends_of(crossing.flaw), (Ends{{0, 0}, {0, 2}}));
  // The flaw of a hole has the index of its ring.
  Ring moved = bow;
  for (Vec2& p : moved) p = p + Vec2{4, 4};
  const Decomposition in_hole =
      decompose(std::vector<Ring>{box(0, 0, 10, 10), box(1, 1, 2, 2), moved});
  EXPECT_EQ(in_hole.flaw.kind, Flaw::Kind::crossing);
  EXPECT_EQ(ends_of(in_hole.flaw), (Ends{{2, 0}, {2, 2}}));
  // A ring that goes around twice: each edge lies on another one.
  const Ring twice{{0, 0}, {4, 0}, {4, 4}, {0, 4}, {0, 0}, {4, 0}, {4, 4}, {0, 4}};
  const Flaw along = decompose(std::vector<Ring>{twice}).flaw;
  EXPECT_EQ(along.kind, Flaw::Kind::crossing);
  EXPECT_EQ(std::abs(along.first.vertex - along.second.vertex), 4);
  // Two holes whose boundaries cross.
  const Decomposition partly =
      decompose(std::vector<Ring>{box(0, 0, 10, 10), box(2, 2, 5, 5), box(4, 3, 7, 4)});
  EXPECT_EQ(partly.flaw.kind, Flaw::Kind::overlap);
  EXPECT_EQ(rings_of(partly.flaw), (std::set<std::size_t>{1, 2}));
}

TEST(Decompose, holes_in_the_wrong_place_are_flaws) {
  const Decomposition outside =
      decompose(std::vector<Ring>{box(0, 0, 10, 10), box(2, 2, 3, 3), box(20, 2, 22, 4)});
  EXPECT_TRUE(outside.parts.empty());
  EXPECT_EQ(outside.flaw.kind, Flaw::Kind::outside);
  EXPECT_EQ(outside.flaw.first.ring, 2U);
  const Decomposition inner =
      decompose(std::vector<Ring>{box(0, 0, 10, 10), box(2, 2, 8, 8), box(4, 4, 6, 6)});
  EXPECT_TRUE(inner.parts.empty());
  EXPECT_EQ(inner.flaw.kind, Flaw::Kind::overlap);
  EXPECT_EQ(rings_of(inner.flaw), (std::set<std::size_t>{1, 2}));
}

TEST(OutlineParts, follow_the_policy) {
  const Ring notched{{0, 0}, {4, 0}, {4, 4}, {2, 1}, {0, 4}};  // reflex at vertex 3
  std::vector<Ring> parts;
  EXPECT_FALSE(outline_parts(notched, ConcavePolicy::hull, "xy", parts));
  ASSERT_EQ(parts.size(), 1U);
  EXPECT_EQ(parts[0].size(), 4U);
  EXPECT_TRUE(is_in_part({2.0, 3.5}, parts[0]));
  parts.clear();
  const Issue refused = outline_parts(notched, ConcavePolicy::reject, "xy", parts);
  EXPECT_EQ(refused.status, Status::concave_rejected);
  EXPECT_EQ(refused.index, 3);
  EXPECT_EQ(outline_parts(reversed(notched), ConcavePolicy::reject, "xy", parts).index, 1);
  EXPECT_TRUE(parts.empty());
  EXPECT_FALSE(outline_parts(notched, ConcavePolicy::decompose, "xy", parts));
  EXPECT_GT(parts.size(), 1U);
  for (const Ring& part : parts) EXPECT_FALSE(is_in_part({2.0, 3.5}, part));
}

// Products of such coordinates underflow, so the exact orientation would be wrong.
TEST(OutlineParts, refuse_tiny_coordinates_of_concave_outlines) {
  std::vector<Ring> parts;
  const Ring notched{{0, 0}, {4, 1e-41}, {4, 4}, {2, 1}, {0, 4}};
  const Issue issue = outline_parts(notched, ConcavePolicy::decompose, "xy", parts);
  EXPECT_EQ(issue.status, Status::invalid_input);
  EXPECT_EQ(issue.argument, "xy");
  EXPECT_EQ(issue.index, 1);
  const std::vector<Ring> holes{box(1, 1, 2, 2), {{3, 3}, {3.5, 3}, {3, 3.5}, {-1e-300, 3.2}}};
  const Issue in_hole =
      outline_parts(box(-9, -9, 9, 9), ConcavePolicy::decompose, "xy", parts, holes);
  EXPECT_EQ(in_hole.argument, "holes[1]");
  EXPECT_EQ(in_hole.index, 3);
  EXPECT_TRUE(parts.empty());
}

TEST(Coordinates, out_of_range_are_refused_with_their_index) {
  const std::vector<double> values{0.0, -2e15};
  const Issue far = check_coordinates(values, "xy");
  EXPECT_EQ(far.status, Status::coord_range);
  EXPECT_EQ(far.index, 1);
  EXPECT_FALSE(check_coordinates(std::vector<double>{1e15, -1e15}, "xy"));
  EXPECT_EQ(check_radius(2e15, "radius").status, Status::coord_range);
  EXPECT_FALSE(check_radius(1e15, "radius"));
}

}  // namespace
}  // namespace gjk::decompose_test
