// SPDX-FileCopyrightText: gjk_collision contributors
// SPDX-License-Identifier: Apache-2.0
// Queries about two shapes of any number of parts, each at a pose. query.hpp has those about two
// parts.
#pragma once

#include "gjk/query.hpp"
#include "gjk/shape/pose.hpp"
#include "gjk/shape/shape.hpp"
#include "gjk/verdict.hpp"

namespace gjk {

// FREE or COLLISION of two shapes: whether any part of a and any part of b are at most `margin` (m,
// >= 0) apart. UNKNOWN if a pose is outside the domain or moves its shape out of it, which
// explain_pair() explains. Allocates only for parts with more than Room::kMost vertices.
Verdict collide(const Shape& a, const Shape& b, const Pose& pose_a = {}, const Pose& pose_b = {},
                double margin = 0.0);

struct ClosestShapes {
  Closest closest;  // its features are of the parts below
  int part_a = 0;
  int part_b = 0;
};

// The nearest pair of parts. If shapes with several parts overlap, this is the deepest pair. Its
// depth is a lower bound on the length of the translation that separates the whole shapes. The
// lower bound is that of all pairs. NUMERIC_FAILURE where collide() is UNKNOWN.
ClosestShapes closest(const Shape& a, const Shape& b, const Pose& pose_a = {},
                      const Pose& pose_b = {});

// The signed distance (m) of closest(): negative if the shapes overlap, NaN if it is unknown.
double distance(const Shape& a, const Shape& b, const Pose& pose_a = {}, const Pose& pose_b = {});

// Why the queries above cannot answer. The status is success if they can.
Issue explain_pair(const Shape& a, const Shape& b, const Pose& pose_a = {},
                   const Pose& pose_b = {});

}  // namespace gjk

#ifdef GJK_KERNEL
#include <algorithm>
#include <cmath>

#include "gjk/certificate.hpp"
#include "gjk/narrow/separation.hpp"
#include "gjk/shape/domain.hpp"

namespace gjk {

namespace detail {

inline int most_vertices(const Shape& shape) noexcept {
  int most = 0;
  for (int i = 0; i < shape.parts(); ++i) most = std::max(most, shape.part(i).size);
  return most;
}

inline bool is_in_domain_at(const Shape& shape, const Transform& at) {
  Room room(most_vertices(shape));
  for (int i = 0; i < shape.parts(); ++i) {
    const Convex& placed = room.place(shape.part(i), at);
    if (!in_domain(placed, placed)) return false;
  }
  return shape.parts() > 0;
}

}  // namespace detail

GJK_KERNEL Verdict collide(const Shape& a, const Shape& b, const Pose& pose_a, const Pose& pose_b,
                           double margin) {
  const Transform at_a = Transform::from_pose(pose_a);
  const Transform at_b = Transform::from_pose(pose_b);
  Rooms rooms{Room(detail::most_vertices(a)), Room(detail::most_vertices(b))};
  Decision decision(margin);
  if (a.parts() == 0 || b.parts() == 0) decision.fail(Status::invalid_input);
  for (int i = 0; i < a.parts(); ++i) {
    for (int j = 0; j < b.parts(); ++j) {
      const Verdict verdict = collide(a.part(i), at_a, b.part(j), at_b, rooms, margin);
      if (verdict == Verdict::collision) return verdict;
      decision.take(verdict);
    }
  }
  return decision.verdict();
}

GJK_KERNEL ClosestShapes closest(const Shape& a, const Shape& b, const Pose& pose_a,
                                 const Pose& pose_b) {
  const Transform at_a = Transform::from_pose(pose_a);
  const Transform at_b = Transform::from_pose(pose_b);
  Rooms rooms{Room(detail::most_vertices(a)), Room(detail::most_vertices(b))};
  ClosestShapes best{detail::unknown_closest(), -1, -1};
  for (int i = 0; i < a.parts(); ++i) {
    const Convex& p = rooms.p.place(a.part(i), at_a);
    for (int j = 0; j < b.parts(); ++j) {
      const Closest pair = closest(p, rooms.q.place(b.part(j), at_b));
      if (pair.status != Status::success) return {pair, i, j};
      const bool first = best.part_a < 0;
      const double lower =
          first ? pair.lower_bound : std::fmin(best.closest.lower_bound, pair.lower_bound);
      if (first || pair.distance < best.closest.distance) best = {pair, i, j};
      best.closest.lower_bound = lower;
    }
  }
  return best;
}

GJK_KERNEL double distance(const Shape& a, const Shape& b, const Pose& pose_a, const Pose& pose_b) {
  return closest(a, b, pose_a, pose_b).closest.distance;
}

GJK_KERNEL Issue explain_pair(const Shape& a, const Shape& b, const Pose& pose_a,
                              const Pose& pose_b) {
  if (Issue issue = detail::check_in_domain(pose_a, "pose_a", -1)) return issue;
  if (Issue issue = detail::check_in_domain(pose_b, "pose_b", -1)) return issue;
  for (const bool is_a : {true, false}) {
    const Shape& shape = is_a ? a : b;
    if (detail::is_in_domain_at(shape, Transform::from_pose(is_a ? pose_a : pose_b))) continue;
    if (shape.parts() == 0) {
      return refusal(is_a ? "a" : "b", "must have a part");
    }
    return refusal(is_a ? "pose_a" : "pose_b", Status::coord_range,
                   "must not move the shape out of the range of 1e15 m");
  }
  return {};
}

}  // namespace gjk
#endif
