// SPDX-FileCopyrightText: gjk_collision contributors
// SPDX-License-Identifier: Apache-2.0
// Answers for one pose: whether the vehicle is free, and the obstacles that are nearest to it.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "gjk/certificate.hpp"
#include "gjk/snapshot/answers.hpp"
#include "gjk/snapshot/arguments.hpp"
#include "gjk/snapshot/kernel.hpp"
#include "gjk/snapshot/snapshot.hpp"
#include "gjk/snapshot/text.hpp"
#include "gjk/snapshot/vehicle.hpp"

namespace gjk {
namespace detail {

template <class K>
CollideAnswer collide(const K& kernel, const Snapshot& snapshot, const CollideRequest& request) {
  double total = 0.0;
  if (Issue issue = check_margin(snapshot, request.margin, total)) {
    return refused<CollideAnswer>(std::move(issue));
  }
  for (Issue issue :
       {check_single(request.pose), check_error(request.pose_error, "pose_error", -1)}) {
    if (issue) return refused<CollideAnswer>(std::move(issue));
  }
  if (!is_known(snapshot)) return {{}, unknown_footprint(snapshot)};
  const Vehicle vehicle(*snapshot.footprint, request.pose_error);
  for (Issue issue :
       {vehicle.check(), check_in_domain(request.pose, "poses", 0), check_total(total)}) {
    if (issue) return refused<CollideAnswer>(std::move(issue));
  }
  std::size_t violations = 0;
  const CheckOptions options{.margin = total};
  const PoseResult found =
      checked(kernel, vehicle.shape(), {&request.pose, 1}, {}, options, violations).front();
  CollideAnswer result{{}, answer_at(snapshot, found)};
  result.answer.violations = violations;
  return result;
}

// If the snapshot has a fault, the list may be incomplete. It is then only returned if the verdict
// is COLLISION.
template <class K>
DistanceAnswer distance(const K& kernel, const Snapshot& snapshot, const DistanceRequest& request) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  if (Issue issue = check_non_negative("max_distance", request.max_distance)) {
    return refused<DistanceAnswer>(std::move(issue));
  }
  for (Issue issue :
       {check_single(request.pose), check_error(request.pose_error, "pose_error", -1)}) {
    if (issue) return refused<DistanceAnswer>(std::move(issue));
  }
  if (!is_known(snapshot)) return {{}, unknown_footprint(snapshot), {}};
  const double margin = snapshot.safety_margin;
  const Vehicle vehicle(*snapshot.footprint, request.pose_error);
  for (Issue issue :
       {vehicle.check(), check_in_domain(request.pose, "poses", 0), check_total(margin)}) {
    if (issue) return refused<DistanceAnswer>(std::move(issue));
  }
  DistanceAnswer result;
  std::size_t violations = 0;
  const CheckOptions options{.margin = margin};
  const PoseResult hit =
      checked(kernel, vehicle.shape(), {&request.pose, 1}, {}, options, violations).front();
  result.answer = answer_at(snapshot, hit);
  result.answer.violations = violations;
  const std::size_t count = result.answer.verdict == Verdict::unknown ? 0 : kernel.obstacles();
  if (count == 0) return result;
  const double reach = request.max_distance > 0.0 ? request.max_distance : kInfinity;
  const auto look = [&](std::size_t k, double within, std::vector<Nearest>& found) {
    const Status status = kernel.nearest(vehicle.shape(), request.pose, k, within, found);
    if (status == Status::success) return true;
    const std::string rule = "must not move the shape out of the range of 1e15 m";
    result = refused<DistanceAnswer>(Issue{status, "pose", -1, rule});
    result.answer.violations = violations;
    return false;
  };
  std::vector<Nearest> near;
  const std::size_t k = std::min(std::max<std::size_t>(request.k, 1), count);
  if (!look(k, reach, near)) return result;
  // The answer names the nearest obstacle, also where it is farther away than `max_distance`.
  std::vector<Nearest> nearest;
  if (near.empty() && !look(1, kInfinity, nearest)) return result;
  const std::vector<Nearest>& first = near.empty() ? nearest : near;
  result.answer.obstacle = first.empty() ? -1 : first.front().obstacle;
  double least = kInfinity;
  for (const Nearest& each : near) {
    const double distance = each.closest.distance;
    least = std::isnan(distance) || std::isnan(least) ? std::nan("") : std::fmin(least, distance);
  }
  Verdict verdict = result.answer.verdict;
  Status status = Status::success;
  if (refute(verdict, status, true, least, margin)) {
    ++violations;
    char text[64];
    std::snprintf(text, sizeof text, "FREE, but the distance is %g m", least);
    result.answer = unknown({Status::internal_error, text});
    result.answer.violations = violations;
    return result;
  }
  if (is_free(result.answer.verdict)) {  // this proves that no obstacle is nearer than the margin
    for (Nearest& each : near) {
      double& bound = each.closest.lower_bound;
      if (bound < margin) bound = margin;
    }
  }
  result.nearest = std::move(near);
  return result;
}

}  // namespace detail

// Whether the vehicle is free at one pose, at the time of the snapshot.
inline CollideAnswer collide(const Snapshot& snapshot, const CollideRequest& request) {
  return detail::collide(detail::Kernel(snapshot.scene), snapshot, request);
}

// The obstacles that are nearest to the vehicle at one pose, by ascending distance, and the verdict
// there.
inline DistanceAnswer distance(const Snapshot& snapshot, const DistanceRequest& request) {
  return detail::distance(detail::Kernel(snapshot.scene), snapshot, request);
}

}  // namespace gjk
