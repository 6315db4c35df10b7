// SPDX-FileCopyrightText: gjk_collision contributors
// SPDX-License-Identifier: Apache-2.0
// What sensors have seen: the union of regions. Space outside of it is not known to be free.
//
// A convex set is in the union if one region holds it, or if it can be divided into pieces that are
// each in a region. Pieces are cut along a border of a region that holds their middle, and halved
// where this does not divide them. The union itself is never computed, so any number of scans costs
// nothing until a shape is at a border of what one of them has seen. A shape that is in the union
// may be called unseen where two regions overlap by a few kApart or less, beside what is not
// certain of them, or where many of their borders meet; the opposite never happens.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "gjk/motion/motion.hpp"
#include "gjk/scene/region.hpp"
#include "gjk/shape/shape.hpp"
#include "gjk/shape/vec2.hpp"

namespace gjk {

class Coverage {
 public:
  struct Member {
    std::shared_ptr<const Region> region;
    std::string source;  // what saw it
  };
  // The first time (s) at which a shape is not certainly in what was seen, and a point there.
  struct Leaving {
    double time = 0.0;
    Vec2 point;
  };

  explicit Coverage(std::vector<Member> members) : members_(std::move(members)) {}

  std::size_t bytes() const noexcept {
    std::size_t sum = sizeof(Coverage);
    for (const Member& each : members_) sum += each.region->bytes();
    return sum;
  }

  // A point that is not certainly seen, of a shape at a pose or within `margin` (m) of it.
  std::optional<Vec2> unseen(const Shape& shape, const Placement& at, double margin) const noexcept;

  // When a shape first leaves what was seen, to within a way of `tolerance` (m).
  std::optional<Leaving> leaving(const Shape& shape, const Piece& way, double margin,
                                 double tolerance) const noexcept;

  // m. Every shift that brings the shape with its margin into what was seen is at least so long.
  // The search for a greater length ends at `enough`.
  double depth(const Shape& shape, const Pose& pose, double margin,
               double enough = kInfinity) const noexcept;

  // The member that is nearest to a point, and its distance (m); null: there is none.
  std::pair<const Member*, double> nearest(Vec2 p) const noexcept;

 private:
  static constexpr double kApart = 1e-6;           // m. Cuts are so far inside of a border
  static constexpr double kFinest = 1e-5;          // m. Smaller pieces are not halved
  static constexpr double kThin = 2e-6;            // m. A smaller radius is kept for each piece
  static constexpr int kMostTests = 20'000;        // of a piece against a region, per pose
  static constexpr int kDeepest = 200;             // divisions of a piece
  static constexpr std::size_t kMostCorners = 16;  // of a piece
  static constexpr std::size_t kMostVertices =
      32;  // of a part; one with more is replaced by its box

  // A convex piece of a shape.
  struct Polygon {
    Vec2 corners[kMostCorners + 2];
    std::size_t size = 0;

    std::span<const Vec2> all() const noexcept { return {corners, size}; }
    bool is_full() const noexcept { return size > kMostCorners; }
    void add(Vec2 p) noexcept { corners[size++] = p; }
    Vec2 middle() const noexcept;
    // Divides it by a line; the second part is where `normal`, a unit vector, points to. False: a
    // part reaches less than `least` (m) from the line, or has too many corners.
    bool cut(Vec2 base, Vec2 normal, double least,
             std::pair<Polygon, Polygon>& parts) const noexcept;
    // Divides it across its longest edge, or from corner to corner if it has many.
    bool halve(std::pair<Polygon, Polygon>& parts) const noexcept;
  };
  // The hull of some points, grown by a radius.
  struct Hull {
    Vec2 points[2 * kMostVertices];
    std::size_t size = 0;
    double radius = 0.0;  // m

    void include(const Convex& part, const Placement& at) noexcept;
  };

  bool holds_point(Vec2 p) const noexcept;
  enum class Held : std::uint8_t { nothing, middle, all };
  // What one region holds of a piece. If no region holds all of it, `cut` gets the borders that it
  // may touch, of regions that hold its middle, until it returns true.
  template <typename Cut>
  Held held(std::span<const Vec2> outline, double radius, Vec2 middle, Cut&& cut) const noexcept;
  std::optional<Vec2> unseen(Hull& hull, int& left) const noexcept;
  std::optional<Vec2> unseen(const Polygon& piece, double radius, int& left,
                             int depth = 0) const noexcept;
  // On the way from `begin` to `end`: a point of the space that the shape sweeps.
  std::optional<Vec2> unseen(const Shape& shape, const Piece& way, double begin, double end,
                             double margin, int& left) const noexcept;

  std::vector<Member> members_;
};

}  // namespace gjk

#ifdef GJK_KERNEL
#include <algorithm>
#include <array>
#include <cmath>

#include "gjk/shape/convex.hpp"
#include "gjk/shape/hull.hpp"
#include "gjk/shape/pose.hpp"

namespace gjk {

inline void Coverage::Hull::include(const Convex& part, const Placement& at) noexcept {
  const Transform transform = Transform::from_pose(at.pose, {}, at.error);
  const double error = part.error + transform.t_error + 2.0 * transform.error(part.extent);
  const double grown = part.radius + error;
  radius = grown > radius || std::isnan(grown) ? grown : radius;
  if (static_cast<std::size_t>(part.size) <= kMostVertices) {
    for (int i = 0; i < part.size; ++i) points[size++] = transform.apply(part.vertex(i));
    return;
  }
  const Box box = part.box();
  for (const double x : {box.low.x, box.high.x}) {
    for (const double y : {box.low.y, box.high.y}) points[size++] = transform.apply({x, y});
  }
}

inline bool Coverage::holds_point(Vec2 p) const noexcept {
  return std::ranges::any_of(members_,
                             [p](const Member& each) noexcept { return each.region->contains(p); });
}

template <typename Cut>
Coverage::Held Coverage::held(std::span<const Vec2> outline, double radius, Vec2 middle,
                              Cut&& cut) const noexcept {
  std::array<double, 4 * kMostVertices> x, y;
  x[0] = y[0] = 0.0;
  for (std::size_t i = 0; i < outline.size(); ++i) {
    x[i] = outline[i].x;
    y[i] = outline[i].y;
  }
  Convex piece = Convex::view(x.data(), y.data(), outline.size(), radius);
  if (!in_domain(piece, piece)) {  // a cut beside a vertex can be reflex by its rounding
    std::array<Vec2, 4 * kMostVertices + 1> points;
    std::array<Vec2, 4 * kMostVertices + 1> hull;
    std::ranges::copy(outline, points.begin());
    const std::size_t size =
        detail::convex_hull(std::span(points).first(outline.size()), hull.data());
    for (std::size_t i = 0; i < size; ++i) {
      x[i] = hull[i].x;
      y[i] = hull[i].y;
    }
    piece = Convex::view(x.data(), y.data(), size, radius);
  }
  Held held = Held::nothing;
  bool is_cut = false;
  const auto visit = [&](const Region::Segment& border) noexcept {
    is_cut = is_cut || cut(border);
    return is_cut;
  };
  for (const Member& each : members_) {
    if (is_cut && each.region->crosses(piece, visit)) continue;
    if (!each.region->contains(middle)) continue;
    held = Held::middle;
    if (is_cut || !each.region->crosses(piece, visit)) return Held::all;
  }
  return held;
}

inline Vec2 Coverage::Polygon::middle() const noexcept {
  Vec2 sum;
  for (const Vec2 p : all()) sum = sum + p;
  return (1.0 / static_cast<double>(size)) * sum;
}

inline bool Coverage::Polygon::cut(Vec2 base, Vec2 normal, double least,
                                   std::pair<Polygon, Polygon>& parts) const noexcept {
  std::array<double, kMostCorners> height;
  for (std::size_t i = 0; i < size; ++i) {
    const double off = dot(corners[i] - base, normal);
    height[i] = std::fabs(off) < 0.1 * kApart ? 0.0 : off;  // no two corners in one place
  }
  const auto [low, high] = std::minmax_element(height.begin(), height.begin() + size);
  if (!(*low < -least) || !(*high > least)) return false;
  parts = {};
  for (std::size_t i = 0; i < size; ++i) {
    const std::size_t next = i + 1 < size ? i + 1 : 0;
    const double from = height[i];
    const double to = next == 0 && size == 2 ? from : height[next];  // one edge, not two
    if (from <= 0.0) parts.first.add(corners[i]);
    if (from >= 0.0) parts.second.add(corners[i]);
    if ((from < 0.0 && to > 0.0) || (from > 0.0 && to < 0.0)) {
      const Vec2 on = corners[i] + (from / (from - to)) * (corners[next] - corners[i]);
      parts.first.add(on);
      parts.second.add(on);
    }
    if (parts.first.is_full() || parts.second.is_full()) {
      parts = {};
      return false;
    }
  }
  return true;
}

inline bool Coverage::Polygon::halve(std::pair<Polygon, Polygon>& parts) const noexcept {
  std::size_t longest = 0;
  const auto edge = [this](std::size_t i) noexcept {
    return corners[i + 1 < size ? i + 1 : 0] - corners[i];
  };
  for (std::size_t i = 1; i < size; ++i) {
    if (norm1(edge(i)) > norm1(edge(longest))) longest = i;
  }
  Vec2 base = corners[longest] + 0.5 * edge(longest);
  Vec2 normal = edge(longest);
  if (size + 2 > kMostCorners) {
    base = corners[longest];
    normal = perpendicular(corners[(longest + size / 2) % size] - base);
  }
  return norm1(edge(longest)) > kFinest && cut(base, (1.0 / norm(normal)) * normal, 0.0, parts);
}

inline std::optional<Vec2> Coverage::unseen(Hull& hull, int& left) const noexcept {
  // A regular polygon around the unit circle.
  constexpr double kOut = 1.0195911582083186;  // 1 / cos(pi / 16), rounded up
  constexpr double kCos[] = {1.0, 0.9238795325112867, 0.7071067811865476, 0.3826834323650898, 0.0};
  std::array<Vec2, 4 * kMostVertices + 1> outline;
  std::size_t size = detail::convex_hull(std::span(hull.points, hull.size), outline.data());
  if (size == 0) return Vec2{};
  const auto any = [](const Region::Segment&) noexcept { return true; };
  if (held(std::span(outline).first(size), hull.radius, outline[0], any) == Held::all) return {};
  for (std::size_t i = 0; i < size; ++i) {
    if (!holds_point(outline[i])) return outline[i];
  }
  double extent = 0.0;
  for (std::size_t i = 0; i < size; ++i) extent = std::fmax(extent, norm1(outline[i]));
  const double slack = 0x1p-42 * (extent + hull.radius);  // of the corners of all cuts
  double radius = hull.radius + slack;
  std::array<Vec2, 32 * kMostVertices> sums;
  std::array<Vec2, 64 * kMostVertices + 1> rounded;
  std::span<const Vec2> corners = std::span(outline).first(size);
  if (hull.radius > kThin) {
    std::size_t count = 0;
    for (const Vec2 p : corners) {
      for (int k = 0; k < 16; ++k) {
        const int quarter = k % 4;
        Vec2 way{kCos[quarter], kCos[4 - quarter]};
        for (int turn = 0; turn < k / 4; ++turn) way = perpendicular(way);
        if (count < sums.size()) sums[count++] = p + (hull.radius * kOut) * way;
      }
    }
    size = detail::convex_hull(std::span(sums).first(count), rounded.data());
    corners = std::span(rounded).first(size);
    radius = slack;
    for (const Vec2 p : corners) {
      if (!holds_point(p)) return p;
    }
  }
  constexpr std::size_t kMost = kMostCorners - 4;  // of them are cut off
  for (std::size_t first = 1; first == 1 || first + 1 < size; first += kMost - 2) {
    Polygon piece;
    piece.add(corners[0]);
    for (std::size_t i = first; i < std::min(size, first + kMost - 1); ++i) piece.add(corners[i]);
    if (const auto point = unseen(piece, radius, left)) return point;
  }
  return {};
}

// The corners of the shape are seen.
inline std::optional<Vec2> Coverage::unseen(const Polygon& piece, double radius, int& left,
                                            int depth) const noexcept {
  const Vec2 middle = piece.middle();
  left -= static_cast<int>(members_.size());
  if (left < 0 || depth > kDeepest) return middle;
  std::pair<Polygon, Polygon> parts;
  const auto cut = [&](const Region::Segment& border) noexcept {
    if (border.from == border.to) return false;
    const Vec2 along = border.to - border.from;
    Vec2 inwards = (1.0 / norm(along)) * perpendicular(along);
    if (dot(middle - border.from, inwards) < 0.0) inwards = -inwards;
    const double off = border.radius + radius + kApart;
    return piece.cut(border.from + off * inwards, inwards, kApart, parts);
  };
  const Held what = held(piece.all(), radius, middle, cut);
  if (what == Held::all) return {};
  if (what == Held::nothing) return middle;
  if (parts.first.size == 0 && !piece.halve(parts)) return middle;
  if (const auto point = unseen(parts.second, radius, left, depth + 1)) return point;
  return unseen(parts.first, radius, left, depth + 1);
}

GJK_KERNEL std::optional<Vec2> Coverage::unseen(const Shape& shape, const Placement& at,
                                                double margin) const noexcept {
  int left = kMostTests;
  for (int i = 0; i < shape.parts(); ++i) {
    Hull hull;
    hull.include(shape.part(i), at);
    hull.radius = sum_outwards(hull.radius, margin);
    if (const auto point = unseen(hull, left)) return point;
  }
  return {};
}

// A vertex is off its chord by at most the square of the time times an eighth of its acceleration:
// that of the turn, and on an arc that of the origin (Taylor).
inline std::optional<Vec2> Coverage::unseen(const Shape& shape, const Piece& way, double begin,
                                            double end, double margin, int& left) const noexcept {
  const double turn = std::fabs(way.spin()) * (end - begin);
  const double along = way.is_arc ? norm(way.velocity()) * (end - begin) : 0.0;
  for (int i = 0; i < shape.parts(); ++i) {
    const Convex part = shape.part(i);
    const double reach = gjk::reach(part);
    const double off = 0.125 * turn * (turn * reach + along) * (1.0 + 0x1p-40);
    Hull hull;
    hull.include(part, way.at(begin, reach));
    hull.include(part, way.at(end, reach));
    hull.radius = sum_outwards(sum_outwards(hull.radius, margin), off);
    if (const auto point = unseen(hull, left)) return point;
  }
  return {};
}

GJK_KERNEL std::optional<Coverage::Leaving> Coverage::leaving(const Shape& shape, const Piece& way,
                                                              double margin,
                                                              double tolerance) const noexcept {
  double reach = 0.0;
  for (int i = 0; i < shape.parts(); ++i) reach = std::fmax(reach, gjk::reach(shape.part(i)));
  const double speed = way.speed(reach);
  int left = 5 * kMostTests;
  double begin = way.begin;
  double step = way.end - way.begin;
  if (const auto point = unseen(shape, way, begin, begin, margin, left)) {
    return Leaving{begin, *point};
  }
  // Each step that is seen doubles the next one, each that is not is halved.
  while (true) {
    const double end = std::fmin(way.end, begin + step);
    const auto point = unseen(shape, way, begin, end, margin, left);
    if (!point) {
      if (end >= way.end) return {};
      begin = end;
      step *= 2.0;
      continue;
    }
    if (left < 0 || !(step * speed > tolerance) || !(begin + 0.5 * step > begin)) {
      return Leaving{begin, *point};
    }
    step = 0.5 * (end - begin);
  }
}

GJK_KERNEL double Coverage::depth(const Shape& shape, const Pose& pose, double margin,
                                  double enough) const noexcept {
  const Transform at = Transform::from_pose(pose);
  double most = 0.0;
  const auto look_at = [&](Vec2 p, double beyond) noexcept {
    double least = members_.empty() ? 0.0 : kInfinity;
    for (const Member& each : members_) {
      if (!(least + beyond > most)) return;
      const bool is_in = each.region->contains(p);
      least = is_in ? 0.0 : std::fmin(least, each.region->least_distance(p));
    }
    if (least > 0.0) most = std::fmax(most, least + beyond);
  };
  for (int i = 0; i < shape.parts(); ++i) {
    const Convex part = shape.part(i);
    const double error = part.error + at.t_error + 2.0 * at.error(part.extent);
    for (int k = 0; k < part.size && most < enough; ++k) {
      look_at(at.apply(part.vertex(k)), margin - error);
    }
  }
  if (most > 0.0) return most;
  const auto point = unseen(shape, {pose, 0.0}, margin);
  if (!point) return 0.0;
  // The shape must move as far as this point is in its margin. If the point is there, it must come
  // into what was seen.
  const Vec2 off = *point - Vec2{pose.x, pose.y};
  const Vec2 turn{std::cos(pose.yaw), std::sin(pose.yaw)};
  const double x = dot(turn, off);
  const double y = dot(perpendicular(turn), off);
  const Convex local = Convex::view(&x, &y, 1);
  double apart = kInfinity;
  for (int i = 0; i < shape.parts(); ++i) {
    const Closest found = closest(shape.part(i), local);
    if (found.status != Status::success) return 0.0;
    apart = std::fmin(apart, std::fmax(0.0, found.distance));
  }
  look_at(*point, std::fmin(0.0, margin - apart) - kApart);
  return std::fmax(most, margin - apart - kApart);
}

GJK_KERNEL std::pair<const Coverage::Member*, double> Coverage::nearest(Vec2 p) const noexcept {
  std::pair<const Member*, double> best{nullptr, kInfinity};
  for (const Member& each : members_) {
    const double distance = each.region->contains(p) ? 0.0 : each.region->least_distance(p);
    if (distance < best.second) best = {&each, distance};
  }
  return best;
}

}  // namespace gjk
#endif
