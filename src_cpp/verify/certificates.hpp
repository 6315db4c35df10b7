// SPDX-FileCopyrightText: gjk_collision contributors
// SPDX-License-Identifier: Apache-2.0
// Certificates of FREE answers, and spoilt ones, to the checker in integers.
#pragma once

#include <cmath>
#include <string>

#include "cases.hpp"
#include "check.hpp"
#include "gjk/gjk.hpp"
#include "proofs/checker/fixed_point.hpp"
#include "scenes.hpp"

namespace gjk::verify {

namespace detail {

inline Shape shape_of(const Polygon& polygon, double radius) {
  std::vector<Vec2> vertices;
  for (int i = 0; i < polygon.size(); ++i) vertices.push_back(polygon.vertex(i));
  Shape shape;
  shape.add_part(vertices, radius);
  return shape;
}

// Whether the checker takes the direction as a proof that the pair is farther apart than the
// margin.
inline bool is_accepted(const Pair& pair, Vec2 direction) {
  const Shape q = shape_of(pair.q, pair.q_radius);
  const double p_pose[] = {pair.p_pose.x, pair.p_pose.y, pair.p_pose.yaw};
  const double q_pose[] = {pair.q_pose.x, pair.q_pose.y, pair.q_pose.yaw};
  const double towards[] = {direction.x, direction.y};
  return checker::proves_free(shape_of(pair.p, pair.p_radius), p_pose, {&q}, q_pose, &pair.margin,
                              towards, 1);
}

// The largest number (m) that is converted to fixed point.
inline double largest(const Pair& pair) {
  const Vec2 apart{pair.q_pose.x - pair.p_pose.x, pair.q_pose.y - pair.p_pose.y};
  return std::fmax(std::fmax(extent(pair.p), extent(pair.q)),
                   std::fmax(norm(apart), pair.p_radius + pair.q_radius + pair.margin));
}

}  // namespace detail

inline constexpr const char* kAcceptedInContact = "the checker accepts a contact";
inline constexpr const char* kRefusedInContact = "falsely FREE, refused by the checker";

// The certificate of a pair that the kernel calls FREE; then three times a spoilt one. What the
// checker accepts must be true. Counts in `report`: certificates (asked), those that the checker
// refuses (hits), spoilt ones that it accepts (unknown).
inline void check_certificate(Pair pair, Random& random, Report& report) {
  if (!pair.has_poses) pair.p_pose = pair.q_pose = {};
  const Shape a = detail::shape_of(pair.p, pair.p_radius);
  const Shape b = detail::shape_of(pair.q, pair.q_radius);
  const bool is_free =
      (pair.has_poses ? collide(a, b, pair.p_pose, pair.q_pose, pair.margin)
                      : collide(a.part(0), b.part(0), pair.margin)) == Verdict::free;
  if (!is_free) return;
  const Vec2 direction = pair.has_poses ? closest(a, b, pair.p_pose, pair.q_pose).closest.direction
                                        : closest(a.part(0), b.part(0)).direction;
  const auto is_true = [&](const Truth& truth) {
    return !truth.within({pair.p_radius, pair.q_radius, pair.margin});
  };
  const auto ask = [&](const Truth& truth, Vec2 towards) {
    const bool accepted = detail::is_accepted(pair, towards);
    if (accepted && !is_true(truth)) report.fail(kAcceptedInContact, literal(pair));
    return accepted;
  };
  const Truth truth = truth_of(pair);
  ++report.asked;
  if (!ask(truth, direction)) {
    ++report.hits;
    const double resolution = std::fmax(3e-12 * detail::largest(pair), 0x1p-53);  // as documented
    if (!truth.within({pair.p_radius, pair.q_radius, pair.margin, resolution})) {
      report.fail("the checker refuses a gap above its resolution", literal(pair));
    }
    if (is_true(truth)) return;
    report.fail(kRefusedInContact, literal(pair));
    for (int i = 0; i < 8; ++i) ask(truth, random.direction());
    return;
  }
  const double gap = static_cast<double>(truth.low()) - pair.p_radius - pair.q_radius;
  const double margin = pair.margin;
  const double step = std::ldexp(random.uniform(-1.0, 1.0), -random.between(0, 52));
  // Another direction: it proves a smaller gap, or none.
  const double angle = 3.2 * step;
  const Vec2 turned{std::cos(angle) * direction.x - std::sin(angle) * direction.y,
                    std::sin(angle) * direction.x + std::cos(angle) * direction.y};
  report.unknown += ask(truth, turned);
  // A larger or smaller gap than there is.
  pair.margin = std::fmax(0.0, gap * (1.0 + step));
  report.unknown += ask(truth, direction);
  // A pose in contact, or nearly.
  pair.margin = margin;
  const Vec2 shift = (gap - margin) * (1.0 + step) * direction;
  pair.has_poses = true;
  pair.p_pose.x += shift.x;
  pair.p_pose.y += shift.y;
  report.unknown += ask(truth_of(pair), direction);
}

}  // namespace gjk::verify
