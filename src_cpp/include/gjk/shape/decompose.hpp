// SPDX-FileCopyrightText: gjk_collision contributors
// SPDX-License-Identifier: Apache-2.0
// Decomposes an outline into convex parts whose union is exactly its inside, without new vertices.
//
// The outline may be concave and may touch itself: at a vertex, with a vertex on an edge, or along
// edges (a keyhole around a hole, a whisker without width). It must not cross itself. Every step is
// decided by the sign of an exact orientation.
#pragma once

#include <algorithm>
#include <cstddef>
#include <deque>
#include <span>
#include <utility>
#include <vector>

#include "gjk/narrow/exact.hpp"
#include "gjk/shape/hull.hpp"
#include "gjk/shape/vec2.hpp"

namespace gjk {

// Two edges of an outline, given by the index of their first vertex.
struct Crossing {
  long first = -1;
  long second = -1;
};

struct Decomposition {
  std::vector<std::vector<Vec2>> parts;  // counter-clockwise; two vertices: a whisker
  Crossing crossing;  // where the outline crosses itself; then there are no parts
};

namespace detail {

// Points are named by their lexicographic rank, so names are ordered like the points.
using Name = int;
using Edge = std::pair<Name, Name>;
using Loop = std::vector<Name>;  // counter-clockwise

inline Edge reversed(Edge edge) noexcept { return {edge.second, edge.first}; }

// A piece of an outline edge between two points on it.
struct SubEdge {
  Edge along;
  long edge = 0;  // index in the given outline
};

// A directed edge of the triangulation or of the outline.
struct HalfEdge {
  Name to = 0;
  Name apex = -1;   // third corner of the triangle on the left; -1: none
  int net = 0;      // number of outline steps along it minus those against it
  int winding = 0;  // winding number of the outline around the triangle on the left
  bool flooded = false;
  int balance = 0;  // `net` minus the contribution of the parts
  int part = -1;    // part on the left
};

class Decomposer {
 public:
  explicit Decomposer(std::span<const Vec2> outline) : points_(outline.begin(), outline.end()) {
    std::sort(points_.begin(), points_.end(), lexicographically_less);
    points_.erase(std::unique(points_.begin(), points_.end()), points_.end());
    for (const Vec2 point : outline) {
      const auto at =
          std::lower_bound(points_.begin(), points_.end(), point, lexicographically_less);
      outline_.push_back(static_cast<Name>(at - points_.begin()));
    }
    from_.resize(points_.size());
  }

  Decomposition run() {
    Decomposition result;
    result.crossing = cut_at_touching_points();
    if (result.crossing.first >= 0) return result;
    triangulate();
    for (const SubEdge& step : steps_) force(step.along);
    flood();
    result.crossing = overlap();
    if (result.crossing.first >= 0) return result;
    merge();
    if (!covers()) return result;
    for (const Loop& part : parts_) {
      if (!part.empty()) result.parts.push_back(corners_of(part));
    }
    return result;
  }

 private:
  int turn(Name a, Name b, Name c) const noexcept {
    return exact::orientation(point(a), point(b), point(c));
  }
  Vec2 point(Name name) const noexcept { return points_[static_cast<std::size_t>(name)]; }

  std::vector<HalfEdge>& from(Name name) noexcept { return from_[static_cast<std::size_t>(name)]; }
  // Linear search: a vertex has few edges.
  const HalfEdge* find(Edge edge) const noexcept {
    for (const HalfEdge& half : from_[static_cast<std::size_t>(edge.first)]) {
      if (half.to == edge.second) return &half;
    }
    return nullptr;
  }
  HalfEdge& half(Edge edge) {
    for (HalfEdge& half : from(edge.first)) {
      if (half.to == edge.second) return half;
    }
    return from(edge.first).emplace_back(HalfEdge{edge.second});
  }
  template <class Visit>
  void for_each_half_edge(Visit&& visit) {
    for (std::size_t a = 0; a < from_.size(); ++a) {
      // NOLINTNEXTLINE(misc-const-correctness): some visitors change it
      for (HalfEdge& half : from_[a]) visit(Edge{static_cast<Name>(a), half.to}, half);
    }
  }

  // Splits the outline's edges at every vertex that lies on them. Afterwards two steps are equal,
  // are reverses of each other, or meet only at their ends. Returns two edges that cross, if any.
  Crossing cut_at_touching_points() {
    const std::size_t n = outline_.size();
    const auto edge = [&](std::size_t i) { return Edge{outline_[i], outline_[(i + 1) % n]}; };
    const auto apart = [&](Edge e, Edge f) {  // bounding boxes; names are ordered by x
      const auto [ea, eb] = std::minmax({e.first, e.second});
      const auto [fa, fb] = std::minmax({f.first, f.second});
      if (eb < fa || fb < ea) return true;
      const auto [ey, eh] = std::minmax({point(ea).y, point(eb).y});
      const auto [fy, fh] = std::minmax({point(fa).y, point(fb).y});
      return eh < fy || fh < ey;
    };
    for (std::size_t i = 0; i < n; ++i) {
      const auto [a, b] = edge(i);
      if (a == b) continue;
      std::vector<Name> on_edge{b};
      for (std::size_t j = 0; j < n; ++j) {
        const auto [c, d] = edge(j);
        if (apart({a, b}, {c, d})) continue;
        const int side_c = turn(a, b, c);
        if (side_c == 0 && std::min(a, b) < c && c < std::max(a, b)) on_edge.push_back(c);
        if (j <= i || side_c * turn(a, b, d) >= 0) continue;
        if (turn(c, d, a) * turn(c, d, b) < 0) {
          return {static_cast<long>(i), static_cast<long>(j)};
        }
      }
      std::sort(on_edge.begin(), on_edge.end());
      on_edge.erase(std::unique(on_edge.begin(), on_edge.end()), on_edge.end());
      if (b < a) std::reverse(on_edge.begin(), on_edge.end());
      Name from = a;
      for (const Name to : on_edge) {
        steps_.push_back({{from, to}, static_cast<long>(i)});
        ++half({from, to}).net;
        --half({to, from}).net;
        from = to;
      }
    }
    return {};
  }

  void add_triangle(Name a, Name b, Name c) {
    half({a, b}).apex = c;
    half({b, c}).apex = a;
    half({c, a}).apex = b;
  }
  Name apex(Edge edge) const noexcept {
    const HalfEdge* found = find(edge);
    return found == nullptr ? -1 : found->apex;
  }

  // Triangulates from left to right: each point is joined to the hull edges visible from it.
  void triangulate() {
    const Name count = static_cast<Name>(points_.size());
    Name k = 2;  // points before it lie on one line
    while (turn(0, 1, k) == 0) ++k;
    std::vector<Name> after(points_.size());  // along the hull, counter-clockwise
    std::vector<Name> before(points_.size());
    const auto link = [&](Name a, Name b) {
      after[static_cast<std::size_t>(a)] = b;
      before[static_cast<std::size_t>(b)] = a;
    };
    const bool left = turn(0, 1, k) > 0;
    for (Name i = 0; i + 1 < k; ++i) {
      const auto [a, b] = left ? Edge{i, i + 1} : Edge{i + 1, i};
      add_triangle(a, b, k);
      link(a, b);
    }
    link(left ? k - 1 : 0, k);
    link(k, left ? 0 : k - 1);
    for (++k; k < count; ++k) {
      Name low = k - 1;  // the greatest point so far: on the hull and visible
      Name high = low;
      for (Name next; next = after[static_cast<std::size_t>(high)], turn(high, next, k) < 0;) {
        add_triangle(next, high, k);
        high = next;
      }
      for (Name next; next = before[static_cast<std::size_t>(low)], turn(next, low, k) < 0;) {
        add_triangle(low, next, k);
        low = next;
      }
      link(low, k);
      link(k, high);
    }
  }

  // Inserts an edge into the triangulation by flips (S. W. Sloan, 1993). No other point may lie on
  // it.
  void force(Edge wanted) {
    const Name a = wanted.first;  // no structured binding: clang before 16 cannot capture one
    const Name b = wanted.second;
    if (apex(wanted) >= 0 || apex(reversed(wanted)) >= 0) return;
    const auto crosses = [&](Edge e) {
      return e.first != a && e.first != b && e.second != a && e.second != b &&
             turn(a, b, e.first) * turn(a, b, e.second) < 0;
    };
    std::deque<Edge> crossing;
    for (const HalfEdge& half : from(a)) {  // of the triangles at a, one faces b
      if (half.apex >= 0 && turn(a, b, half.to) < 0 && turn(a, b, half.apex) > 0) {
        crossing.emplace_back(half.to, half.apex);
        break;
      }
    }
    while (!crossing.empty()) {
      const Edge last = crossing.back();
      const Name beyond = apex(reversed(last));
      if (beyond == b) break;
      crossing.push_back(turn(a, b, beyond) > 0 ? Edge{last.first, beyond}
                                                : Edge{beyond, last.second});
    }
    while (!crossing.empty()) {
      const auto [x, y] = crossing.front();
      crossing.pop_front();
      const Name c = apex({x, y});
      const Name d = apex({y, x});
      if (turn(c, d, x) * turn(c, d, y) >= 0) {  // not convex yet: retry later
        crossing.emplace_back(x, y);
        continue;
      }
      half({x, y}).apex = -1;
      half({y, x}).apex = -1;
      add_triangle(x, d, c);
      add_triangle(d, y, c);
      if (crosses({c, d})) crossing.emplace_back(c, d);
    }
  }

  int net(Edge edge) const noexcept {
    const HalfEdge* found = find(edge);
    return found == nullptr ? 0 : found->net;
  }

  // Computes the winding number of each triangle, starting with 0 outside the hull. Crossing an
  // edge of the outline from its right to its left adds 1.
  void flood() {
    std::vector<Edge> open;
    const auto reach = [&](Edge edge, int turns) {
      const HalfEdge* found = find(edge);
      if (found == nullptr || found->apex < 0 || found->flooded) return;
      const Name c = found->apex;
      for (const Edge& side : {edge, Edge{edge.second, c}, Edge{c, edge.first}}) {
        half(side).winding = turns;
        half(side).flooded = true;
        open.push_back(side);
      }
      if (turns < 0) sense_ = -1;
    };
    for_each_half_edge([&](Edge edge, const HalfEdge& half) {
      if (apex(reversed(edge)) < 0) reach(edge, half.net);
    });
    while (!open.empty()) {
      const Edge edge = open.back();
      open.pop_back();
      const HalfEdge& from_here = half(edge);
      reach(reversed(edge), from_here.winding - from_here.net);
    }
  }
  int winding(Edge edge) const noexcept {
    const HalfEdge* found = find(edge);
    return found == nullptr ? 0 : sense_ * found->winding;
  }

  // Every triangle must have winding number 0 or 1, with one sign for all. Otherwise returns two
  // edges of the outline: edges that run along each other, or edges that meet at a corner of an
  // area with a wrong winding number. Edges that are not consecutive in the outline are preferred.
  Crossing overlap() {
    const long n = static_cast<long>(outline_.size());
    Crossing found;
    bool is_clear = false;
    for_each_half_edge([&](Edge side, const HalfEdge& half) {
      const int turns = sense_ * half.winding;
      if (is_clear || turns == 0 || turns == 1 || half.net == 0) return;
      Edge next{side.second, half.apex};  // around the corner, to the edge that bounds the area
      while (net(next) == 0 && apex(reversed(next)) >= 0) {
        next = {side.second, apex(reversed(next))};
      }
      const long first = edge_along(side);
      const bool doubled = half.net > 1 || half.net < -1;
      const long second = doubled ? edge_along(side, first) : edge_along(next);
      found = {std::min(first, second), std::max(first, second)};
      const long apart = found.second - found.first;
      is_clear = doubled || (apart > 1 && apart < n - 1);
    });
    return found;
  }

  // The outline edge, other than `but`, that contains this step in either direction.
  long edge_along(Edge wanted, long but = -1) const noexcept {
    for (const SubEdge& step : steps_) {
      const bool is_there = step.along == wanted || step.along == reversed(wanted);
      if (is_there && step.edge != but) return step.edge;
    }
    return but;
  }

  // Merges triangles of the inside along edges while the result stays convex, longest edges first
  // (Hertel and Mehlhorn: at most four times the minimum number of parts).
  void merge() {
    std::vector<std::pair<double, Edge>> diagonals;
    for_each_half_edge([&](Edge edge, const HalfEdge& half) {
      if (half.apex < 0 || sense_ * half.winding != 1) return;
      const auto [a, b] = edge;
      if (a < b && a < half.apex) {  // each triangle once
        parts_.push_back({a, b, half.apex});
        own(parts_.back(), static_cast<int>(parts_.size()) - 1);
      }
      if (a < b && winding(reversed(edge)) == 1) {
        const Vec2 along = point(b) - point(a);
        diagonals.emplace_back(-dot(along, along), edge);
      }
    });
    std::sort(diagonals.begin(), diagonals.end());
    for (const auto& diagonal : diagonals) join(diagonal.second);

    // Whiskers belong to the outline but have no inside, so they become parts of their own.
    for (const SubEdge& step : steps_) {
      const HalfEdge& along = half(step.along);
      const HalfEdge& against = half(reversed(step.along));
      if (along.net != 0 || along.winding != 0 || against.winding != 0) continue;
      if (along.part >= 0 || against.part >= 0) continue;  // already covered
      parts_.push_back({step.along.first, step.along.second});
      own(parts_.back(), static_cast<int>(parts_.size()) - 1);
    }
  }

  void own(const Loop& loop, int part) {
    for (std::size_t i = 0; i < loop.size(); ++i) {
      half({loop[i], loop[(i + 1) % loop.size()]}).part = part;
    }
  }

  void join(Edge edge) {
    const int left = half(edge).part;
    const int right = half(reversed(edge)).part;
    if (left == right) return;  // already joined along a longer chain of edges
    Loop& left_part = parts_[static_cast<std::size_t>(left)];
    Loop& right_part = parts_[static_cast<std::size_t>(right)];
    // Both loops start at the far end of their common chain of edges, which is removed.
    Loop ahead = from_end_of(left_part, edge);
    Loop back = from_end_of(right_part, reversed(edge));
    while (ahead.size() > 2 && back.size() > 2 && ahead[1] == back[back.size() - 2]) {
      ahead.erase(ahead.begin());
      back.pop_back();
    }
    while (ahead.size() > 2 && back.size() > 2 && back[1] == ahead[ahead.size() - 2]) {
      back.erase(back.begin());
      ahead.pop_back();
    }
    if (turn(back[back.size() - 2], ahead[0], ahead[1]) < 0) return;
    if (turn(ahead[ahead.size() - 2], back[0], back[1]) < 0) return;
    ahead.pop_back();
    back.pop_back();
    ahead.insert(ahead.end(), back.begin(), back.end());
    own(right_part, left);
    own(ahead, left);
    right_part.clear();
    left_part = std::move(ahead);
  }

  // The vertices of a loop, from the end of one of its edges around to its start.
  static Loop from_end_of(const Loop& loop, Edge edge) {
    const auto at = std::find(loop.begin(), loop.end(), edge.second);
    Loop rolled(at, loop.end());
    rolled.insert(rolled.end(), loop.begin(), at);
    return rolled;
  }

  // Whether the parts cover the inside exactly. Each part must be convex. Edges that two parts
  // share in opposite directions cancel; the others must be those of the outline. Then parts and
  // outline have the same winding number around each point. It is 1 inside, so the areas add up as
  // well.
  bool covers() {
    for_each_half_edge([](Edge, HalfEdge& half) { half.balance = half.net; });
    for (const Loop& part : parts_) {
      const std::size_t n = part.size();
      for (std::size_t i = 0; i < n; ++i) {
        const Edge edge{part[i], part[(i + 1) % n]};
        half(edge).balance -= sense_;
        half(reversed(edge)).balance += sense_;
      }
      if (n > 0 && first_reflex_vertex(corners_of(part)) >= 0) return false;
    }
    bool is_even = true;
    for_each_half_edge([&](Edge, const HalfEdge& half) { is_even &= half.balance == 0; });
    return is_even;
  }

  // The vertices of a part, without those that lie on a straight side.
  std::vector<Vec2> corners_of(const Loop& loop) const {
    const std::size_t n = loop.size();
    std::vector<Vec2> corners;
    for (std::size_t i = 0; i < n; ++i) {
      if (n < 3 || turn(loop[(i + n - 1) % n], loop[i], loop[(i + 1) % n]) != 0) {
        corners.push_back(point(loop[i]));
      }
    }
    return corners;
  }

  std::vector<Vec2> points_;                 // distinct, in lexicographic order
  std::vector<Name> outline_;                // as given
  std::vector<SubEdge> steps_;               // the outline, split at touching points
  std::vector<std::vector<HalfEdge>> from_;  // by start point
  int sense_ = 1;                            // -1: the outline is clockwise
  std::vector<Loop> parts_;                  // merged parts are empty
};

}  // namespace detail

// Decomposes an outline (at least three points, not all collinear, either winding) into convex
// parts. If there are neither parts nor a crossing, the parts failed their check; no such input is
// known.
inline Decomposition decompose(std::span<const Vec2> outline) {
  return detail::Decomposer(outline).run();
}

}  // namespace gjk
