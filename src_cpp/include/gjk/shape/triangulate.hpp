// SPDX-FileCopyrightText: gjk_collision contributors
// SPDX-License-Identifier: Apache-2.0
// Triangulates the inside of rings of edges in one sweep, in O(n log n), without new vertices.
//
// A point is inside if the winding number of the rings around it is 1. The winding number must be 0
// or 1 everywhere, and edges must not cross. Rings may touch themselves and each other: at a
// vertex, with a vertex on an edge, or along edges. Every step is decided by the sign of an exact
// orientation.
#pragma once

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <map>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include "gjk/shape/orientation.hpp"
#include "gjk/shape/vec2.hpp"

namespace gjk {

// Vertex of a ring, or the edge from it to the next vertex. Ring 0 is the outline, others are
// holes.
struct RingVertex {
  std::size_t ring = 0;
  long vertex = -1;
};

// Why rings do not bound an area.
struct Flaw {
  enum class Kind {
    none,
    crossing,  // two edges cross, overlap, or meet at an area that is wound wrongly
    outside,   // near `first`, its hole is outside of ring 0
    overlap,   // near `first`, its hole overlaps the hole of `second`
  };
  Kind kind = Kind::none;
  RingVertex first;
  RingVertex second;
};

namespace detail {

// Points are named by their lexicographic rank, so names are ordered like the points.
using Name = int;

inline std::size_t at(int i) noexcept { return static_cast<std::size_t>(i); }

// Edges, and faces with counter-clockwise boundaries. Edge k has two half-edges: 2 k leads from
// `from` to `to`, and 2 k + 1 leads back. A half-edge bounds the face on its left.
struct Mesh {
  struct Edge {
    Name from = 0;
    Name to = 0;
    int net = 0;  // number of ring edges along it minus those against it
  };
  std::vector<Vec2> points;  // distinct, in lexicographic order
  std::vector<Edge> edges;
  std::vector<int> next;      // next half-edge around the face; -1: no face
  std::vector<int> previous;  // likewise
  std::vector<int> whiskers;  // ring edges that are outside on both sides

  Vec2 point(Name name) const noexcept { return points[at(name)]; }
  int turn(Name a, Name b, Name c) const noexcept {
    return exact::orientation(point(a), point(b), point(c));
  }
  Name start(int half) const noexcept {
    const Edge& edge = edges[at(half / 2)];
    return half % 2 == 0 ? edge.from : edge.to;
  }
  int add_edge(Name from, Name to, int net = 0) {
    edges.push_back({from, to, net});
    next.insert(next.end(), 2, -1);
    previous.insert(previous.end(), 2, -1);
    return static_cast<int>(edges.size()) - 1;
  }
  void link(int half, int after) noexcept {
    next[at(half)] = after;
    previous[at(after)] = half;
  }
  void add_triangle(int a, int b, int c) noexcept {
    link(a, b);
    link(b, c);
    link(c, a);
  }
};

// Plane sweep from left to right (M. I. Shamos and D. Hoey, 1976) that keeps the lines it crosses
// in order from bottom to top. Each point splits all lines through it. For each gap between two
// lines that is inside, the sweep keeps the chain of points at the front of its triangles
// (S. Hertel and K. Mehlhorn, 1983).
class Triangulation {
 public:
  // `signs`: 1 or -1 for each ring, the factor of its edges. `sense`: winding number of the inside,
  // 1 or -1; 0: the first one found that is not 0.
  Triangulation(std::span<const std::vector<Vec2>> rings, std::span<const int> signs, int sense)
      : rings_(rings), sense_(sense) {
    std::vector<Vec2>& points = mesh_.points;
    for (const auto& ring : rings) points.insert(points.end(), ring.begin(), ring.end());
    std::sort(points.begin(), points.end(), lexicographically_less);
    points.erase(std::unique(points.begin(), points.end()), points.end());
    begins_.resize(points.size());
    for (std::size_t r = 0; r < rings.size(); ++r) {
      const long n = static_cast<long>(rings[r].size());
      const Name first = name(rings[r][0]);
      Name from = first;
      for (long i = 0; i < n; ++i) {
        const Name to = i + 1 < n ? name(rings[r][static_cast<std::size_t>(i) + 1]) : first;
        const int step = from < to ? signs[r] : -signs[r];
        if (from != to) {
          begins_[at(std::min(from, to))].push_back({std::max(from, to), step, {r, i}});
        }
        from = to;
      }
    }
    const Name count = static_cast<Name>(points.size());
    for (Name p = 0; p < count && !is_final_; ++p) visit(p);
  }

  Triangulation(const Triangulation&) = delete;  // status_ points to mesh_
  Triangulation& operator=(const Triangulation&) = delete;

  const Flaw& flaw() const noexcept { return flaw_; }
  int sense() const noexcept { return sense_; }
  Mesh& mesh() noexcept { return mesh_; }

 private:
  // An edge of a ring, from the point where the sweep met it.
  struct RingEdge {
    Name end = 0;
    int step = 0;  // its part of the winding number above it
    RingVertex is;
  };

  // The front of a gap, from bottom to top. No three consecutive points turn right, so no triangle
  // can be cut off. The interior is to its right.
  struct Node {
    Name point = 0;
    int half = -1;  // half-edge from the node above to this one
    int down = -1;
    int up = -1;
  };
  struct Chain {
    int bottom = -1;
    int top = -1;
    int last = -1;  // the greatest point: visible from the next point in the gap
  };

  struct Line {
    Name from = 0;
    Name to = 0;
  };
  // The ring edges along a line, and the gap above it.
  struct Band {
    std::vector<RingEdge> members;  // heap: the one that ends first is in front
    int net = 0;                    // sum of their steps
    int edge = -1;                  // of the mesh
    int winding = 0;                // of the gap
    Chain chain;                    // of the gap, if it is inside
  };
  struct Below {
    using is_transparent = void;
    const Mesh* mesh;
    bool operator()(Line a, Name p) const noexcept { return mesh->turn(a.from, a.to, p) > 0; }
    bool operator()(Name p, Line a) const noexcept { return mesh->turn(a.from, a.to, p) < 0; }
    bool operator()(Line a, Line b) const noexcept {
      if (a.from == b.from) return mesh->turn(a.from, a.to, b.to) > 0;
      return a.from < b.from ? (*this)(a, b.from) : (*this)(a.from, b);
    }
  };
  using Status = std::map<Line, Band, Below>;
  struct Sector {
    RingVertex edge;
    int winding = 0;  // of the gap after it, counter-clockwise around the point
  };

  Name name(Vec2 point) const {
    const auto& all = mesh_.points;
    const auto found = std::lower_bound(all.begin(), all.end(), point, lexicographically_less);
    return static_cast<Name>(found - all.begin());
  }
  Node& node(int i) noexcept { return nodes_[at(i)]; }
  int add_node(const Node& node) {
    nodes_.push_back(node);
    return static_cast<int>(nodes_.size()) - 1;
  }
  bool is_inside(int winding) const noexcept {
    return flaw_.kind == Flaw::Kind::none && winding != 0 && winding == sense_;
  }
  static bool ends_later(const RingEdge& a, const RingEdge& b) noexcept { return a.end > b.end; }

  void visit(Name p) {
    const auto [first, last] = status_.equal_range(p);
    Band& under = first == status_.begin() ? outside_ : std::prev(first)->second;
    const int below = under.winding;
    Chain lower;  // of the gaps below and above p
    Chain upper;
    if (first == last) {
      if (is_inside(below)) std::tie(lower, upper) = split(under.chain, p);
    } else {
      if (is_inside(below)) lower = with_top(under.chain, p, 2 * first->second.edge + 1);
      for (auto line = first; line != last; ++line) {
        const Band& band = line->second;
        if (!is_inside(band.winding)) continue;
        if (std::next(line) == last) {
          upper = with_bottom(band.chain, p, 2 * band.edge);
        } else {
          Chain ending = band.chain;
          cut_top(ending, p, 2 * std::next(line)->second.edge + 1, 2 * band.edge);
        }
      }
    }
    std::vector<Sector> left;  // from bottom to top
    for (auto line = first; line != last; ++line) {
      left.push_back({line->second.members.front().is, line->second.winding});
    }
    auto leaving = lines_from(p, first, last);
    const auto above = status_.erase(first, last);
    if (!leaving.empty()) {
      under.chain = lower;
    } else if (is_inside(below)) {
      under.chain = joined(lower, upper);
    }
    auto lowest = above;
    int winding = below;
    for (std::size_t i = 0; i < leaving.size(); ++i) {
      auto& [line, band] = leaving[i];
      winding += band.net;
      if (sense_ == 0) sense_ = (winding > 0) - (winding < 0);
      band.winding = winding;
      band.edge = mesh_.add_edge(p, line.to, band.net);
      if (band.net == 0 && winding == 0) mesh_.whiskers.push_back(band.edge);
      if (is_inside(winding)) band.chain = i + 1 < leaving.size() ? alone(p) : upper;
      const auto placed = status_.emplace_hint(above, line, std::move(band));
      if (i == 0) lowest = placed;
    }
    find_wrong_winding(lowest, above, left, below);
    if (lowest != status_.begin() && lowest != status_.end()) {
      test_crossing(std::prev(lowest), lowest);
    }
    if (lowest != above && above != status_.end()) test_crossing(std::prev(above), above);
  }

  // The lines that begin at p, from bottom to top: ring edges that begin here, and the rest of the
  // lines through p.
  std::vector<std::pair<Line, Band>> lines_from(Name p, Status::iterator first,
                                                Status::iterator last) {
    std::vector<std::pair<Line, Band>> lines;
    for (; first != last; ++first) {
      Band& band = first->second;
      mesh_.edges[at(band.edge)].to = p;
      while (!band.members.empty() && band.members.front().end == p) {
        band.net -= band.members.front().step;
        std::pop_heap(band.members.begin(), band.members.end(), ends_later);
        band.members.pop_back();
      }
      if (!band.members.empty()) lines.emplace_back(Line{p, first->first.to}, std::move(band));
    }
    if (lines.size() > 1) cross(lines[0].second, lines[1].second);
    for (const RingEdge& edge : begins_[at(p)]) {
      lines.emplace_back(Line{p, edge.end}, Band{{edge}, edge.step, -1, 0, {}});
    }
    const auto turn = [&](const auto& a, const auto& b) {
      return mesh_.turn(p, a.first.to, b.first.to);
    };
    std::sort(lines.begin(), lines.end(),
              [&](const auto& a, const auto& b) { return turn(a, b) > 0; });
    std::size_t kept = 0;
    for (std::size_t i = 1; i < lines.size(); ++i) {
      if (turn(lines[kept], lines[i]) == 0) {
        unite(lines[kept], std::move(lines[i]));
      } else if (++kept != i) {
        lines[kept] = std::move(lines[i]);
      }
    }
    if (!lines.empty()) lines.resize(kept + 1);
    return lines;
  }

  static void unite(std::pair<Line, Band>& one, std::pair<Line, Band>&& other) {
    Band& band = one.second;
    one.first.to = std::max(one.first.to, other.first.to);
    band.net += other.second.net;
    if (band.members.size() < other.second.members.size()) {
      band.members.swap(other.second.members);
    }
    for (const RingEdge& edge : other.second.members) {
      band.members.push_back(edge);
      std::push_heap(band.members.begin(), band.members.end(), ends_later);
    }
  }

  // ---- chains

  Chain alone(Name p) {
    const int only = add_node({p});
    return {only, only, only};
  }

  // Cuts triangles with p off the top of a chain. `side`: half-edge from p to the top. `low`:
  // half-edge from the bottom to p, if it exists. Returns the half-edge from p to the new top.
  int cut_top(Chain& chain, Name p, int side, int low = -1) {
    while (chain.top != chain.bottom) {
      const int under = node(chain.top).down;
      const Name a = node(under).point;
      if (mesh_.turn(a, p, node(chain.top).point) <= 0) break;
      const int base = low >= 0 && under == chain.bottom ? low : 2 * mesh_.add_edge(a, p);
      mesh_.add_triangle(base, side, node(under).half);
      side = base ^ 1;
      chain.top = under;
    }
    return side;
  }

  Chain with_top(Chain chain, Name p, int side) {
    side = cut_top(chain, p, side);
    const int added = add_node({p, -1, chain.top, -1});
    node(chain.top).half = side;
    node(chain.top).up = added;
    return {chain.bottom, added, added};
  }

  // `side`: half-edge from the bottom to p.
  Chain with_bottom(Chain chain, Name p, int side) {
    while (chain.top != chain.bottom) {
      const Node& low = node(chain.bottom);
      const Name c = node(low.up).point;
      if (mesh_.turn(low.point, p, c) <= 0) break;
      const int top = 2 * mesh_.add_edge(p, c);
      mesh_.add_triangle(side, top, low.half);
      side = top ^ 1;
      chain.bottom = low.up;
    }
    const int added = add_node({p, side, -1, chain.bottom});
    node(chain.bottom).down = added;
    return {added, chain.top, added};
  }

  // The chains below and above a point p in a gap.
  std::pair<Chain, Chain> split(const Chain& chain, Name p) {
    const int last = chain.last;
    const int half = 2 * mesh_.add_edge(node(last).point, p);
    const int copy = add_node({node(last).point, -1, node(last).down, -1});
    if (last != chain.bottom) node(node(last).down).up = copy;
    const Chain lower{last == chain.bottom ? copy : chain.bottom, copy, copy};
    const Chain upper{last, chain.top, last};
    return {with_top(lower, p, half ^ 1), with_bottom(upper, p, half)};
  }

  // The chain of two gaps that meet in the last points of their chains.
  Chain joined(const Chain& lower, const Chain& upper) {
    Node& middle = node(lower.top);
    const Node& same = node(upper.bottom);
    middle.half = same.half;
    middle.up = same.up;
    node(same.up).down = lower.top;
    return {lower.bottom, upper.top, lower.top};
  }

  // ---- flaws

  void report(Flaw::Kind kind, RingVertex first, RingVertex second, bool is_final) {
    flaw_ = {kind, first, second};
    is_final_ = is_final;
  }

  static RingVertex farthest(const Band& band) {
    return std::min_element(band.members.begin(), band.members.end(), ends_later)->is;
  }
  void cross(const Band& a, const Band& b) {
    report(Flaw::Kind::crossing, farthest(a), farthest(b), true);
  }
  void test_crossing(Status::iterator low, Status::iterator high) {
    const auto are_beside = [&](Line a, Line b) {
      return mesh_.turn(a.from, a.to, b.from) * mesh_.turn(a.from, a.to, b.to) < 0;
    };
    if (are_beside(low->first, high->first) && are_beside(high->first, low->first)) {
      cross(low->second, high->second);
    }
  }

  bool is_wrong(int winding) const noexcept { return winding != 0 && winding != sense_; }

  // Finds gaps at a point whose winding number is neither 0 nor that of the inside. [first, last):
  // the lines that begin there; `left`: those that ended, and `below`: the winding number below.
  void find_wrong_winding(Status::iterator first, Status::iterator last,
                          const std::vector<Sector>& left, int below) {
    if (is_final_ || has_clear_flaw()) return;
    std::vector<Sector> around;
    for (auto line = first; line != last; ++line) {
      around.push_back({line->second.members.front().is, line->second.winding});
    }
    for (std::size_t i = left.size(); i-- > 0;) {
      around.push_back({left[i].edge, i > 0 ? left[i - 1].winding : below});
    }
    if (std::none_of(around.begin(), around.end(),
                     [&](const Sector& sector) { return is_wrong(sector.winding); })) {
      return;
    }
    if (rings_.size() > 1) return find_wrong_hole(last);
    for (auto line = first; line != last; ++line) {
      const Band& band = line->second;
      if (band.net * band.net <= 1) continue;  // else edges run along each other
      for (const RingEdge& edge : band.members) propose(band.members.front().is, edge.is);
    }
    for (std::size_t i = 0; i < around.size(); ++i) {
      if (is_wrong(around[i].winding)) {
        propose(around[i].edge, around[(i + 1) % around.size()].edge);
      }
    }
  }

  // Number of edges from one edge of the only ring to another.
  long steps(RingVertex a, RingVertex b) const noexcept {
    const long apart = a.vertex < b.vertex ? b.vertex - a.vertex : a.vertex - b.vertex;
    return std::min(apart, static_cast<long>(rings_[0].size()) - apart);
  }
  bool has_clear_flaw() const noexcept {
    return flaw_.kind != Flaw::Kind::none && steps(flaw_.first, flaw_.second) > 1;
  }
  // Reports two edges of the only ring that meet, unless two that are not consecutive are known.
  void propose(RingVertex a, RingVertex b) {
    const bool is_first = flaw_.kind == Flaw::Kind::none;
    if (!has_clear_flaw() && steps(a, b) > (is_first ? 0 : 1)) {
      report(Flaw::Kind::crossing, a, b, false);
    }
  }

  // Below some line before `last`, a hole is outside of the outline or in another hole. Each ring
  // has been found to be free of flaws.
  void find_wrong_hole(Status::iterator last) {
    std::vector<int> winding(rings_.size());
    std::vector<RingVertex> seen(rings_.size());
    for (auto line = status_.begin(); line != last; ++line) {
      for (const RingEdge& edge : line->second.members) {
        winding[edge.is.ring] += edge.step;
        seen[edge.is.ring] = edge.is;
      }
      if (!is_wrong(line->second.winding)) continue;
      std::vector<RingVertex> holes;  // that contain the gap above the line
      for (std::size_t r = 1; r < winding.size(); ++r) {
        if (winding[r] < 0) holes.push_back(seen[r]);
      }
      const auto kind = winding[0] == 0 ? Flaw::Kind::outside : Flaw::Kind::overlap;
      return report(kind, holes.back(), holes.front(), true);
    }
  }

  std::span<const std::vector<Vec2>> rings_;
  int sense_;
  Mesh mesh_;
  std::vector<std::vector<RingEdge>> begins_;  // by their lesser point
  Status status_{Below{&mesh_}};
  Band outside_;  // the gap below all lines
  std::vector<Node> nodes_;
  Flaw flaw_;
  bool is_final_ = false;
};

}  // namespace detail
}  // namespace gjk
