// SPDX-FileCopyrightText: gjk_collision contributors
// SPDX-License-Identifier: Apache-2.0
// What happens at a contact: speeds, and the edge of the ego shape.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>

#include "gjk/arithmetic.hpp"
#include "gjk/motion/motion.hpp"
#include "gjk/query.hpp"
#include "gjk/scene/extent.hpp"
#include "gjk/scene/obstacles.hpp"
#include "gjk/scene/path.hpp"
#include "gjk/scene/scene.hpp"
#include "gjk/shape/convex.hpp"
#include "gjk/shape/placing.hpp"
#include "gjk/shape/pose.hpp"
#include "gjk/shape/shape.hpp"
#include "gjk/shape/vec2.hpp"
#include "gjk/verdict.hpp"

namespace gjk::detail {

// The points of a shape that are within `depth` (m) of its farthest point along the unit vector n:
// the extent of their coordinate along perpendicular(n).
inline Extent cap(const Convex& shape, Vec2 n, double depth) noexcept {
  const double level = dot(n, shape.vertex(shape.support(n))) - depth;
  const Vec2 along = perpendicular(n);
  Extent extent;
  for (int i = 0; i < shape.size; ++i) {
    const Vec2 p = shape.vertex(i);
    const Vec2 q = shape.vertex(after(i, shape.size));
    const double above_p = dot(n, p) - level;
    const double above_q = dot(n, q) - level;
    if (above_p >= 0.0) extent.include(dot(along, p));
    if ((above_p >= 0.0) != (above_q >= 0.0)) {
      extent.include(dot(along, p + (above_p / (above_p - above_q)) * (q - p)));
    }
  }
  const double round = std::fmin(shape.radius, std::sqrt(2.0 * shape.radius * depth));
  return {extent.low - round - depth, extent.high + round + depth};
}

// The edge of a shape, from vertex i to i + 1, whose outer normal is nearest to the direction n.
inline int edge_towards(const Convex& shape, Vec2 n) noexcept {
  int best = 0;
  double most = -kInfinity;
  for (int i = 0; i < shape.size; ++i) {
    const Vec2 way = unit(shape.vertex(after(i, shape.size)) - shape.vertex(i));
    const double facing = dot(n, -perpendicular(way));
    if (!(facing > most)) continue;
    most = facing;
    best = i;
  }
  return best;
}

// m/s. How fast a point of the body moves, relative to a body that stands.
inline Vec2 velocity_of(const Piece& piece, double t, Vec2 origin, Vec2 point) noexcept {
  return piece.velocity_at(t).velocity + piece.spin() * perpendicular(point - origin);
}

// What happens at a contact.
struct Impression {
  double relative_speed = kNaN;  // m/s, as in Criticality
  double closing_speed = kNaN;   // m/s, along the ego's velocity
  std::int64_t ego_edge = -1;
};

// All pairs of parts of the ego and of the obstacle count that are within the tolerance of contact:
// which pair was found first does not matter. The edge is that of the pair with the greatest speed.
inline Impression impression(const Scene& scene, const Shape& ego, Motion plan,
                             const FirstContact& contact, double tolerance) {
  constexpr double kJoint = 1e-6;  // s. So near a joint, contact may be before or after it
  const Obstacles& obstacles = scene.obstacles();
  const Impression unknown;
  const LocalTime now{contact.time, 2.0 * obstacles.time_error() + kJoint};
  std::size_t at = 0;
  const Piece* const way = piece_at(plan, now.time, at);
  if (way == nullptr) return unknown;
  if (contact.part < 0) {
    if (contact.obstacle != static_cast<std::int64_t>(scene.size())) return unknown;
    double far = 0.0;  // The ego is outside of the region: each of its points counts.
    for (int i = 0; i < ego.parts(); ++i)
      far = std::fmax(far, reach(ego.part(i)) + ego.part(i).radius);
    const double speed = way->speed(far) * (1.0 + 0x1p-40);
    return {speed, speed, -1};
  }
  const auto index = static_cast<std::size_t>(contact.obstacle);
  const Motion motion = obstacles.motion(index);
  if (motion.empty() || motion.front().begin == motion.back().end) return unknown;
  LocalTime local = obstacles.local_time(index, now.time);
  local.time = std::fmin(motion.back().end, std::fmax(motion.front().begin, local.time));
  local.error = now.error;
  std::size_t there = 0;
  const Piece* const other = piece_at(motion, local.time, there);
  if (other == nullptr) return unknown;

  Impression result{0.0, 0.0, -1};
  std::int64_t first_edge = 0;
  const Outlines& outlines = obstacles.outlines();
  for (int i = 0; i < ego.parts(); first_edge += ego.part(i++).size) {
    const Convex local_a = ego.part(i);
    const Placement at_a = way->at(now.time, reach(local_a));
    Room room_a(local_a.size);
    const Convex& a = room_a.place(local_a, Transform::from_pose(at_a.pose, {}, at_a.error));
    for (std::size_t k = outlines.begin(index); k < outlines.end(index); ++k) {
      const Convex local_b = outlines.part(k);
      const Placement at_b = other->at(local.time, outlines.reach(k));
      Room room_b(local_b.size);
      const Convex& b = room_b.place(local_b, Transform::from_pose(at_b.pose, {}, at_b.error));
      const Closest closest = gjk::closest(a, b);
      if (closest.status != Status::success) return unknown;
      const bool is_first = i == contact.ego_part && static_cast<std::int64_t>(k) == contact.part;
      const double rounding = 2.0 * (a.error + b.error);
      if (!is_first && closest.distance > tolerance + rounding) continue;

      // Points that touch are so near the farthest points of both.
      const Vec2 n = closest.direction;
      const double depth = tolerance + std::fabs(closest.distance) + rounding;
      const Extent of_a = cap(a, n, depth);
      const Extent of_b = cap(b, -n, depth);
      const double ends[] = {std::fmax(of_a.low, -of_b.high), std::fmin(of_a.high, -of_b.low)};
      const double height = dot(n, closest.point_a);
      const Vec2 origin_a{at_a.pose.x, at_a.pose.y};
      const Vec2 origin_b{at_b.pose.x, at_b.pose.y};
      double fastest = 0.0;
      visit_within_error(plan, at, now, [&](const Piece& own) {
        visit_within_error(motion, there, local, [&](const Piece& its) {
          const double within = 2.0 * depth * (std::fabs(own.spin()) + std::fabs(its.spin()));
          for (const double along : ends) {
            const Vec2 p = height * n + along * perpendicular(n);
            const Vec2 v = velocity_of(own, now.time, origin_a, p);
            const Vec2 relative = v - velocity_of(its, local.time, origin_b, p);
            fastest = std::fmax(fastest, (norm(relative) + within) * (1.0 + 0x1p-30));
            const Vec2 ahead = own.velocity();
            const double closing = dot(relative, ahead) / norm(ahead);
            result.closing_speed = std::fmax(result.closing_speed, closing);
          }
        });
      });
      if (result.ego_edge >= 0 && !(fastest > result.relative_speed)) continue;
      result.relative_speed = fastest;
      result.ego_edge = first_edge + edge_towards(a, n);
    }
  }
  return result;
}

}  // namespace gjk::detail
