// SPDX-FileCopyrightText: gjk_collision contributors
// SPDX-License-Identifier: Apache-2.0
// The shortest curve of a car that only drives forwards.
//
// L. E. Dubins, "On curves of minimal length with a constraint on average curvature, and with
// prescribed initial and terminal positions and tangents", American Journal of Mathematics 79,
// 1957. Theorem I: the shortest curve is CSC or CCC, or a part of one. C: an arc of minimum radius,
// S: a straight line. The middle arc of CCC is longer than half a turn.
#pragma once

#include <limits>

#include "gjk/motion/curve.hpp"

namespace gjk {
namespace detail {

struct DubinsWord {
  enum class Kind { none, lsl, lsr, lrl };

  double length = std::numeric_limits<double>::infinity();
  Kind kind = Kind::none;
  bool is_mirrored = false;
  double t = 0.0;  // rad, first arc
  double u = 0.0;  // radii or rad, in the middle
  double v = 0.0;  // rad, last arc

  // Takes another word if it is shorter.
  void offer(Kind other, bool mirrored, Turns turns, double middle) noexcept {
    const double first = turns.first < 0.0 ? turns.first + 2.0 * kPi : turns.first;
    const double last = turns.last < 0.0 ? turns.last + 2.0 * kPi : turns.last;
    const double sum = first + middle + last;
    if (sum < length) *this = {sum, other, mirrored, first, middle, last};
  }
};

}  // namespace detail

// The shortest curve from a to b that drives forwards. `radius` (m) is the smallest turning radius.
// The length of the curve is NaN if a pose is outside the domain or the radius is not positive.
// Of words of equal length, the first one below is taken.
inline Curve dubins(const Pose& a, const Pose& b, double radius) noexcept {
  using detail::kPi;
  using Kind = detail::DubinsWord::Kind;
  const detail::Task task = detail::Task::between(a, b, radius);
  detail::DubinsWord best;
  // With the plane as the complex plane, a left turn t moves the heading to exp(it). The circle on
  // the right then has its centre at -2i exp(it) from that of the circle on the left.
  for (const bool mirrored : {false, true}) {
    if (!task.is_valid) break;
    const double heading = mirrored ? -task.heading : task.heading;
    const detail::Centres& same = task.same[mirrored ? 1 : 0];
    const detail::Centres& opposite = task.opposite[mirrored ? 1 : 0];
    const auto turns = [&task](double first, double rest, double side, double slack) noexcept {
      return detail::Turns::of(first, rest, side, slack, task.rounding);
    };
    // LSL: same = u exp(it)
    best.offer(Kind::lsl, mirrored, turns(same.angle, heading, 1.0, same.slack), same.length);
    // LSR: opposite = (u - 2i) exp(it)
    const double square = (opposite.length - 2.0) * (opposite.length + 2.0);
    if (square >= -4.0 * task.rounding) {
      const double u = std::sqrt(std::fmax(0.0, square));
      const double tilt = detail::angle_of({u, 2.0});
      best.offer(Kind::lsr, mirrored, turns(opposite.angle + tilt, heading, -1.0, opposite.slack),
                 u);
    }
    // LRL: same = 4 sin(u/2) exp(i(t - u/2)), u > pi
    if (same.length <= 4.0 + task.rounding) {
      const double half = kPi - detail::angle_of_sine(std::fmin(1.0, 0.25 * same.length));
      best.offer(Kind::lrl, mirrored,
                 turns(same.angle + half, heading + 2.0 * half, 1.0, same.slack), 2.0 * half);
    }
  }
  detail::Drive drive(radius, best.is_mirrored, false);
  switch (best.kind) {
    case Kind::lsl:
      return drive.left(best.t).straight(best.u).left(best.v);
    case Kind::lsr:
      return drive.left(best.t).straight(best.u).right(best.v);
    case Kind::lrl:
      return drive.left(best.t).right(best.u).left(best.v);
    case Kind::none:
      break;
  }
  return detail::no_curve();
}

}  // namespace gjk
