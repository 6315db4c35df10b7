// SPDX-FileCopyrightText: gjk_collision contributors
// SPDX-License-Identifier: Apache-2.0
// Shapes given as points in any order.
#pragma once

#include "gjk/shape/convex.hpp"

namespace gjk {

// The convex hull of points, with a radius: a shape for one query.
//
// The points may be in any order, repeat, be collinear, or lie inside the hull. Queries are fastest
// if they are the vertices of a convex polygon, counter-clockwise, 3 to 64 of them. A Convex is
// faster for a shape that is queried more than once. The type does not own the coordinates.
//
// Every query answers UNKNOWN for no points, NaN, infinity, coordinates beyond kMaxCoordinate, and
// a negative radius. The same holds if the points are not the vertices of a convex polygon in
// counter-clockwise order and their hull has more than kMostHullVertices vertices. It may also hold
// if the hull of the first k points has more, for any k above kMostHullVertices: a Shape has no
// such limit.
struct Hull {
  const double* x = nullptr;  // m
  const double* y = nullptr;  // m
  Count size = 0;
  double radius = 0.0;  // m
};

inline constexpr int kMostHullVertices = 256;

}  // namespace gjk
