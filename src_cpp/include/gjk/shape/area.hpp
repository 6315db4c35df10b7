// SPDX-FileCopyrightText: gjk_collision contributors
// SPDX-License-Identifier: Apache-2.0
// Area of a shape: of the union of its parts, each grown by its radius.
//
// The area of a convex part is that of its polygon, plus perimeter * r + pi * r^2 (Steiner). The
// areas of parts that do not overlap are added. Parts that overlap are cut into vertical strips, in
// which the boundaries do not cross: there, the union is a set of intervals between an upper and a
// lower boundary, whose integrals are known in closed form. An error in the place of a crossing
// changes the area only in the second order, so coinciding and touching boundaries do no harm.
//
// A crossing that is deep in a third part begins no strip: neither boundary is one of the union on
// either side of it. If n parts all overlap each other, there are n^2 crossings, but few others.
#pragma once

#include "gjk/shape/shape.hpp"

namespace gjk {

// m2. The relative error is about 1e-12; of one part, a few roundings. The result is NaN if the
// boundary of the union has too many corners, for example for 1000 crossing bars (kMostTests,
// kMostLevels).
double area(const Shape& shape);

namespace detail {

// Whether a point is more than `least` (m, > 0) inside of a convex part.
bool is_deep_in(const Convex& part, Vec2 p, double least) noexcept;

}  // namespace detail

}  // namespace gjk

#ifdef GJK_KERNEL
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numbers>
#include <numeric>
#include <span>
#include <vector>

#include "gjk/broad/boxes.hpp"
#include "gjk/broad/bvh.hpp"
#include "gjk/query.hpp"
#include "gjk/shape/box.hpp"
#include "gjk/shape/convex.hpp"
#include "gjk/shape/expansion.hpp"
#include "gjk/shape/vec2.hpp"

namespace gjk {

namespace detail {

// m2. Each product is exact, and the sum is rounded.
inline double cross_of_edges(Vec2 a, Vec2 b) noexcept {
  const TwoTerms p = two_product(a.x, b.y);
  const TwoTerms q = two_product(a.y, b.x);
  return (p.high - q.high) + (p.low - q.low);
}

inline double convex_area(const Convex& part) noexcept {
  double twice = 0.0;
  double perimeter = 0.0;
  for (int i = 0; i < part.size; ++i) {
    const int next = after(i, part.size);
    twice += cross_of_edges(part.vertex(i) - part.vertex(0), part.vertex(next) - part.vertex(0));
    perimeter += norm(part.vertex(next) - part.vertex(i));
  }
  const double r = part.radius;
  return std::fmax(0.0, 0.5 * twice) + r * (perimeter + std::numbers::pi * r);
}

// A piece of the boundary of a convex set as a function y(x): a line, or an arc.
struct Boundary {
  Vec2 from;  // m, from.x < to.x
  Vec2 to;
  bool is_upper = false;
  double radius = 0.0;  // m; 0: a line
  Vec2 centre;

  double sagitta(double x) const noexcept {
    const double u = x - centre.x;
    return std::sqrt(std::fmax(0.0, (radius - u) * (radius + u)));
  }
  double at(double x) const noexcept {
    if (radius > 0.0) return centre.y + (is_upper ? sagitta(x) : -sagitta(x));
    return from.y + (x - from.x) / (to.x - from.x) * (to.y - from.y);
  }
  double integral(double x0, double x1) const noexcept {
    if (radius == 0.0) return 0.5 * (at(x0) + at(x1)) * (x1 - x0);
    const auto segment = [this](double x) noexcept {
      const double u = x - centre.x;
      const double v = sagitta(x);
      return 0.5 * (u * v + radius * radius * std::atan2(u, v));  // asin(u / r) loses digits near r
    };
    const double above = segment(x1) - segment(x0);
    return centre.y * (x1 - x0) + (is_upper ? above : -above);
  }
  Box box() const noexcept {
    Box box;
    box.include(from);
    box.include(to);
    if (radius > 0.0 && from.x <= centre.x && centre.x <= to.x) {
      box.include(Vec2{centre.x, centre.y + (is_upper ? radius : -radius)});
    }
    return box;
  }
  // Whether a point of the line or of the circle is on this half of the circle.
  bool has_side_of(Vec2 p) const noexcept {
    return radius == 0.0 || (is_upper ? p.y >= centre.y : p.y <= centre.y);
  }
};

// Appends the boundary of one convex part, relative to `origin` (m): the edges, moved outwards by
// the radius, and the arcs between them, cut where they are vertical. A vertical edge is left out.
class PartBoundary {
 public:
  PartBoundary(const Convex& part, Vec2 origin, std::vector<Boundary>& all)
      : radius_(part.radius), all_(&all) {
    for (int i = 0; i < part.size; ++i) {
      const Vec2 vertex = part.vertex(i) - origin;
      if (vertices_.empty() || !(vertex == vertices_.back())) vertices_.push_back(vertex);
    }
    while (vertices_.size() > 1 && vertices_.front() == vertices_.back()) vertices_.pop_back();
    const std::size_t n = vertices_.size();
    if (n == 1) {
      add_arc(vertices_[0], {-1.0, 0.0}, {1.0, 0.0});
      add_arc(vertices_[0], {1.0, 0.0}, {-1.0, 0.0});
      return;
    }
    std::vector<Vec2> out(n);  // unit normal of the edge from vertex i
    for (std::size_t i = 0; i < n; ++i) {
      const Vec2 edge = vertices_[(i + 1) % n] - vertices_[i];
      out[i] = -(1.0 / norm(edge)) * perpendicular(edge);
    }
    for (std::size_t i = 0; i < n; ++i) {
      const std::size_t next = (i + 1) % n;
      add(vertices_[i] + radius_ * out[i], vertices_[next] + radius_ * out[i], 0.0, {});
      if (radius_ > 0.0) add_arc(vertices_[next], out[i], out[next]);
    }
  }

 private:
  // Counter-clockwise: the set is to the left, so it is below a boundary that leads to smaller x.
  void add(Vec2 a, Vec2 b, double radius, Vec2 centre) {
    if (a.x < b.x) all_->push_back({a, b, false, radius, centre});
    if (b.x < a.x) all_->push_back({b, a, true, radius, centre});
  }
  // The arc between two unit normals; it is at most half a circle.
  void add_arc(Vec2 centre, Vec2 first, Vec2 last) {
    const Vec2 a = centre + radius_ * first;
    const Vec2 b = centre + radius_ * last;
    if (first.y * last.y < 0.0) {
      const Vec2 extreme = centre + Vec2{first.y < 0.0 ? radius_ : -radius_, 0.0};
      add(a, extreme, radius_, centre);
      add(extreme, b, radius_, centre);
    } else {
      add(a, b, radius_, centre);
    }
  }

  double radius_;
  std::vector<Boundary>* all_;
  std::vector<Vec2> vertices_;
};

// Calls found(point) (m) where two boundaries may cross.
template <class Found>
void find_crossings(const Boundary& a, const Boundary& b, Found&& found) {
  const double low = std::fmax(a.from.x, b.from.x);
  const double high = std::fmin(a.to.x, b.to.x);
  const auto add = [&](Vec2 p) {
    if (low < p.x && p.x < high) found(p);
  };
  if (a.radius == 0.0 && b.radius == 0.0) {
    const Vec2 along = a.to - a.from;
    const Vec2 other = b.to - b.from;
    const double turn = cross_of_edges(along, other);
    if (turn != 0.0) add(a.from + cross_of_edges(b.from - a.from, other) / turn * along);
    return;
  }
  // The points of a line, through `foot` along the unit vector `along`, on a circle.
  const auto cut = [&](Vec2 foot, Vec2 along, double off, double radius) {
    const double square = (radius - off) * (radius + off);
    if (!(square >= 0.0)) return;
    for (const double side : {-1.0, 1.0}) {
      const Vec2 p = foot + side * std::sqrt(square) * along;
      if (a.has_side_of(p) && b.has_side_of(p)) add(p);
    }
  };
  if (a.radius > 0.0 && b.radius > 0.0) {
    const Vec2 between = b.centre - a.centre;
    const double distance = norm(between);
    if (!(distance > 0.0)) return;
    const Vec2 along = (1.0 / distance) * between;
    const double off =
        0.5 * (distance + (a.radius - b.radius) * ((a.radius + b.radius) / distance));
    cut(a.centre + off * along, perpendicular(along), off, a.radius);
    return;
  }
  const Boundary& line = a.radius == 0.0 ? a : b;
  const Boundary& arc = a.radius == 0.0 ? b : a;
  const Vec2 edge = line.to - line.from;
  const Vec2 along = (1.0 / norm(edge)) * edge;
  const Vec2 since = arc.centre - line.from;
  cut(line.from + dot(along, since) * along, along, cross_of_edges(along, since), arc.radius);
}

GJK_KERNEL bool is_deep_in(const Convex& part, Vec2 p, double least) noexcept {
  double inner = part.size > 2 ? std::numeric_limits<double>::infinity() : -1.0;  // m, to the edges
  double square = std::numeric_limits<double>::infinity();  // m2, of the distance to an edge
  for (int i = 0; i < part.size; ++i) {
    const Vec2 from = part.vertex(i);
    const Vec2 edge = part.vertex(after(i, part.size)) - from;
    const Vec2 off = p - from;
    const double length2 = dot(edge, edge);
    if (length2 > 0.0) {
      inner = std::fmin(inner, cross_of_edges(edge, off) / std::sqrt(length2));
    }
    const double share =
        length2 > 0.0 ? std::fmin(1.0, std::fmax(0.0, dot(off, edge) / length2)) : 0.0;
    const Vec2 away = off - share * edge;
    square = std::fmin(square, dot(away, away));
  }
  if (inner >= 0.0) return inner + part.radius > least;
  const double reach = part.radius - least;
  return reach > 0.0 && square < reach * reach;
}

// Finds out whether points are deep in one of some parts. The part that was found last is tested
// first.
class DeepIn {
 public:
  DeepIn(std::span<const Convex> parts, std::span<const Box> boxes) : parts_(parts) {
    Box all;
    for (const Box& box : boxes) all.include(box);
    origin_ = all.center();
    // Errors of crossings are much smaller, unless the boundaries nearly coincide. A wrong order of
    // two such boundaries changes the area in the second order.
    least_ = 0x1p-30 * norm1(all.high - all.low);
    tree_.arrange<2>(parts.size(), [&](std::size_t k) noexcept {
      return Bvh::key_at(boxes[k].center() - origin_);
    });
    tree_.fill([&](std::size_t k) noexcept {
      return Box{boxes[k].low - origin_, boxes[k].high - origin_};
    });
    tree_.update();
  }

  // `p` is in the frame of the parts.
  bool operator()(Vec2 p) {
    const auto holds = [&](std::uint32_t k) noexcept {
      ++tests_;
      if (!is_deep_in(parts_[k], p, least_)) return false;
      last_ = k;
      return true;
    };
    if (holds(last_)) return true;
    const Vec2 at = p - origin_;
    bool found = false;
    tree_.overlapping(FloatBox::around({at, at}), {},
                      [&](std::uint32_t k) noexcept { return found = k != last_ && holds(k); });
    return found;
  }

  // Number of parts that were tested.
  std::size_t tests() const noexcept { return tests_; }

 private:
  std::span<const Convex> parts_;
  Bvh tree_;  // relative to origin_
  Vec2 origin_;
  double least_ = 0.0;  // m
  std::uint32_t last_ = 0;
  std::size_t tests_ = 0;
};

inline constexpr std::size_t kMostTests = 8'000'000;    // of points in parts
inline constexpr std::size_t kMostLevels = 20'000'000;  // boundaries in all strips together

// m2. Area of the union of convex sets, given by their boundaries relative to `origin` (m). NaN:
// one of the limits above is exceeded.
inline double union_area(std::vector<Boundary>& all, DeepIn& is_deep, Vec2 origin) {
  constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
  std::sort(all.begin(), all.end(),
            [](const Boundary& a, const Boundary& b) { return a.from.x < b.from.x; });
  std::vector<double> events;
  std::vector<std::size_t> active;
  for (std::size_t i = 0; i < all.size(); ++i) {
    events.push_back(all[i].from.x);
    events.push_back(all[i].to.x);
    const Box box = all[i].box();
    std::erase_if(active, [&](std::size_t k) { return all[k].to.x <= all[i].from.x; });
    for (const std::size_t k : active) {
      const Vec2 gap = box.gap(all[k].box());
      if (gap.y > 0.0) continue;
      find_crossings(all[i], all[k], [&](Vec2 p) {
        if (!is_deep(p + origin)) events.push_back(p.x);
      });
      if (is_deep.tests() > kMostTests) return kNaN;
    }
    active.push_back(i);
  }
  std::sort(events.begin(), events.end());
  events.erase(std::unique(events.begin(), events.end()), events.end());

  struct Level {
    double y = 0.0;
    const Boundary* boundary = nullptr;
  };
  std::vector<Level> levels;
  active.clear();
  double area = 0.0;
  std::size_t next = 0;
  std::size_t total = 0;
  for (std::size_t n = 1; n < events.size(); ++n) {
    const double x0 = events[n - 1];
    const double x1 = events[n];
    while (next < all.size() && all[next].from.x <= x0) active.push_back(next++);
    std::erase_if(active, [&](std::size_t k) { return all[k].to.x <= x0; });
    total += active.size();
    if (total > kMostLevels) return kNaN;
    levels.clear();
    for (const std::size_t k : active) levels.push_back({all[k].at(0.5 * (x0 + x1)), &all[k]});
    std::sort(levels.begin(), levels.end(), [](const Level& a, const Level& b) {
      return a.y < b.y || (a.y == b.y && !a.boundary->is_upper && b.boundary->is_upper);
    });
    int depth = 0;  // number of sets above this level
    for (const Level& level : levels) {
      const bool is_upper = level.boundary->is_upper;
      if (!is_upper && depth++ == 0) area -= level.boundary->integral(x0, x1);
      if (is_upper && --depth == 0) area += level.boundary->integral(x0, x1);
    }
  }
  return area;
}

}  // namespace detail

GJK_KERNEL double area(const Shape& shape) {
  const auto count = static_cast<std::size_t>(shape.parts());
  std::vector<Convex> parts;
  std::vector<Box> boxes;
  for (int k = 0; k < shape.parts(); ++k) {
    const Convex part = shape.part(k);
    parts.push_back(part);
    boxes.push_back(
        Box{{part.extreme_x[2], part.extreme_y[3]}, {part.extreme_x[0], part.extreme_y[1]}}.grown(
            part.radius));
  }
  std::vector<std::size_t> order(count);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(),
            [&](std::size_t a, std::size_t b) { return boxes[a].low.x < boxes[b].low.x; });
  std::vector<std::size_t> group(count);  // of parts that overlap: towards its representative
  std::iota(group.begin(), group.end(), std::size_t{0});
  const auto group_of = [&](std::size_t k) {
    while (group[k] != k) k = group[k] = group[group[k]];
    return k;
  };
  std::vector<std::size_t> active;
  for (const std::size_t i : order) {
    std::erase_if(active, [&](std::size_t k) { return boxes[k].high.x < boxes[i].low.x; });
    for (const std::size_t k : active) {
      if (boxes[i].gap(boxes[k]).y > 0.0 || group_of(i) == group_of(k)) continue;
      // A depth of the size of a rounding error has no area that counts.
      const double size = norm1(boxes[i].high - boxes[i].low) + norm1(boxes[k].high - boxes[k].low);
      const double depth = -closest(parts[i], parts[k]).distance;
      if (depth > 64.0 * kUnitRoundoff * size) group[group_of(i)] = group_of(k);
    }
    active.push_back(i);
  }

  std::vector<std::vector<std::size_t>> members(count);
  for (std::size_t k = 0; k < count; ++k) members[group_of(k)].push_back(k);
  double sum = 0.0;
  std::vector<detail::Boundary> boundaries;
  std::vector<Convex> own;
  std::vector<Box> own_boxes;
  for (const std::vector<std::size_t>& group_members : members) {
    if (group_members.empty()) continue;
    if (group_members.size() == 1) {
      sum += detail::convex_area(parts[group_members.front()]);
      continue;
    }
    boundaries.clear();
    own.clear();
    own_boxes.clear();
    const Vec2 origin = parts[group_members.front()].vertex(0);
    for (const std::size_t k : group_members) {
      const detail::PartBoundary added(parts[k], origin, boundaries);
      own.push_back(parts[k]);
      own_boxes.push_back(boxes[k]);
    }
    detail::DeepIn is_deep(own, own_boxes);
    sum += detail::union_area(boundaries, is_deep, origin);
  }
  return sum;
}

}  // namespace gjk
#endif
