// SPDX-FileCopyrightText: gjk_collision contributors
// SPDX-License-Identifier: Apache-2.0
// The convex hull of points, and whether an outline is convex as given. Exact.
#pragma once

#include <span>
#include <vector>

#include "gjk/shape/vec2.hpp"

namespace gjk {

// Convex hull, counter-clockwise, without collinear or repeated points: one point, the two ends of
// a segment, or a polygon. Andrew's monotone chain with exact orientations.
//
// If several points are equal after snapped(), one is kept. A point with a tiny coordinate is
// preferred, because the others are within kTinyError of it, and without it the shape would count
// as exact. For the same reason, a point with a tiny coordinate is dropped only if it lies strictly
// inside the hull.
std::vector<Vec2> convex_hull(std::span<const Vec2> points);

// Sign of the area of a simple outline: 1 counter-clockwise, -1 clockwise, 0 flat. It is the turn
// at the lexicographically smallest vertex, where repeated neighbours are skipped.
int winding(std::span<const Vec2> outline);

// exact::first_reflex_vertex() of the vertices as given, then of the snapped vertices, because
// cross products of tiny coordinates underflow.
long first_reflex_vertex(std::span<const Vec2> outline);

}  // namespace gjk

#ifdef GJK_KERNEL
#include <algorithm>
#include <cstddef>

#include "gjk/narrow/exact.hpp"
#include "gjk/shape/convex.hpp"

namespace gjk {

namespace detail {

// Writes the convex hull to `hull`, which has room for twice as many points and one, and returns
// the number of its vertices. Reorders the points. See convex_hull().
inline std::size_t convex_hull(std::span<Vec2> points, Vec2* hull) noexcept {
  const auto has_tiny = [](Vec2 p) { return is_tiny(p.x) || is_tiny(p.y); };
  std::sort(points.begin(), points.end(), [&](Vec2 a, Vec2 b) {
    const Vec2 c = snapped(a);
    const Vec2 d = snapped(b);
    if (!(c == d)) return lexicographically_less(c, d);
    if (has_tiny(a) != has_tiny(b)) return has_tiny(a);
    return lexicographically_less(a, b);
  });
  const auto is_same = [&](Vec2 a, Vec2 b) { return snapped(a) == snapped(b); };
  const auto end = std::unique(points.begin(), points.end(), is_same);
  const std::span<const Vec2> sorted(points.begin(), end);
  std::size_t size = 0;
  const auto extend = [&](Vec2 point, std::size_t start) {
    while (size >= start + 2) {
      const Vec2 last = hull[size - 1];
      const int turn = exact::orientation(snapped(hull[size - 2]), snapped(last), snapped(point));
      if (turn > 0 || (turn == 0 && has_tiny(last))) break;
      --size;
    }
    hull[size++] = point;
  };
  if (sorted.size() < 3) {
    for (const Vec2 point : sorted) hull[size++] = point;
    return size;
  }
  for (const Vec2 point : sorted) extend(point, 0);
  const std::size_t upper = size - 1;
  for (std::size_t i = sorted.size() - 1; i-- > 0;) extend(sorted[i], upper);
  return size - 1;  // the last one is the first point again
}

}  // namespace detail

GJK_KERNEL std::vector<Vec2> convex_hull(std::span<const Vec2> points) {
  std::vector<Vec2> sorted(points.begin(), points.end());
  std::vector<Vec2> hull(2 * sorted.size() + 1);
  hull.resize(detail::convex_hull(sorted, hull.data()));
  return hull;
}

GJK_KERNEL int winding(std::span<const Vec2> outline) {
  const std::size_t n = outline.size();
  const auto at = [&](std::size_t i) { return snapped(outline[i % n]); };
  std::size_t least = 0;
  for (std::size_t i = 1; i < n; ++i) {
    if (lexicographically_less(at(i), at(least))) least = i;
  }
  const Vec2 corner = at(least);
  std::size_t after = 1;
  while (after < n && at(least + after) == corner) ++after;
  if (after == n) return 0;
  std::size_t before = n - 1;
  while (at(least + before) == corner) --before;
  // If the neighbours are collinear (a spike), continue until the turn is nonzero.
  int turn = 0;
  for (std::size_t k = after; k < n && turn == 0; ++k) {
    turn = exact::orientation(at(least + before), corner, at(least + k));
  }
  return turn;
}

GJK_KERNEL long first_reflex_vertex(std::span<const Vec2> outline) {
  const long n = static_cast<long>(outline.size());
  const auto at = [outline](long i) { return outline[static_cast<std::size_t>(i)]; };
  const long reflex = exact::first_reflex_vertex(n, at);
  if (reflex >= 0) return reflex;
  return exact::first_reflex_vertex(n, [at](long i) { return snapped(at(i)); });
}

}  // namespace gjk
#endif
