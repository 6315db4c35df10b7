// SPDX-FileCopyrightText: gjk_collision contributors
// SPDX-License-Identifier: Apache-2.0
// The answer in the heartbeat: the verdict at the present pose of the vehicle.
#pragma once

#include <optional>

#include "gjk/arithmetic.hpp"
#include "gjk/certificate.hpp"
#include "gjk/rules/answers.hpp"
#include "gjk/rules/arguments.hpp"
#include "gjk/rules/fields.hpp"
#include "gjk/rules/single_pose.hpp"
#include "gjk/rules/snapshot.hpp"
#include "gjk/scene/time_to_collision.hpp"
#include "gjk/shape/pose.hpp"
#include "gjk/shape/vec2.hpp"
#include "gjk/verdict.hpp"

namespace gjk {

// ---- msg/CollisionState
struct StateRequest {
  Pose pose;
  std::optional<Fault> pose_fault{};  // why the pose is not known
  std::optional<Twist> twist{};       // of the base frame; empty: not known
};

// Values that were not computed are NaN, unless stated otherwise.
struct StateAnswer {
  Answer answer;  // with the nearest obstacle
  // m, signed distance to the nearest obstacle and its certified lower bound; infinity: no obstacle
  double distance = kNaN;
  double lower_bound = kNaN;
  // s, until the first contact if the vehicle and all obstacles keep their present twists, never
  // later than this contact; infinity: none until the prediction horizon. Margins do not count.
  double time_to_collision = kNaN;
  Vec2 witness_ego{kNaN, kNaN};
  Vec2 witness_obstacle{kNaN, kNaN};
  Vec2 direction;  // unit vector from the vehicle to the obstacle; zero: not computed
};

template <class Known, class F>
void fields(const StateAnswer& a, const Known& known, F&& f) {
  GJK_FIELD(f, distance, a.distance);
  GJK_FIELD(f, distance_lower_bound, a.lower_bound);
  GJK_FIELD(f, nearest_id, known.id_of(a.answer.obstacle));
  GJK_FIELD(f, nearest_source, known.source_of(a.answer.obstacle));
  GJK_FIELD(f, time_to_collision, a.time_to_collision);
  GJK_FIELD(f, witness_ego, a.witness_ego);
  GJK_FIELD(f, witness_obstacle, a.witness_obstacle);
  GJK_FIELD(f, direction, a.direction);
}

namespace detail {

// NaN: not known. A pass at up to `kTolerance` may count as a contact.
inline double time_to_collision_at(const Snapshot& snapshot, const StateRequest& request) {
  constexpr double kTolerance = 0.005;  // m
  const double horizon = known_until(snapshot, 0);
  if (snapshot.fault || !request.twist || !(horizon > 0.0)) return kNaN;
  const double now = static_cast<double>(time_zero(snapshot, 0)) * 1e-9;
  const TimeToCollision found =
      time_to_collision(*snapshot.scene, *snapshot.footprint, request.pose, *request.twist, now,
                        {.horizon = horizon, .tolerance = kTolerance});
  return found.status == Status::success ? found.time : kNaN;
}

}  // namespace detail

// The verdict, the nearest obstacle and the time to collision at the present pose.
inline StateAnswer state(const Snapshot& snapshot, const StateRequest& request) {
  using namespace detail;
  StateAnswer result;
  if (const std::optional<Fault> fault = fault_of(snapshot); fault && !is_known(snapshot)) {
    result.answer = unknown(*fault);
    return result;
  }
  if (request.pose_fault) {
    result.answer = unknown(snapshot.fault ? *snapshot.fault : *request.pose_fault);
    return result;
  }
  const DistanceAnswer near = distance(snapshot, {.pose = request.pose});
  result.answer = near.answer;
  if (near.issue) return result;
  result.time_to_collision = time_to_collision_at(snapshot, request);
  if (near.nearest.empty()) {
    if (is_free(near.answer.verdict)) {
      result.distance = result.lower_bound = kInfinity;
    }
    return result;
  }
  const Closest& c = near.nearest.front().closest;
  result.distance = c.distance;
  result.lower_bound = c.lower_bound;
  result.witness_ego = c.point_a;
  result.witness_obstacle = c.point_b;
  result.direction = c.direction;
  return result;
}

}  // namespace gjk
