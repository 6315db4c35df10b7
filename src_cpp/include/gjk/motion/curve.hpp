// SPDX-FileCopyrightText: gjk_collision contributors
// SPDX-License-Identifier: Apache-2.0
// What the shortest curves of a car, Dubins' and Reeds and Shepp's, have in common.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numbers>
#include <span>

#include "gjk/arithmetic.hpp"
#include "gjk/motion/arc.hpp"
#include "gjk/shape/pose.hpp"
#include "gjk/shape/vec2.hpp"

namespace gjk {

// A curve of at most five arcs. Without arcs, it is a point.
struct Curve {
  std::array<Arc, 5> arcs;
  int count = 0;

  std::span<const Arc> view() const noexcept {
    return {arcs.data(), static_cast<std::size_t>(count)};
  }
  // The same way, driven from its end to its start.
  Curve reversed() const noexcept {
    Curve back = *this;
    std::reverse(back.arcs.begin(), back.arcs.begin() + count);
    for (Arc& arc : back.arcs) arc.length = -arc.length;
    return back;
  }
  // m. NaN: there is no curve, because the input was outside the domain.
  double length() const noexcept {
    double sum = 0.0;
    for (const Arc& arc : view()) sum += std::fabs(arc.length);
    return sum;
  }
};

namespace detail {

inline constexpr double kPi = std::numbers::pi;
inline constexpr double kHalfPi = 0.5 * std::numbers::pi;

// The angle from (1, 0) to p, in [-pi, pi]; 0 for p = 0, NaN if p is not finite. Like sin_cos(), it
// is identical on every machine.
//
// With t = k / 8 nearest to the tangent, atan(tangent) = atan(t) + atan(r), and |r| <= 1/16. The
// Taylor series of atan(r) is cut below 2^-60.
inline double angle_of(Vec2 p) noexcept {
  constexpr std::array<double, 9> kAtan{0.0,
                                        0.12435499454676144,
                                        0.24497866312686414,
                                        0.35877067027057225,
                                        0.46364760900080609,
                                        0.55859931534356244,
                                        0.64350110879328437,
                                        0.71882999962162453,
                                        0.78539816339744828};
  const double x = std::fabs(p.x), y = std::fabs(p.y);
  const double large = std::fmax(x, y), small = std::fmin(x, y);
  if (large == 0.0) return 0.0;
  if (!(x <= std::numeric_limits<double>::max() && y <= std::numeric_limits<double>::max())) {
    return kNaN;
  }
  const double tangent = small / large;
  const double k = std::rint(8.0 * tangent);
  const double r = (8.0 * tangent - k) / (8.0 + k * tangent);
  const double s = r * r;
  const double series =
      1.0 + s * (-1.0 / 3 +
                 s * (1.0 / 5 + s * (-1.0 / 7 + s * (1.0 / 9 + s * (-1.0 / 11 + s * (1.0 / 13))))));
  double angle = kAtan[static_cast<std::size_t>(k)] + r * series;
  if (y > x) angle = kHalfPi - angle;
  if (p.x < 0.0) angle = kPi - angle;
  return p.y < 0.0 ? -angle : angle;
}

// For sines and cosines in [-1, 1]; values beyond, by rounding, count as -1 or 1.
inline double angle_of_sine(double sine) noexcept {
  return angle_of({std::sqrt(std::fmax(0.0, (1.0 - sine) * (1.0 + sine))), sine});
}
inline double angle_of_cosine(double cosine) noexcept {
  return angle_of({cosine, std::sqrt(std::fmax(0.0, (1.0 - cosine) * (1.0 + cosine)))});
}

// The same angle in [-pi, pi], for |angle| <= kMaxYaw. The subtraction is that of sin_cos().
inline double wrapped(double angle) noexcept {
  using Turn = doubles::Reduced<double, std::int64_t>;
  const double k = 4.0 * std::rint(angle * (Turn::kTwoOverPi / 4.0));
  return ((angle - k * Turn::kHalfPi1) - k * Turn::kHalfPi2) - k * Turn::kHalfPi3;
}

// A vector between the centres of two turning circles. The unit is the turning radius.
struct Centres {
  double length = 0.0;
  double angle = 0.0;
  double slack = 0.0;  // rad, error bound of `angle`

  static Centres along(Vec2 d, double rounding) noexcept {
    const double length = norm(d);
    if (length <= rounding) return {length, 0.0, rounding};  // any angle is right
    return {length, angle_of(d), rounding + rounding / length};
  }
};

// The turns at both ends of a word, which may be 0 up to rounding. If they are not set to 0, a
// curve that ends in a straight line gets a full turn at its end.
struct Turns {
  double first = 0.0;  // rad
  double last = 0.0;   // rad

  // The last arc turns by side * (rest - first).
  static Turns of(double first, double rest, double side, double slack, double rounding) noexcept {
    double t = wrapped(first);
    if (std::fabs(t) <= slack) t = 0.0;
    const double v = wrapped(side * (rest - t));
    if (std::fabs(v) > slack) return {t, v};
    t = wrapped(rest);  // so that the sum of the turns is right
    return {std::fabs(t) <= rounding ? 0.0 : t, 0.0};
  }
};

// Pose b as seen from pose a, in units of the turning radius. The start's circle is the one on the
// left. `same` is the vector to the end's left circle, `opposite` to its right circle. Index 1 is
// the mirror image, in which left is right.
struct Task {
  double heading = 0.0;   // rad, of b relative to a, in [-pi, pi]
  double rounding = 0.0;  // radii or rad. Ends this far apart are one: 4 ulp of the input
  std::array<Centres, 2> same;
  std::array<Centres, 2> opposite;
  bool is_valid = false;

  static Task between(const Pose& a, const Pose& b, double radius) noexcept {
    Task task;
    if (!is_in_domain(a) || !is_in_domain(b) || !(radius > 0.0)) return task;
    task.heading = wrapped(wrapped(b.yaw) - wrapped(a.yaw));
    const Transform frame = Transform::from_pose({0.0, 0.0, a.yaw});
    const Vec2 way = frame.rotate_back({b.x - a.x, b.y - a.y});
    const Vec2 p{way.x / radius, way.y / radius};
    const SinCos turn = sin_cos(task.heading);
    const double lift = 1.0 - turn.cos;
    const double sum = 1.0 + turn.cos;
    const double size = norm1({a.x, a.y}) + norm1({b.x, b.y});
    task.rounding =
        4.0 * kUnitRoundoff * (8.0 + size / radius + std::fabs(a.yaw) + std::fabs(b.yaw));
    const auto centres = [&task](Vec2 d) noexcept { return Centres::along(d, task.rounding); };
    task.same = {centres({p.x - turn.sin, p.y - lift}), centres({p.x + turn.sin, -p.y - lift})};
    task.opposite = {centres({p.x + turn.sin, p.y - sum}), centres({p.x - turn.sin, -p.y - sum})};
    task.is_valid = std::isfinite(task.same[0].length + task.same[1].length +
                                  task.opposite[0].length + task.opposite[1].length);
    return task;
  }
};

// Builds a curve. Joins arcs of one curvature and direction, and leaves out arcs without length.
class Drive {
 public:
  Drive(double radius, bool is_mirrored, bool is_backwards) noexcept
      : radius_(radius),
        left_((is_mirrored ? -1.0 : 1.0) / radius),
        ahead_(is_backwards ? -radius : radius) {}

  Drive& left(double turn) noexcept { return add(left_, turn); }
  Drive& right(double turn) noexcept { return add(-left_, turn); }
  Drive& straight(double length) noexcept { return add(0.0, length); }
  Curve curve() const noexcept { return curve_; }

 private:
  Drive& add(double curvature, double turn) noexcept {
    const double length = ahead_ * turn;
    if (length == 0.0) return *this;
    if (curve_.count > 0) {
      Arc& last = curve_.arcs[static_cast<std::size_t>(curve_.count - 1)];
      if (last.curvature == curvature && (last.length > 0.0) == (length > 0.0)) {
        last.length += length;
        return *this;
      }
    }
    curve_.arcs[static_cast<std::size_t>(curve_.count++)] = {curvature, length};
    return *this;
  }

  double radius_;
  double left_;
  double ahead_;
  Curve curve_;
};

inline Curve no_curve() noexcept {
  Curve curve;
  curve.arcs[0].length = kNaN;
  curve.count = 1;
  return curve;
}

}  // namespace detail
}  // namespace gjk
