// SPDX-FileCopyrightText: gjk_collision contributors
// SPDX-License-Identifier: Apache-2.0
// How deep two overlapping polygons are in each other, and which way is out.
#pragma once

#include <cmath>
#include <limits>

#include "gjk/convex.hpp"
#include "gjk/vec2.hpp"

namespace gjk {

// One deciding vertex (first == second) or edge of a shape, by vertex index.
struct Feature {
  int first = 0;
  int second = 0;
};

struct Penetration {
  double depth = 0.0;           // m, >= 0, of the polygons without their radii
  double rounding = 0.0;        // m: the true depth is within this of `depth`
  Vec2 normal{1.0, 0.0};        // unit, from p to q: moving q by depth along it leaves contact
  Vec2 point_p;                 // m, deepest points: point_q = point_p - depth * normal
  Vec2 point_q;
  Feature feature_p;
  Feature feature_q;
};

// The depth is the distance of O to the boundary of P - Q, whose edges are those of P and of -Q: the
// smallest, over the outward normals of both, of the support of P - Q. In 2D this enumeration is
// exact and has no iteration to stall, which is what EPA walks towards.
template <class P, class Q>
Penetration penetration(const P& p, const Q& q) noexcept {
  Penetration best;
  best.depth = std::numeric_limits<double>::infinity();
  Vec2 edge_from;
  Vec2 edge_to;
  bool edge_is_of_p = true;

  const auto try_edges_of = [&](const auto& owner, const auto& other, bool owner_is_p) {
    int previous = owner.size - 1;
    for (int i = 0; i < owner.size; previous = i++) {
      const Vec2 from = owner.vertex(previous);
      const Vec2 to = owner.vertex(i);
      const Vec2 edge = to - from;
      const double length = norm(edge);
      if (length == 0.0) continue;
      const Vec2 outward = -perpendicular(edge);  // counter-clockwise: the inside is on the left
      const int deepest = other.support(-outward);
      const double depth = dot(outward, from - other.vertex(deepest)) / length;
      if (depth < best.depth) {
        best.depth = depth;
        best.normal = (owner_is_p ? 1.0 / length : -1.0 / length) * outward;
        best.feature_p = owner_is_p ? Feature{previous, i} : Feature{deepest, deepest};
        best.feature_q = owner_is_p ? Feature{deepest, deepest} : Feature{previous, i};
        edge_from = from;
        edge_to = to;
        edge_is_of_p = owner_is_p;
      }
    }
  };
  try_edges_of(p, q, true);
  try_edges_of(q, p, false);

  best.rounding = 16.0 * kUnitRoundoff * (p.extent + q.extent) + p.error + q.error;
  if (best.depth == std::numeric_limits<double>::infinity()) {  // two points
    best.depth = 0.0;
    best.point_p = best.point_q = p.vertex(0);
    return best;
  }
  best.depth = std::fmax(best.depth, 0.0);

  // The deepest vertex, brought back onto the edge: with a parallel edge it may lie beside its end.
  const Vec2 vertex = edge_is_of_p ? q.vertex(best.feature_q.first) : p.vertex(best.feature_p.first);
  const Vec2 edge = edge_to - edge_from;
  const double share = std::fmin(1.0, std::fmax(0.0, dot(vertex - edge_from, edge) / dot(edge, edge)));
  const Vec2 on_edge = edge_from + share * edge;
  if (edge_is_of_p) {
    best.point_p = on_edge;
    best.point_q = on_edge - best.depth * best.normal;
  } else {
    best.point_q = on_edge;
    best.point_p = on_edge + best.depth * best.normal;
  }
  return best;
}

}  // namespace gjk
