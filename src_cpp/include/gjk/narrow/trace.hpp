// SPDX-FileCopyrightText: gjk_collision contributors
// SPDX-License-Identifier: Apache-2.0
// Records each iteration of GJK, for plots and for teaching.
#pragma once

#include "gjk/narrow/gjk.hpp"
#include "gjk/narrow/steps.hpp"
#include "gjk/query.hpp"
#include "gjk/shape/convex.hpp"
#include "gjk/shape/vec2.hpp"
#include "gjk/verdict.hpp"

namespace gjk {

using detail::kMaxIterations;
using detail::Simplex;
using detail::SimplexVertex;

// One iteration of Alg. 1.
struct TraceStep {
  Simplex simplex;  // one or two vertices: the part of P - Q nearest O found so far
  Vec2 direction;   // unit vector from the simplex towards O: search direction of the next vertex
  SimplexVertex support;  // vertex of P - Q farthest in that direction
  Bounds bounds;          // m, bounds on the distance of the polygons from this step
  int barycode = 0;       // region of O in the triangle of support and simplex; 0: none
};

struct Trace {
  TraceStep step[kMaxIterations];
  int size = 0;
  bool is_settled = false;  // GJK decided with certainty; otherwise exact arithmetic did
  Closest closest;          // the answer
};

// Number of iterations from the paper's start, for shapes in the domain. closest() needs fewer,
// because other steps come first.
int iterations_of(const Convex& p, const Convex& q) noexcept;

// The verdict of collide(), and the step that decided it.
struct Deciding {
  Verdict verdict = Verdict::unknown;
  detail::Step step = detail::Step::none;
};
Deciding deciding_step(const Convex& p, const Transform& at_p, const Convex& q,
                       const Transform& at_q, Rooms& rooms, double margin) noexcept;

// The iterations on p and q from the paper's start, and the answer of closest(p, q).
Trace trace(const Convex& p, const Convex& q) noexcept;

}  // namespace gjk

#ifdef GJK_KERNEL
#include "gjk/narrow/separation.hpp"

namespace gjk {

GJK_KERNEL int iterations_of(const Convex& p, const Convex& q) noexcept {
  const auto ignore = [](const Simplex&, Vec2, const SimplexVertex&, double) noexcept {};
  return detail::separate(p, q, detail::first_vertices(p, q), ignore).iterations;
}

GJK_KERNEL Deciding deciding_step(const Convex& p, const Transform& at_p, const Convex& q,
                                  const Transform& at_q, Rooms& rooms, double margin) noexcept {
  Deciding result;
  const auto note = [&result](detail::Step begun) noexcept { result.step = begun; };
  result.verdict = detail::collide_in_steps(p, at_p, q, at_q, rooms, margin, note);
  return result;
}

GJK_KERNEL Trace trace(const Convex& p, const Convex& q) noexcept {
  Trace result;
  result.closest = closest(p, q);
  if (result.closest.status != Status::success) return result;
  const double rounding = detail::support_rounding(p, q);
  const auto record = [&](const Simplex& s, Vec2 d, const SimplexVertex& w, double along) noexcept {
    TraceStep& step = result.step[result.size++];
    step.simplex = s;
    step.support = w;
    if (s.size == 2) {
      step.barycode = detail::barycode(w.point, s.vertex[0].point, s.vertex[1].point);
    }
    if (d == Vec2{}) return;                         // O lies on the simplex
    step.direction = (-1.0 / norm(d)) * d + Vec2{};  // no negative zeros
    step.bounds = detail::bounds_at(s, d, along, rounding);
  };
  result.is_settled = detail::separate(p, q, detail::first_vertices(p, q), record).outcome !=
                      detail::Outcome::undecided;
  return result;
}

}  // namespace gjk
#endif
