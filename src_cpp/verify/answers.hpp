// SPDX-FileCopyrightText: gjk_collision contributors
// SPDX-License-Identifier: Apache-2.0
// What the kernel says about a pair: all of it, so that two ways to the same answer can be
// compared.
#pragma once

#include <cstring>

#include "gjk/gjk.hpp"
#include "pair.hpp"

namespace gjk::verify {

// To the last bit.
inline bool same(double a, double b) { return std::memcmp(&a, &b, sizeof a) == 0; }
inline bool same(const Bounds& a, const Bounds& b) {
  return same(a.lower, b.lower) && same(a.upper, b.upper);
}

// The answers for points in one order.
struct OfHulls {
  Verdict collide = Verdict::unknown;
  Bounds distance;
  Bounds closest;

  bool same_as(const OfHulls& other) const {
    return collide == other.collide && same(distance, other.distance) &&
           same(closest, other.closest);
  }
};

// The same points, one of them twice, in an order that is no outline.
inline Polygon disordered(const Polygon& polygon) {
  Polygon result;
  for (const int first : {1, 0}) {
    for (int i = first; i < polygon.size(); i += 2) result.add(polygon.vertex(i));
  }
  if (polygon.size() > 0) result.add(polygon.vertex(0));
  return result;
}

struct Answers {
  Verdict loop = Verdict::unknown;  // GJK alone, from the paper's start; UNKNOWN: it is not certain
  bool is_exact = false;            // collide() went on to exact arithmetic, where that is counted
  Verdict collide = Verdict::unknown;
  Verdict swapped = Verdict::unknown;
  Verdict classify = Verdict::unknown;
  Bounds distance;
  Verdict in_batch = Verdict::unknown;  // collide_pairs()
  Verdict at_poses = Verdict::unknown;  // collide() of shapes at poses; as `collide` without
  OfHulls of_points;                    // of hulls, without poses
  OfHulls of_disordered;
  Closest closest;
  Penetration penetration;  // of the polygons, where closest() says that they overlap
  double error = 0.0;       // m: of the placement of both shapes
  double extent = 0.0;      // m: of both shapes, placed

  // The answers, to the last bit. The number of iterations and the loop's own verdict may differ.
  bool same_as(const Answers& other) const {
    const auto same_point = [&](Vec2 a, Vec2 b) { return same(a.x, b.x) && same(a.y, b.y); };
    const auto same_feature = [](Feature a, Feature b) {
      return a.first == b.first && a.second == b.second;
    };
    const Closest& c = closest;
    const Closest& d = other.closest;
    return collide == other.collide && swapped == other.swapped && classify == other.classify &&
           in_batch == other.in_batch && at_poses == other.at_poses &&
           of_points.same_as(other.of_points) && of_disordered.same_as(other.of_disordered) &&
           same(distance, other.distance) && c.status == d.status && same(c.distance, d.distance) &&
           same(c.lower_bound, d.lower_bound) && same_point(c.point_a, d.point_a) &&
           same_point(c.point_b, d.point_b) && same_point(c.direction, d.direction) &&
           same_feature(c.feature_a, d.feature_a) && same_feature(c.feature_b, d.feature_b);
  }
};

namespace detail {

inline Answers answer(const Convex& p, const Convex& q, double margin) {
  Answers answers;
  if (in_domain(p, q)) answers.loop = gjk::detail::collide_by_gjk(p, q, margin);
  const std::int64_t before = exact_steps;
  answers.collide = collide(p, q, margin);
  answers.is_exact = exact_steps != before;
  answers.at_poses = answers.collide;
  answers.swapped = collide(q, p, margin);
  answers.classify = classify(p, q, margin);
  answers.distance = distance(p, q);
  const ConvexPair pair{&p, &q};
  collide_pairs({&pair, 1}, margin, {&answers.in_batch, 1});
  answers.closest = closest(p, q);
  if (answers.closest.distance + p.radius + q.radius < 0.0) {
    answers.penetration = penetration(p, q);
  }
  answers.error = p.error + q.error;
  answers.extent = p.extent + q.extent;
  return answers;
}

}  // namespace detail

namespace detail {

inline OfHulls answer(const Hull& p, const Hull& q, double margin) {
  const Closest near = closest(p, q);
  return {collide(p, q, margin), distance(p, q), {near.lower_bound, near.distance}};
}

}  // namespace detail

inline Answers answer(const Pair& pair) {
  const Convex p = pair.p.view(pair.p_radius);
  const Convex q = pair.q.view(pair.q_radius);
  if (!pair.has_poses) {
    Answers answers = detail::answer(p, q, pair.margin);
    answers.of_points =
        detail::answer(pair.p.hull(pair.p_radius), pair.q.hull(pair.q_radius), pair.margin);
    const Polygon other_p = disordered(pair.p);
    const Polygon other_q = disordered(pair.q);
    answers.of_disordered =
        detail::answer(other_p.hull(pair.p_radius), other_q.hull(pair.q_radius), pair.margin);
    return answers;
  }
  Rooms rooms{Room(p.size), Room(q.size)};
  const Transform at_p = Transform::from_pose(pair.p_pose);
  const Transform at_q = Transform::from_pose(pair.q_pose);
  Answers answers = detail::answer(rooms.p.place(p, at_p), rooms.q.place(q, at_q), pair.margin);
  answers.at_poses = collide(p, at_p, q, at_q, rooms, pair.margin);
  return answers;
}

}  // namespace gjk::verify
