// SPDX-FileCopyrightText: gjk_collision contributors
// SPDX-License-Identifier: Apache-2.0
// Uses of all functions that ./dev mutate cpp mutates. A mutant for which the compiler makes the
// same optimised code of this file is equivalent to the original.
#include <tuple>

#include "gjk/certificate.hpp"
#include "gjk/motion/cast.hpp"
#include "gjk/motion/motion.hpp"
#include "gjk/motion/prediction.hpp"
#include "gjk/motion/underway.hpp"
#include "gjk/shape/placing.hpp"

namespace gjk::instances {

using View = ViewOf<simd::baseline::Set>::Type;
using detail::Underway;

// ---- templates, and functions with an overload

Verdict collide(const Convex& p, const Convex& q, double margin, exact::Contact near) {
  return exact::collide(p, q, margin, near);
}
Certificate along(const Convex& p, const Convex& q, Vec2 n, Vec2 from) {
  return Certificate::along(p, q, n, from);
}
Certificate unsure_edges(const View& p, const View& q, const EdgeTests& tests) {
  return Certificate::unsure_edges(p, q, tests);
}
Certificate moving(const Underway& a, const Underway& b, Vec2 n, double s, bool any_turn) {
  return Certificate::moving(a, b, n, s, any_turn);
}
Transform from_pose(const Pose& pose, Vec2 origin, double error) {
  return Transform::from_pose(pose, origin, error);  // by the overload with sine and cosine
}
double reach_of(const Convex& p, const Convex& q, double reach) { return grown_reach(p, q, reach); }
double cross(const View& p, Vec2 a, Vec2 b, Vec2 c, Vec2 d) {
  return exact::certain_cross(a, b, c, d, exact::product_of(p));
}
int sign(const Expansion<4>& a, const Expansion<2>& b, double c) {
  return (a * b + scale(a, c) - b).sign();
}
long reflex(const Vec2* vertices, long n) {
  return exact::first_reflex_vertex(n, [vertices](long i) { return vertices[i]; });
}

// ---- functions, by their address

using OfLine = Certificate (*)(Vec2, double, double, double, double);
using OfExtremes = Certificate (*)(const detail::Quadrilateral&, double, double);
using OfBoxes = Certificate (*)(const Box&, const Box&, double);
using OfVerdict = Certificate (*)(Verdict, double);
using OfClosest = Certificate (*)(const Closest&);
using OfBounds = Certificate (*)(const Bounds&);
using TakePair = bool (Decision::*)(Verdict, const Certificate&);
using Take = void (Decision::*)(const Certificate&);

[[gnu::used]] const std::tuple kCertificates{&is_free,
                                             &Certificate::lower,
                                             &Certificate::proves,
                                             &Certificate::beyond,
                                             static_cast<OfLine>(&Certificate::beyond_line),
                                             static_cast<OfExtremes>(&Certificate::boxes),
                                             static_cast<OfBoxes>(&Certificate::boxes),
                                             &Certificate::edges,
                                             static_cast<OfVerdict>(&Certificate::of),
                                             static_cast<OfClosest>(&Certificate::of),
                                             static_cast<OfBounds>(&Certificate::of),
                                             &Certificate::during,
                                             &Certificate::exhausted,
                                             &Proven::take,
                                             &Proven::of_all,
                                             static_cast<TakePair>(&Decision::take),
                                             static_cast<Take>(&Decision::take),
                                             &Decision::fail,
                                             &Decision::verdict,
                                             &Decision::status,
                                             &Decision::lower};
Certificate of_either(const Certificate& a, const Certificate& b) { return stronger(a, b); }

[[gnu::used]] const std::tuple kArithmetic{&exact::distance_bounds,
                                           &exact::tight_distance_bounds,
                                           &exact::edge_to_vertex,
                                           &exact::exact_cross,
                                           &exact::exact_dot,
                                           &exact::expanded_cross,
                                           &exact::orientation,
                                           &two_sum,
                                           &two_difference,
                                           &two_product,
                                           &rounded_down,
                                           &rounded_up,
                                           &exactly,
                                           &exact_difference,
                                           &Expansion<4>::approximate};

[[gnu::used]] const std::tuple kMotions{&Piece::still,
                                        &Piece::moving,
                                        &Piece::between,
                                        &Piece::on_clock,
                                        &Piece::is_still,
                                        &Piece::velocity,
                                        &Piece::spin,
                                        &Piece::at,
                                        &local_time,
                                        &piece_at,
                                        &drift,
                                        &append_path,
                                        &reach,
                                        &travel,
                                        &Underway::from,
                                        &Underway::stays_in_domain,
                                        &Underway::support_within,
                                        &Underway::error,
                                        &Underway::rounding,
                                        &detail::is_interval,
                                        &append_prediction};

[[gnu::used]] const std::tuple kPlaces{&sin_cos,
                                       &is_in_domain,
                                       &Transform::is_rotated,
                                       &Transform::is_identity,
                                       &Transform::rotate,
                                       &Transform::rotate_back,
                                       &Transform::apply,
                                       &Transform::error,
                                       &place,
                                       &placed_extent,
                                       &box_at};

// Default values of members.
Piece a_piece() { return {}; }
Transform a_transform() { return {}; }
SinCos a_sine() { return {}; }
exact::Pair a_pair() { return {}; }
exact::Distance a_distance() { return {}; }
Prediction a_prediction() { return {}; }
ReportedMotion a_motion() { return {}; }
Underway an_underway() { return {}; }
LocalTime a_time() { return {}; }

}  // namespace gjk::instances
