// SPDX-FileCopyrightText: gjk_collision contributors
// SPDX-License-Identifier: Apache-2.0
// Decomposes an outline with holes into convex parts, without new vertices. The union of the parts
// is exactly the closed inside of the outline without the open insides of the holes.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <utility>
#include <vector>

#include "gjk/shape/hull.hpp"
#include "gjk/shape/triangulate.hpp"
#include "gjk/shape/vec2.hpp"

namespace gjk {

struct Decomposition {
  std::vector<std::vector<Vec2>> parts;  // counter-clockwise; two vertices: a whisker
  Flaw flaw;                             // if there is one, there are no parts
};

namespace detail {

// Joins faces along edges while the result stays convex, longest edges first (S. Hertel and
// K. Mehlhorn, 1983: at most four times the minimum number of parts).
class Merging {
 public:
  explicit Merging(Mesh& mesh) : mesh_(mesh), refused_of_(mesh.edges.size(), -1) {
    std::vector<std::pair<double, int>> shared;
    for (int k = 0; k < static_cast<int>(mesh.edges.size()); ++k) {
      const Mesh::Edge& edge = mesh.edges[at(k)];
      const Vec2 along = mesh.point(edge.to) - mesh.point(edge.from);
      if (has_face(2 * k) && has_face(2 * k + 1)) shared.emplace_back(-dot(along, along), k);
    }
    std::sort(shared.begin(), shared.end());
    for (const auto& edge : shared) join(2 * edge.second);
  }

 private:
  // A chain of edges that two faces share, and the half-edges beside it. It is not joined, because
  // a part would not be convex.
  struct Refused {
    int before = 0;
    int first = 0;
    int last = 0;
    int after = 0;
    int beyond_before = 0;
    int beyond_after = 0;
  };
  bool is_unchanged(const Refused& chain) const noexcept {
    return next(chain.before) == chain.first && next(chain.last) == chain.after &&
           next(chain.first ^ 1) == chain.beyond_before &&
           next(chain.beyond_after) == (chain.last ^ 1);
  }

  bool has_face(int half) const noexcept { return mesh_.next[at(half)] >= 0; }
  int next(int half) const noexcept { return mesh_.next[at(half)]; }
  int previous(int half) const noexcept { return mesh_.previous[at(half)]; }

  void join(int half) {
    if (!has_face(half)) return;  // already joined along a longer chain of edges
    const int known = refused_of_[at(half / 2)];
    if (known >= 0 && is_unchanged(refused_[at(known)])) return;
    int first = half;  // the chain of edges that the two faces share
    int last = half;
    while (previous(last ^ 1) == (next(last) ^ 1) && next(last) != half) last = next(last);
    while (next(first ^ 1) == (previous(first) ^ 1) && previous(first) != half) {
      first = previous(first);
    }
    const int before = previous(first);
    const int after = next(last);
    const int beyond_before = next(first ^ 1);
    const int beyond_after = previous(last ^ 1);
    const auto stays_convex = [&](int in, int out) {
      return mesh_.turn(mesh_.start(in), mesh_.start(out), mesh_.start(out ^ 1)) >= 0;
    };
    if (!stays_convex(before, beyond_before) || !stays_convex(beyond_after, after)) {
      for (int inner = first; inner != after; inner = next(inner)) {
        refused_of_[at(inner / 2)] = static_cast<int>(refused_.size());
      }
      refused_.push_back({before, first, last, after, beyond_before, beyond_after});
      return;
    }
    for (int inner = first; inner != after;) {
      const int following = next(inner);
      for (const int side : {inner, inner ^ 1}) mesh_.next[at(side)] = -1;
      inner = following;
    }
    mesh_.link(before, beyond_before);
    mesh_.link(beyond_after, after);
  }

  Mesh& mesh_;
  std::vector<Refused> refused_;
  std::vector<int> refused_of_;  // by edge: an index in refused_, or -1
};

// The vertices of the face at a half-edge, without those on a straight side. The half-edges are
// marked as seen.
inline std::vector<Vec2> corners(const Mesh& mesh, int half, std::vector<bool>& seen) {
  std::vector<Vec2> found;
  for (; !seen[at(half)]; half = mesh.next[at(half)]) {
    seen[at(half)] = true;
    const Name before = mesh.start(mesh.previous[at(half)]);
    const Name after = mesh.start(half ^ 1);
    if (mesh.turn(before, mesh.start(half), after) != 0)
      found.push_back(mesh.point(mesh.start(half)));
  }
  return found;
}

// The faces as parts. None if they do not cover the inside exactly: each part must be convex, and
// edges that are not sides of two parts must be edges of the rings. Then parts and rings have the
// same winding number around each point. It is 1 inside, so parts do not overlap.
inline std::vector<std::vector<Vec2>> checked_parts(const Mesh& mesh, int sense) {
  std::vector<std::vector<Vec2>> parts;
  std::vector<bool> seen(mesh.next.size());
  for (int k = 0; k < static_cast<int>(mesh.edges.size()); ++k) {
    int faces = 0;
    for (const int half : {2 * k, 2 * k + 1}) {
      if (mesh.next[at(half)] < 0) continue;
      faces += half == 2 * k ? 1 : -1;
      if (mesh.start(mesh.next[at(half)]) != mesh.start(half ^ 1)) return {};
      if (seen[at(half)]) continue;
      parts.push_back(corners(mesh, half, seen));
      if (parts.back().size() < 3 || first_reflex_vertex(parts.back()) >= 0) return {};
    }
    if (faces != sense * mesh.edges[at(k)].net) return {};
  }
  for (const int k : mesh.whiskers) {
    parts.push_back({mesh.point(mesh.edges[at(k)].from), mesh.point(mesh.edges[at(k)].to)});
  }
  return parts;
}

}  // namespace detail

// Decomposes the inside of rings[0] without the insides of the other rings, the holes, into convex
// parts. A ring (at least three points, not all collinear, either winding) may be concave and touch
// itself: at a vertex, with a vertex on an edge, or along edges (a keyhole around a hole, a whisker
// without width). It must not cross itself. Holes must lie in rings[0], and may touch it and each
// other. Takes O(n log n).
//
// If there are neither parts nor a flaw, the parts failed their check; no such input is known.
inline Decomposition decompose(std::span<const std::vector<Vec2>> rings) {
  std::vector<int> signs(rings.size(), 1);
  for (std::size_t r = 0; r < rings.size() && rings.size() > 1; ++r) {
    const detail::Triangulation alone(rings.subspan(r, 1), std::span(signs).subspan(r, 1), 0);
    Flaw flaw = alone.flaw();
    flaw.first.ring = flaw.second.ring = r;
    if (flaw.kind != Flaw::Kind::none) return {{}, flaw};
    signs[r] = r == 0 ? alone.sense() : -alone.sense();
  }
  detail::Triangulation all(rings, signs, rings.size() > 1 ? 1 : 0);
  if (all.flaw().kind != Flaw::Kind::none) return {{}, all.flaw()};
  const detail::Merging merging(all.mesh());
  return {detail::checked_parts(all.mesh(), all.sense()), {}};
}

}  // namespace gjk
