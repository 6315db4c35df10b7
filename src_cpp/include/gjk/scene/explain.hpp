// SPDX-FileCopyrightText: gjk_collision contributors
// SPDX-License-Identifier: Apache-2.0
// Why queries are UNKNOWN. Each function takes the arguments of a query, and returns the first
// problem, with the text that Python gives; text_of() in text.hpp makes a message of it. If its
// status is success, the arguments and the scene are valid, and the status of the result says all.
#pragma once

#include <span>

#include "gjk/motion/arc.hpp"
#include "gjk/scene/checks.hpp"
#include "gjk/scene/obstacles.hpp"
#include "gjk/scene/path.hpp"
#include "gjk/scene/scene.hpp"
#include "gjk/shape/pose.hpp"
#include "gjk/shape/shape.hpp"

namespace gjk {

// Of Scene::check() and Scene::nearest(), at one or more poses.
Issue explain_poses(const Scene& scene, const Shape& ego, std::span<const Pose> poses,
                    std::span<const double> times = {}, const CheckOptions& options = {});

// Of check_path().
Issue explain_path(const Scene& scene, const Shape& ego, std::span<const Pose> poses,
                   std::span<const double> times = {}, const PathOptions& options = {});
Issue explain_path(const Scene& scene, const Shape& ego, const ArcPath& curve,
                   std::span<const double> times = {}, const PathOptions& options = {});

// Of dubins() and reeds_shepp().
Issue explain_curve(const Pose& a, const Pose& b, double radius);

namespace detail {

// Of a query at a valid pose. `of_pose` and `of_time` are the names of its arguments.
Issue explain_at(const Scene& scene, const Shape& ego, const Pose& pose,
                 const Obstacles::View& view, double margin, const char* of_pose,
                 const char* of_time, long index);

}  // namespace detail
}  // namespace gjk

#ifdef GJK_KERNEL
#include <cmath>
#include <cstdint>
#include <string>

#include "gjk/motion/dubins.hpp"
#include "gjk/motion/reeds_shepp.hpp"
#include "gjk/shape/domain.hpp"
#include "gjk/shapes.hpp"

namespace gjk {

namespace detail {

inline Issue unknown_motion(std::int64_t obstacle, const char* argument, long index) {
  return {Status::prediction_too_short, argument, index,
          "the pose of the obstacle with index " + std::to_string(obstacle) +
              " is not known at this time: give it a velocity (zeros: it never moves) or a longer "
              "path, use prediction='hold', or increase the horizon if it ends before"};
}

// The first obstacle that is not in the domain of the kernel.
inline Issue check_obstacles(const Obstacles& obstacles) {
  for (std::size_t k = 0; k < obstacles.parts(); ++k) {
    const Convex part = obstacles.at_rest(k).convex();
    if (in_domain(part, part)) continue;
    const std::int64_t i = obstacles.owner(k);
    const Pose& pose = obstacles.pose(static_cast<std::size_t>(i));
    if (!is_in_domain(pose)) return check_in_domain(pose, "obstacles", static_cast<long>(i));
    return {Status::invalid_input, "obstacles", static_cast<long>(i),
            "must be convex in each part, within 1e15 m"};
  }
  return {};
}

// Why a path that passed check_way() is UNKNOWN.
inline Issue explain_way(const Scene& scene, std::span<const double> times,
                         const PathOptions& options) {
  if (Issue issue = check_obstacles(scene.obstacles())) return issue;
  if (times.empty()) return {};
  const double begin = times.front() - options.time_error;
  const double end = times.back() + options.time_error;
  const std::int64_t unknown = scene.obstacles().first_unknown(begin, end).obstacle;
  return unknown >= 0 ? unknown_motion(unknown, "times", -1) : Issue{};
}

}  // namespace detail

GJK_KERNEL Issue detail::explain_at(const Scene& scene, const Shape& ego, const Pose& pose,
                                    const Obstacles::View& view, double margin, const char* of_pose,
                                    const char* of_time, long index) {
  const Obstacles& obstacles = scene.obstacles();
  const std::int64_t unknown = obstacles.unknown_in(view);
  if (unknown >= 0) return unknown_motion(unknown, of_time, index);
  if (!obstacles.can_require(view, margin)) {
    return refusal("margin", Status::coord_range,
                   "must not exceed 1e15 m, with the margins of the scene");
  }
  if (is_in_domain_at(ego, Transform::from_pose(pose, obstacles.origin()))) return {};
  return {Status::coord_range, of_pose, index,
          "must not move the shape out of the range of 1e15 m"};
}

GJK_KERNEL Issue explain_poses(const Scene& scene, const Shape& ego, std::span<const Pose> poses,
                               std::span<const double> times, const CheckOptions& options) {
  if (Issue issue =
          first_of({detail::check_poses_in_domain(poses), detail::check_times(times, poses.size()),
                    check_radius(options.margin, "margin"), detail::check_subjects(scene, ego)})) {
    return issue;
  }
  for (std::size_t n = 0; n < poses.size(); ++n) {
    const Obstacles::View view =
        times.empty() ? Obstacles::at_rest() : scene.obstacles().at(times[n]);
    if (Issue issue = detail::explain_at(scene, ego, poses[n], view, options.margin, "poses",
                                         "times", static_cast<long>(n))) {
      return issue;
    }
  }
  return detail::check_obstacles(scene.obstacles());
}

GJK_KERNEL Issue explain_path(const Scene& scene, const Shape& ego, std::span<const Pose> poses,
                              std::span<const double> times, const PathOptions& options) {
  if (Issue issue = detail::check_way(scene, ego, poses, times, options)) return issue;
  return detail::explain_way(scene, times, options);
}
GJK_KERNEL Issue explain_path(const Scene& scene, const Shape& ego, const ArcPath& curve,
                              std::span<const double> times, const PathOptions& options) {
  if (Issue issue = detail::check_way(scene, ego, curve, times, options)) return issue;
  return detail::explain_way(scene, times, options);
}

GJK_KERNEL Issue explain_curve(const Pose& a, const Pose& b, double radius) {
  if (Issue issue = detail::check_in_domain(a, "a", -1)) return issue;
  if (Issue issue = detail::check_in_domain(b, "b", -1)) return issue;
  if (Issue issue = detail::check_positive(radius, "radius", kMaxCoordinate, "1e15 m"))
    return issue;
  if (std::isfinite(dubins(a, b, radius).length() + reeds_shepp(a, b, radius).length())) return {};
  return refusal("b", Status::numeric_failure,
                 "no curve was found: the poses are too far apart for the radius");
}

}  // namespace gjk
#endif
