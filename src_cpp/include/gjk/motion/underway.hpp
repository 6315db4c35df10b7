// SPDX-FileCopyrightText: gjk_collision contributors
// SPDX-License-Identifier: Apache-2.0
// Where a moving shape may be after some seconds, for the certificates of pairs that move.
#pragma once

#include <cmath>

#include "gjk/arithmetic.hpp"
#include "gjk/motion/motion.hpp"
#include "gjk/shape/convex.hpp"
#include "gjk/shape/domain.hpp"
#include "gjk/shape/pose.hpp"
#include "gjk/shape/vec2.hpp"

namespace gjk::detail {

// A shape at time t, its velocity, and its constant rate of turn from then on. The velocity is
// constant, or turns with the shape.
struct Underway {
  Convex shape;
  Transform at;
  double reach = 0.0;
  double yaw = 0.0;
  Vec2 velocity;
  double spin = 0.0;
  double spin_error = 0.0;      // rad/s
  double velocity_error = 0.0;  // m/s
  bool is_arc = false;

  static Underway from(const Moving& moving, const Piece& piece, double t) noexcept {
    const Placement placement = piece.at(t, moving.reach);
    const RoundedVelocity now = piece.velocity_at(t);
    const double spin = piece.spin();
    return {moving.shape,
            Transform::from_pose(placement.pose, {}, placement.error),
            moving.reach,
            placement.pose.yaw,
            now.velocity,
            spin,
            piece.yaw_error / piece.duration,
            now.error,
            piece.is_arc};
  }

  // Upper bound (m) on the distance of the origin after s seconds from the straight line: the
  // remainder of the Taylor series of its position, whose second derivative is |spin| |velocity|.
  double departure(double s) const noexcept {
    return is_arc ? 0.5 * (std::fabs(spin) + spin_error) * norm(velocity) * s * s : 0.0;
  }
  // Whether the bound for any turn is that of the circle on which the origin moves.
  bool orbits(bool any_turn) const noexcept { return any_turn && is_arc && spin != 0.0; }
  // m. Radius of that circle.
  double orbit() const noexcept { return norm(velocity) / std::fabs(spin); }
  // m/s. The velocity with which the bound moves.
  Vec2 bound_velocity(bool any_turn) const noexcept { return orbits(any_turn) ? Vec2{} : velocity; }

  // Whether all of it stays in the domain for s seconds. Outside, its position is unknown.
  bool stays_in_domain(double s) const noexcept {
    const auto is_within = [this, s](double x, double y) noexcept {
      return std::fmax(std::fabs(x), std::fabs(y)) + reach + departure(s) <= kMaxCoordinate;
    };
    return in_domain(shape, shape) && at.t_error >= 0.0 && is_within(at.t.x, at.t.y) &&
           is_within(at.t.x + s * velocity.x, at.t.y + s * velocity.y) &&
           std::fabs(yaw + s * spin) <= kMaxYaw;
  }

  // Upper bound (m) on the coordinate of any vertex along the unit vector n after s seconds,
  // relative to the shape's origin.
  //
  // A vertex p rotated by phi from now is at n.R(phi)p = n.p + phi n.p' + r, where p' is p rotated
  // by 90 degrees and |r| <= |p| phi^2 / 2. The first two terms are the support along a tilted n.
  // With `any_turn`, a rotating shape gets the bound `reach`, which holds for any angle; on an arc,
  // relative to the circle of the origin, whose centre is at perpendicular(velocity) / spin. Both
  // bounds are convex in s, and so is the departure of the origin, which is added to the first.
  double support_within(Vec2 n, double s, bool any_turn) const noexcept {
    if (orbits(any_turn)) return reach + dot(n, perpendicular(velocity)) / spin + orbit();
    if (any_turn && spin != 0.0) return reach;
    const Vec2 local = at.rotate_back(n);
    const double turn = s * spin;
    const Vec2 tilted = local - turn * perpendicular(local);
    return dot(tilted, shape.vertex(shape.support(tilted))) + 0.5 * turn * turn * reach +
           departure(s);
  }
  // m, error bound of a vertex now.
  double error() const noexcept { return shape.error + at.error(shape.extent) + at.t_error; }
  // m. Bound on the error of support_within() after s seconds, and of this shape's part of the
  // distance of the origins in Certificate::moving(). With u = 2^-53 and turn = 1 + |s spin|:
  // - The vertex, now: error() (pose.apply.gappa).
  // - `local` is off by 8 u (pose.turn.gappa) and 5 u of rounding, `tilted` by 17 u turn; times
  //   |p| <= sqrt(2) extent. The support and its dot product add 6 u |tilted|_1 extent
  //   (axes.support.gappa). Together less than 36 u turn extent.
  // - The last term and the sum: less than 5 u turn^2 reach + 2 u turn extent.
  // - The distance of the origins: less than 8 u (|t|_1 + s |velocity|_1).
  // - The error of the spin: s spin_error reach. That of the velocity: s velocity_error.
  // - The departure: 7 u of it for rounding, and u for the sum.
  // - The circle: 9 u of its radius, and its change by the errors of velocity and spin.
  // The factors 64 and 2 exceed these, and cover the rounding of this function.
  double rounding(double s, bool any_turn) const noexcept {
    const double turn = 1.0 + std::fabs(s * spin);
    const double scale =
        turn * turn * (shape.extent + reach) + norm1(at.t) + std::fabs(s) * norm1(velocity);
    const double off = 2.0 * (error() + std::fabs(s) * (spin_error * reach + velocity_error));
    if (!orbits(any_turn)) return 64.0 * kUnitRoundoff * (scale + departure(s)) + off;
    const double least = std::fabs(spin) - spin_error;
    if (!(least > 0.0)) return kInfinity;
    return 64.0 * kUnitRoundoff * (scale + orbit()) + off +
           4.0 * (velocity_error + orbit() * spin_error) / least;
  }
};

}  // namespace gjk::detail
