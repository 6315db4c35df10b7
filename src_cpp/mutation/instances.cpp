// SPDX-FileCopyrightText: gjk_collision contributors
// SPDX-License-Identifier: Apache-2.0
// Uses of all templates that ./dev mutate cpp mutates. A mutant for which the compiler makes the
// same optimised code of this file is equivalent to the original.
#include "gjk/certificate.hpp"
#include "gjk/motion/cast.hpp"
#include "gjk/motion/motion.hpp"
#include "gjk/motion/prediction.hpp"
#include "gjk/shape/placing.hpp"

namespace gjk::instances {

using View = ViewOf<simd::baseline::Set>::Type;

Verdict collide(const Convex& p, const Convex& q, double margin, exact::Contact near) {
  return exact::collide(p, q, margin, near);
}
Verdict collide(const View& p, const View& q, double margin, exact::Contact near) {
  return exact::collide(p, q, margin, near);
}
Certificate along(const Convex& p, const Convex& q, Vec2 n, Vec2 from) {
  return Certificate::along(p, q, n, from);
}
Certificate unsure_edges(const View& p, const View& q, const EdgeTests& tests) {
  return Certificate::unsure_edges(p, q, tests);
}
Certificate moving(const detail::Underway& a, const detail::Underway& b, Vec2 n, double s,
                   bool any_turn) {
  return Certificate::moving(a, b, n, s, any_turn);
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

}  // namespace gjk::instances
