// SPDX-FileCopyrightText: gjk_collision contributors
// SPDX-License-Identifier: Apache-2.0
// The shortest curve of a car that only drives forwards.
//
// L. E. Dubins, "On curves of minimal length with a constraint on average curvature, and with
// prescribed initial and terminal positions and tangents", American Journal of Mathematics 79,
// 1957. Theorem I: the shortest curve is CSC or CCC, or a part of one. C: an arc of minimum radius,
// S: a straight line. The middle arc of CCC is longer than half a turn.
#pragma once

#include <array>
#include <cmath>

#include "gjk/arithmetic.hpp"
#include "gjk/motion/curve.hpp"

namespace gjk {
namespace detail {

struct DubinsWord {
  enum class Kind { none, lsl, lsr, lrl };

  double length = kInfinity;
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

// The shortest word that turns left first, and the shortest one that turns right first.
inline std::array<DubinsWord, 2> shortest_dubins_words(const Task& task) noexcept {
  using Kind = DubinsWord::Kind;
  std::array<DubinsWord, 2> best;
  // With the plane as the complex plane, a left turn t moves the heading to exp(it). The circle on
  // the right then has its centre at -2i exp(it) from that of the circle on the left.
  for (const bool mirrored : {false, true}) {
    const double heading = mirrored ? -task.heading : task.heading;
    const Centres& same = task.same[mirrored ? 1 : 0];
    const Centres& opposite = task.opposite[mirrored ? 1 : 0];
    const auto turns = [&task](double first, double rest, double side, double slack) noexcept {
      return Turns::of(first, rest, side, slack, task.rounding);
    };
    // LSL: same = u exp(it)
    best[mirrored ? 1U : 0U].offer(Kind::lsl, mirrored, turns(same.angle, heading, 1.0, same.slack),
                                   same.length);
    // LSR: opposite = (u - 2i) exp(it)
    const double square = (opposite.length - 2.0) * (opposite.length + 2.0);
    if (square >= -4.0 * task.rounding) {
      const double u = std::sqrt(std::fmax(0.0, square));
      const double tilt = angle_of({u, 2.0});
      best[mirrored ? 1U : 0U].offer(
          Kind::lsr, mirrored, turns(opposite.angle + tilt, heading, -1.0, opposite.slack), u);
    }
    // LRL: same = 4 sin(u/2) exp(i(t - u/2)), u > pi
    if (same.length <= 4.0 + task.rounding) {
      const double half = kPi - angle_of_sine(std::fmin(1.0, 0.25 * same.length));
      best[mirrored ? 1U : 0U].offer(
          Kind::lrl, mirrored, turns(same.angle + half, heading + 2.0 * half, 1.0, same.slack),
          2.0 * half);
    }
  }
  return best;
}

inline Curve curve_of(const DubinsWord& word, double radius) noexcept {
  using Kind = DubinsWord::Kind;
  Drive drive(radius, word.is_mirrored, false);
  switch (word.kind) {
    case Kind::lsl:
      return drive.left(word.t).straight(word.u).left(word.v).curve();
    case Kind::lsr:
      return drive.left(word.t).straight(word.u).right(word.v).curve();
    case Kind::lrl:
      return drive.left(word.t).right(word.u).left(word.v).curve();
    case Kind::none:
      break;
  }
  return no_curve();
}

}  // namespace detail

// Two ways from a to b that drive forwards: the shortest one that turns left first, and the
// shortest one that turns right first.
inline std::array<Curve, 2> dubins_candidates(const Pose& a, const Pose& b,
                                              double radius) noexcept {
  const detail::Task task = detail::Task::between(a, b, radius);
  if (!task.is_valid) return {detail::no_curve(), detail::no_curve()};
  const auto words = detail::shortest_dubins_words(task);
  return {detail::curve_of(words[0], radius), detail::curve_of(words[1], radius)};
}

// The shortest curve from a to b that drives forwards. `radius` (m) is the smallest turning radius.
// The length of the curve is NaN if a pose is outside the domain or the radius is not positive.
// Of words of equal length, the first one above is taken.
inline Curve dubins(const Pose& a, const Pose& b, double radius) noexcept {
  const detail::Task task = detail::Task::between(a, b, radius);
  if (!task.is_valid) return detail::no_curve();
  const auto words = detail::shortest_dubins_words(task);
  return detail::curve_of(words[words[1].length < words[0].length ? 1U : 0U], radius);
}

}  // namespace gjk
