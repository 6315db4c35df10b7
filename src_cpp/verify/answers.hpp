// SPDX-FileCopyrightText: gjk_collision contributors
// SPDX-License-Identifier: Apache-2.0
// What the kernel says about a pair: all of it, so that two ways to the same answer can be
// compared.
#pragma once

#include <concepts>
#include <cstring>

#include "gjk/gjk.hpp"
#include "pair.hpp"

namespace gjk::verify {

// To the last bit.
inline bool same(double a, double b) { return std::memcmp(&a, &b, sizeof a) == 0; }
inline bool same(const Bounds& a, const Bounds& b) {
  return same(a.lower, b.lower) && same(a.upper, b.upper);
}

struct Answers {
  Verdict loop = Verdict::unknown;  // GJK alone, from the paper's start; UNKNOWN: it is not certain
  bool is_exact = false;            // collide() went on to exact arithmetic, where that is counted
  Verdict collide = Verdict::unknown;
  Verdict swapped = Verdict::unknown;
  Verdict classify = Verdict::unknown;
  Bounds distance;
  Verdict in_batch = Verdict::unknown;  // collide_pairs(), which takes no poses
  Bounds distance_in_batch;
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
           in_batch == other.in_batch && same(distance, other.distance) &&
           same(distance_in_batch, other.distance_in_batch) && c.status == d.status &&
           same(c.distance, d.distance) && same(c.lower_bound, d.lower_bound) &&
           same_point(c.point_a, d.point_a) && same_point(c.point_b, d.point_b) &&
           same_point(c.direction, d.direction) && same_feature(c.feature_a, d.feature_a) &&
           same_feature(c.feature_b, d.feature_b);
  }
};

namespace detail {

template <class P, class Q>
Answers answer(const P& p, const Q& q, double margin) {
  Answers answers;
  if (in_domain(p, q)) answers.loop = collide_by_gjk(p, q, margin);
  const std::int64_t before = exact_steps;
  answers.collide = collide(p, q, margin);
  answers.is_exact = exact_steps != before;
  answers.swapped = collide(q, p, margin);
  answers.classify = classify(p, q, margin);
  answers.distance = distance(p, q);
  if constexpr (std::same_as<P, Convex> && std::same_as<Q, Convex>) {
    const ConvexPair pair{&p, &q};
    collide_pairs({&pair, 1}, margin, {&answers.in_batch, 1});
    distance_pairs({&pair, 1}, {&answers.distance_in_batch, 1});
  } else {
    answers.in_batch = answers.collide;
    answers.distance_in_batch = answers.distance;
  }
  answers.closest = closest(p, q);
  if (answers.closest.distance + p.radius + q.radius < 0.0) {
    answers.penetration = penetration(p, q);
  }
  answers.error = p.error + q.error;
  answers.extent = p.extent + q.extent;
  return answers;
}

}  // namespace detail

inline Answers answer(const Pair& pair) {
  const Convex p = pair.p.view(pair.p_radius);
  const Convex q = pair.q.view(pair.q_radius);
  if (!pair.has_poses) return detail::answer(p, q, pair.margin);
  return detail::answer(PosedConvex::place(p, Transform::from_pose(pair.p_pose)),
                        PosedConvex::place(q, Transform::from_pose(pair.q_pose)), pair.margin);
}

}  // namespace gjk::verify
