// SPDX-FileCopyrightText: gjk_collision contributors
// SPDX-License-Identifier: Apache-2.0
// Holds the kernel's answers about a pair against the truth.
#pragma once

#include <algorithm>
#include <cmath>
#include <string>

#include "answers.hpp"
#include "literal.hpp"
#include "placement.hpp"
#include "truth.hpp"

namespace gjk::verify {

inline constexpr double kWidestGap = 1e-9;

struct Findings {
  bool collides = false;
  int unknown = 0;
  int wrong = 0;        // verdicts
  int untrue = 0;       // bounds and witnesses
  double widest = 0.0;  // gap of the bounds, relative to the distance of the polygons
  std::string what;     // the first failure

  bool failed() const { return unknown + wrong + untrue > 0; }
};

// How far (m) beyond a margin two shapes may be and not be called FREE: their placing error, and
// the largest coordinates, radii and margin together.
inline double completeness(double error, double extent) {
  return 8.0 * error + 32.0 * kUnitRoundoff * extent;
}

inline Truth truth_of(const Pair& pair) {
  if (!pair.has_poses) return Truth(pair.p, pair.q);
  return Truth(pair.p, TruePose::of(pair.p_pose), pair.q, TruePose::of(pair.q_pose));
}

namespace detail {

inline const char* name_of(Verdict verdict) {
  static constexpr const char* kNames[]{"UNKNOWN", "FREE", "COLLISION", "MARGIN"};
  return kNames[static_cast<int>(verdict)];
}

// How far `at` is outside of the polygon, m, roughly: 0 inside.
inline double outside(const Polygon& polygon, Vec2 at) {
  bool inside = polygon.size() > 2;
  double least = INFINITY;
  for (int i = 0; i < polygon.size(); ++i) {
    const Vec2 from = polygon.vertex(i);
    const Vec2 edge = polygon.vertex((i + 1) % polygon.size()) - from;
    const Vec2 v = at - from;
    const double squared = dot(edge, edge);
    const double share = squared > 0.0 ? std::clamp(dot(v, edge) / squared, 0.0, 1.0) : 0.0;
    least = std::fmin(least, norm(v - share * edge));
    inside = inside && cross(edge, v) >= 0.0;
  }
  return inside ? 0.0 : least;
}

inline double extent(const Polygon& polygon) {
  double largest = 0.0;
  for (const auto* values : {&polygon.x, &polygon.y}) {
    for (const double v : *values) largest = std::fmax(largest, std::fabs(v));
  }
  return largest;
}

inline Polygon in_world(const Polygon& polygon, const Pose& pose) {
  const SinCos turn = sin_cos(pose.yaw);
  return placed(polygon, {turn.cos, turn.sin}, {pose.x, pose.y});
}

// Witness points: finite, on their shapes, and apart as the distance and the direction say.
// `slack` (m): of the errors of the shapes, which the distance counts and the points do not.
inline std::string witness_failure(const Pair& pair, const Closest& near, double slack) {
  const Polygon p = pair.has_poses ? in_world(pair.p, pair.p_pose) : pair.p;
  const Polygon q = pair.has_poses ? in_world(pair.q, pair.q_pose) : pair.q;
  const double tolerance =
      1e-11 * (extent(p) + extent(q) + pair.p_radius + pair.q_radius + std::fabs(near.distance)) +
      slack;
  if (!(std::fabs(norm(near.direction) - 1.0) <= 1e-12)) return "direction is not a unit vector";
  const Vec2 left = near.point_b - near.point_a - near.distance * near.direction;
  if (!(norm(left) <= tolerance)) return "witness points do not match the distance";
  if (!(outside(p, near.point_a) <= pair.p_radius + tolerance)) return "point_a is off its shape";
  if (!(outside(q, near.point_b) <= pair.q_radius + tolerance)) return "point_b is off its shape";
  return {};
}

}  // namespace detail

// `with_depth`: the bounds of a penetration depth too, which takes longest.
//
// With poses, what lies within their rounding may be called a collision at distance 0; but nothing
// may be called free, or farther than it is.
inline Findings check(const Pair& pair, const Answers& answers, const Truth& truth,
                      bool with_depth) {
  Findings found;
  const auto fail = [&](int& count, const std::string& what) {
    ++count;
    if (found.what.empty()) found.what = what + "\n" + literal(pair);
  };
  const double rp = pair.p_radius;
  const double rq = pair.q_radius;
  // How far beyond the margin the shapes may be and not be called FREE, where they are known to
  // within an error only.
  const auto unsure = [&](double margin) {
    return answers.error == 0.0 ? 0.0
                                : completeness(answers.error, answers.extent + rp + rq + margin);
  };
  const double slack = unsure(0.0);  // m
  const auto hit_within = [&](double margin) { return truth.within({rp, rq, margin}); };
  const auto judge = [&](const char* name, Verdict verdict, bool hit, double margin) {
    const bool excused = slack > 0.0 && truth.within({rp, rq, margin, unsure(margin)});
    if (verdict == Verdict::unknown) {
      fail(found.unknown, std::string(name) + " says UNKNOWN");
    } else if ((verdict == Verdict::free) == hit && !(verdict != Verdict::free && excused)) {
      fail(found.wrong, std::string(name) + " says " + detail::name_of(verdict));
    }
  };
  const bool touch = hit_within(0.0);
  found.collides = pair.margin > 0.0 ? hit_within(pair.margin) : touch;
  if (answers.loop != Verdict::unknown) {
    judge("collide_by_gjk", answers.loop, found.collides, pair.margin);
  }
  judge("collide(p, q, margin)", answers.collide, found.collides, pair.margin);
  judge("collide(q, p, margin)", answers.swapped, found.collides, pair.margin);
  judge("collide(p, at_p, q, at_q)", answers.at_poses, found.collides, pair.margin);
  judge("collide_pairs", answers.in_batch, found.collides, pair.margin);
  judge("classify", answers.classify, found.collides, pair.margin);
  if (slack == 0.0 && (answers.classify == Verdict::margin) != (found.collides && !touch)) {
    fail(found.wrong, std::string("classify says ") + detail::name_of(answers.classify));
  }

  // The gap is relative to the distance of the polygons; subtracting radii rounds once more.
  const auto gap = [&](const char* name, double lower, double upper) {
    const double cores = upper + rp + rq;
    const double rounding = 64.0 * kUnitRoundoff * (rp + rq + std::fabs(upper));
    const double width = upper - lower;
    if (!(width <= kWidestGap * cores + rounding + 4.0 * slack)) {
      fail(found.untrue,
           std::string(name) + ": wide bounds " + number(lower) + ", " + number(upper));
    }
    if (slack == 0.0 && width > rounding) found.widest = std::max(found.widest, width / cores);
  };
  const auto untrue = [&](const char* name, double lower, double upper) {
    fail(found.untrue,
         std::string(name) + ": untrue bounds " + number(lower) + ", " + number(upper));
  };
  const auto judge_distance = [&](const char* name, const Bounds& bounds) {
    if (!(bounds.lower >= 0.0 && bounds.upper >= 0.0) ||
        !(bounds.lower == 0.0 || truth.at_least({bounds.lower, rp, rq})) ||
        !truth.within({bounds.upper, rp, rq})) {
      untrue(name, bounds.lower, bounds.upper);
    }
    gap(name, bounds.lower, bounds.upper);
  };
  judge_distance("distance", answers.distance);
  const auto judge_hulls = [&](const char* name, const OfHulls& of) {
    judge(name, of.collide, found.collides, pair.margin);
    judge_distance(name, of.distance);
    if (slack == 0.0 && touch != (of.closest.upper <= 0.0)) {
      fail(found.wrong, std::string(name) + ", closest: sign " + number(of.closest.upper));
    }
    if (!truth.polygons_meet()) gap(name, of.closest.lower, of.closest.upper);
  };
  if (!pair.has_poses) {
    judge_hulls("hulls", answers.of_points);
    judge_hulls("hulls of disordered points", answers.of_disordered);
  }

  const Closest& near = answers.closest;
  if (near.status != Status::success || !std::isfinite(near.distance) ||
      !std::isfinite(near.lower_bound)) {
    fail(found.unknown, "closest: no success");
    return found;
  }
  if (!truth.polygons_meet()) {
    if (!truth.at_least({near.lower_bound, rp, rq}) || !truth.within({near.distance, rp, rq})) {
      untrue("closest", near.lower_bound, near.distance);
    }
    gap("closest", near.lower_bound, near.distance);
  } else if (with_depth) {
    if (!truth.depth_at_most({-near.lower_bound, -rp, -rq}) ||
        !truth.depth_at_least({-near.distance, -rp, -rq})) {
      untrue("closest, depth", near.lower_bound, near.distance);
    }
    const Penetration& deep = answers.penetration;
    if (near.distance + rp + rq < 0.0 && (!truth.depth_at_most({deep.depth, deep.rounding}) ||
                                          !truth.depth_at_least({deep.depth, -deep.rounding}))) {
      untrue("penetration", deep.depth - deep.rounding, deep.depth + deep.rounding);
    }
  }
  if (slack == 0.0 && touch != (near.distance <= 0.0)) {
    fail(found.wrong, "closest: sign of the distance " + number(near.distance));
  }
  const std::string witness = detail::witness_failure(pair, near, slack);
  if (!witness.empty()) fail(found.untrue, "closest: " + witness);
  return found;
}

}  // namespace gjk::verify
