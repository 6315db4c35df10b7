// SPDX-FileCopyrightText: gjk_collision contributors
// SPDX-License-Identifier: Apache-2.0
// What sensors have seen: the union of regions. Space outside of it is not known to be free.
//
// A convex set is in the union if one region holds it, or if it can be divided into pieces that are
// each in a region. The union itself is never computed, so any number of scans costs nothing until
// a shape is at a border of what one of them has seen. A shape that is in the union may be called
// unseen where two regions overlap by less than kFinest; the opposite never happens.
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

  // m. Every shift that brings the shape into what was seen is at least so long.
  double depth(const Shape& shape, const Pose& pose) const noexcept;

  // The member that is nearest to a point, and its distance (m); null: there is none.
  std::pair<const Member*, double> nearest(Vec2 p) const noexcept;

 private:
  static constexpr double kFinest = 0.004;  // m. Smaller pieces are not divided
  static constexpr double kThin = 0.0005;   // m. A smaller radius is kept for each piece
  static constexpr int kMostPieces = 4000;  // per question
  static constexpr std::size_t kMostVertices =
      32;  // of a part; one with more is replaced by its box

  struct Triangle {
    Vec2 a;
    Vec2 b;
    Vec2 c;
  };
  // The hull of some points, grown by a radius.
  struct Hull {
    Vec2 points[2 * kMostVertices];
    std::size_t size = 0;
    double radius = 0.0;  // m

    void include(const Convex& part, const Placement& at) noexcept;
  };

  bool holds_point(Vec2 p) const noexcept;
  bool holds_piece(std::span<const Vec2> outline, double radius) const noexcept;
  std::optional<Vec2> unseen(Hull& hull, int& left) const noexcept;
  std::optional<Vec2> unseen(const Triangle& piece, double radius, int& left) const noexcept;
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

inline bool Coverage::holds_piece(std::span<const Vec2> outline, double radius) const noexcept {
  std::array<double, 4 * kMostVertices> x;
  std::array<double, 4 * kMostVertices> y;
  for (std::size_t i = 0; i < outline.size(); ++i) {
    x[i] = outline[i].x;
    y[i] = outline[i].y;
  }
  const Convex piece = Convex::view(x.data(), y.data(), outline.size(), radius);
  return std::ranges::any_of(
      members_, [&](const Member& each) noexcept { return each.region->covers(piece); });
}

inline std::optional<Vec2> Coverage::unseen(Hull& hull, int& left) const noexcept {
  // A regular polygon around the unit circle.
  constexpr double kOut = 1.0195911582083186;  // 1 / cos(pi / 16), rounded up
  constexpr double kCos[] = {1.0, 0.9238795325112867, 0.7071067811865476, 0.3826834323650898, 0.0};
  std::array<Vec2, 4 * kMostVertices + 1> outline;
  std::size_t size = detail::convex_hull(std::span(hull.points, hull.size), outline.data());
  if (size == 0) return Vec2{};
  if (holds_piece(std::span(outline).first(size), hull.radius)) return {};
  for (std::size_t i = 0; i < size; ++i) {
    if (!holds_point(outline[i])) return outline[i];
  }
  double extent = 0.0;
  for (std::size_t i = 0; i < size; ++i) extent = std::fmax(extent, norm1(outline[i]));
  const double slack = 0x1p-45 * (extent + hull.radius);  // of the middles of all divisions
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
  for (std::size_t i = 1; i == 1 || i + 1 < size; ++i) {
    const Triangle piece{corners[0], corners[std::min(i, size - 1)],
                         corners[std::min(i + 1, size - 1)]};
    if (const auto point = unseen(piece, radius, left)) return point;
  }
  return {};
}

// The corners are seen.
inline std::optional<Vec2> Coverage::unseen(const Triangle& piece, double radius,
                                            int& left) const noexcept {
  const std::array outline{piece.a, piece.b, piece.c};
  const Vec2 center = (1.0 / 3.0) * (piece.a + piece.b + piece.c);
  if (--left < 0) return center;
  if (holds_piece(outline, radius)) return {};
  Triangle turned = piece;  // its longest edge is from a to b
  const auto length = [](Vec2 p, Vec2 q) noexcept { return norm(q - p); };
  const double ab = length(piece.a, piece.b);
  const double bc = length(piece.b, piece.c);
  const double ca = length(piece.c, piece.a);
  if (bc >= ab && bc >= ca) turned = {piece.b, piece.c, piece.a};
  if (ca > ab && ca > bc) turned = {piece.c, piece.a, piece.b};
  if (!(std::fmax(ab, std::fmax(bc, ca)) > kFinest)) return center;
  const Vec2 middle = 0.5 * turned.a + 0.5 * turned.b;
  if (!holds_point(middle)) return middle;
  if (const auto point = unseen({turned.a, middle, turned.c}, radius, left)) return point;
  return unseen({middle, turned.b, turned.c}, radius, left);
}

GJK_KERNEL std::optional<Vec2> Coverage::unseen(const Shape& shape, const Placement& at,
                                                double margin) const noexcept {
  int left = kMostPieces;
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
  int left = kMostPieces;
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

GJK_KERNEL double Coverage::depth(const Shape& shape, const Pose& pose) const noexcept {
  const Transform at = Transform::from_pose(pose);
  double most = 0.0;
  for (int i = 0; i < shape.parts(); ++i) {
    const Convex part = shape.part(i);
    const double error = part.error + at.t_error + 2.0 * at.error(part.extent);
    for (int k = 0; k < part.size; ++k) {
      const Vec2 p = at.apply(part.vertex(k));
      double least = kInfinity;
      for (const Member& each : members_) {
        if (!(least > most)) break;
        const bool is_in = each.region->contains(p);
        least = is_in ? 0.0 : std::fmin(least, each.region->least_distance(p) - error);
      }
      if (least > most && least < kInfinity) most = least;
    }
  }
  return most;
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
