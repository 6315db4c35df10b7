// SPDX-FileCopyrightText: gjk_collision contributors
// SPDX-License-Identifier: Apache-2.0
// Answers for one pose: whether the vehicle is free, and the obstacles that are nearest to it.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include "gjk/arithmetic.hpp"
#include "gjk/certificate.hpp"
#include "gjk/rules/answers.hpp"
#include "gjk/rules/arguments.hpp"
#include "gjk/rules/fields.hpp"
#include "gjk/rules/snapshot.hpp"
#include "gjk/rules/vehicle.hpp"
#include "gjk/scene/scene.hpp"
#include "gjk/shape/pose.hpp"
#include "gjk/shape/shape.hpp"
#include "gjk/text.hpp"
#include "gjk/verdict.hpp"

namespace gjk {

// ---- srv/Collide
struct CollideRequest {
  Pose pose;
  double margin = 0.0;      // m, >= 0, added to the safety margin
  double pose_error = 0.0;  // m, error bound of the place of each point of the footprint
};

struct CollideAnswer {
  Issue issue;
  Answer answer;
};

template <class Known, class F>
void fields(const CollideAnswer& a, const Known& known, F&& f) {
  GJK_FIELD(f, is_free, detail::is_free_and_known(a.answer));
  GJK_FIELD(f, obstacle_id, known.id_of(a.answer.obstacle));
  GJK_FIELD(f, obstacle_source, known.source_of(a.answer.obstacle));
}

// ---- srv/Distance
struct DistanceRequest {
  Pose pose;
  std::size_t k = 1;          // maximum number of obstacles; 0: one
  double max_distance = 0.0;  // m; 0: no limit
  double pose_error = 0.0;    // m
};

struct DistanceAnswer {
  Issue issue;
  Answer answer;
  std::vector<Nearest> nearest;  // a: vehicle, b: obstacle; points in the check frame
};

template <class Known, class F>
void fields(const DistanceAnswer& a, const Known& known, F&& f) {
  const auto each = [&](auto of) { return detail::column(a.nearest, of); };
  const auto pair = [](const Vec2& p) { return std::array{p.x, p.y}; };
  using N = const Nearest&;
  GJK_FIELD(f, is_free, detail::is_free_and_known(a.answer));
  GJK_FIELD(f, ids, each([&](N n) -> std::int64_t { return known.id_of(n.obstacle); }));
  GJK_FIELD(f, sources, each([&](N n) -> std::string { return known.source_of(n.obstacle); }));
  GJK_FIELD(f, distances, each([](N n) { return n.closest.distance; }));
  GJK_FIELD(f, lower_bounds, each([](N n) { return n.closest.lower_bound; }));
  GJK_FIELD(f, witness_ego, each([&](N n) { return pair(n.closest.point_a); }));
  GJK_FIELD(f, witness_obstacle, each([&](N n) { return pair(n.closest.point_b); }));
  GJK_FIELD(f, directions, each([&](N n) { return pair(n.closest.direction); }));
  GJK_FIELD(f, statuses, each([](N n) { return n.closest.status; }));
}

namespace detail {

// The answer for one pose in the domain, and a margin (m).
inline Answer check_one(const Snapshot& snapshot, const Vehicle& vehicle, const Pose& pose,
                        double margin) {
  PoseResult result;
  snapshot.scene->check(vehicle.shape(), {&pose, 1}, {}, {.margin = margin}, {&result, 1});
  return answer_at(snapshot, result);
}

}  // namespace detail

// Whether the vehicle is free at one pose, at the time of the snapshot.
inline CollideAnswer collide(const Snapshot& snapshot, const CollideRequest& request) {
  using namespace detail;
  double total = 0.0;
  if (Issue issue =
          first_of({check_margin(snapshot, request.margin, total), check_single(request.pose),
                    check_error(request.pose_error, "pose_error", -1)})) {
    return refused<CollideAnswer>(std::move(issue));
  }
  if (!is_known(snapshot)) return {{}, unknown_footprint(snapshot)};
  const Vehicle vehicle(*snapshot.footprint, request.pose_error);
  if (Issue issue = vehicle.check({&request.pose, 1}, {}, total))
    return refused<CollideAnswer>(std::move(issue));
  return {{}, check_one(snapshot, vehicle, request.pose, total)};
}

// The obstacles that are nearest to the vehicle at one pose, by ascending distance, and the verdict
// there. If the snapshot has a fault, the list may be incomplete. It is then only returned if the
// verdict is COLLISION.
inline DistanceAnswer distance(const Snapshot& snapshot, const DistanceRequest& request) {
  using namespace detail;
  if (Issue issue = first_of({check_non_negative("max_distance", request.max_distance),
                              check_single(request.pose),
                              check_error(request.pose_error, "pose_error", -1)})) {
    return refused<DistanceAnswer>(std::move(issue));
  }
  if (!is_known(snapshot)) return {{}, unknown_footprint(snapshot), {}};
  const double margin = snapshot.safety_margin;
  const Vehicle vehicle(*snapshot.footprint, request.pose_error);
  if (Issue issue = vehicle.check({&request.pose, 1}, {}, margin))
    return refused<DistanceAnswer>(std::move(issue));
  DistanceAnswer result;
  result.answer = check_one(snapshot, vehicle, request.pose, margin);
  // The outside of the region counts as an obstacle.
  const Scene& scene = *snapshot.scene;
  const std::size_t obstacles = scene.size() + (scene.region() != nullptr ? 1 : 0);
  if (result.answer.verdict == Verdict::unknown || obstacles == 0) return result;
  const double reach = request.max_distance > 0.0 ? request.max_distance : kInfinity;
  const auto look = [&](std::size_t k, double within, std::vector<Nearest>& found) {
    Scene::Ego ego(vehicle.shape());
    const Status status = scene.nearest(ego, request.pose, k, within, found);
    if (status == Status::success) return true;
    result = refused<DistanceAnswer>(
        refusal("pose", status, "must not move the shape out of the range of 1e15 m"));
    return false;
  };
  std::vector<Nearest> near;
  const std::size_t k = std::min(std::max<std::size_t>(request.k, 1), obstacles);
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
  check_free(verdict, status, least, margin);
  if (status == Status::internal_error) {
    char text[64];
    std::snprintf(text, sizeof text, "FREE, but the distance is %g m", least);
    result.answer = unknown({status, text});
    return result;
  }
  if (is_free(verdict)) {  // this proves that no obstacle is nearer than the margin
    for (Nearest& each : near) {
      double& bound = each.closest.lower_bound;
      if (bound < margin) bound = margin;
    }
  }
  result.nearest = std::move(near);
  return result;
}

}  // namespace gjk
