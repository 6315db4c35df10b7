// SPDX-FileCopyrightText: gjk_collision contributors
// SPDX-License-Identifier: Apache-2.0
// The answer for the nearest pose at which the vehicle is free.
#pragma once

#include <cmath>
#include <optional>
#include <utility>
#include <vector>

#include "gjk/arithmetic.hpp"
#include "gjk/certificate.hpp"
#include "gjk/rules/age.hpp"
#include "gjk/rules/answers.hpp"
#include "gjk/rules/arguments.hpp"
#include "gjk/rules/fields.hpp"
#include "gjk/rules/single_pose.hpp"
#include "gjk/rules/snapshot.hpp"
#include "gjk/rules/vehicle.hpp"
#include "gjk/scene/nearest_free.hpp"
#include "gjk/shape/domain.hpp"
#include "gjk/shape/pose.hpp"
#include "gjk/shape/shape.hpp"
#include "gjk/verdict.hpp"

namespace gjk {

// ---- srv/NearestFree
struct NearestFreeRequest {
  Pose pose;
  double max_shift = 0.0;   // m, >= 0
  double max_turn = 0.0;    // rad, >= 0
  double margin = 0.0;      // m, >= 0, added to the safety margin
  double tolerance = 0.0;   // m, resolution of the search; 0: toi_tolerance of the snapshot
  double pose_error = 0.0;  // m
};

// FREE at `free_pose`. Otherwise the verdict at the requested pose, or UNKNOWN.
struct NearestFreeAnswer {
  Issue issue;
  Answer answer;
  std::optional<Pose> free_pose;  // in the check frame; empty: none was found
  double shift = kNaN;            // m, from the requested pose
  double turn = kNaN;             // rad
};

template <class Known, class F>
void fields(const NearestFreeAnswer& a, const Known&, F&& f) {
  std::vector<double> pose;
  if (const auto& p = a.free_pose) pose = {p->x, p->y, p->yaw};
  GJK_FIELD(f, is_free, detail::is_free_and_known(a.answer));
  GJK_FIELD(f, free_pose, pose);
  GJK_FIELD(f, shift, a.shift);
  GJK_FIELD(f, turn, a.turn);
}

// The nearest pose that is FREE. If the snapshot has a fault, no pose is searched. The search is
// not divided into chunks: it takes at most `search_time` of the budget.
inline NearestFreeAnswer nearest_free(const Snapshot& snapshot, const NearestFreeRequest& request,
                                      const Budget& budget = {}) {
  using namespace detail;
  NearestFreeOptions options;
  options.max_shift = request.max_shift;
  options.max_turn = request.max_turn;
  if (Issue issue = first_of(
          {check_non_negative("max_shift", request.max_shift), check_max_shift(request.max_shift),
           check_non_negative("max_turn", request.max_turn), check_max_turn(request.max_turn),
           check_tolerance(snapshot, request.tolerance, options.tolerance),
           check_margin(snapshot, request.margin, options.margin)})) {
    return refused<NearestFreeAnswer>(std::move(issue));
  }
  NearestFreeAnswer result;
  CollideAnswer here = collide(snapshot, {request.pose, request.margin, request.pose_error});
  result.issue = std::move(here.issue);
  result.answer = std::move(here.answer);
  if (snapshot.fault) return result;
  if (result.answer.verdict == Verdict::unknown && result.answer.status != Status::not_seen) {
    return result;
  }
  if (is_free(result.answer.verdict)) {
    result.free_pose = request.pose;
    result.shift = result.turn = 0.0;
    return result;
  }
  options.max_time = budget.search_time;
  const Vehicle vehicle(*snapshot.footprint, request.pose_error);
  NearestFreeQuery query(*snapshot.scene, vehicle.shape());
  const NearestFree found = query.at(request.pose, options);
  if (found.status == Status::time_budget) {
    return refused<NearestFreeAnswer>(
        {found.status, "max_shift", -1,
         formatted("the search took longer than time_budget (%g s): use a smaller max_shift "
                   "or a tolerance larger than %g m",
                   budget.search_time, options.tolerance) +
             got(request.max_shift)});
  }
  if (found.status != Status::success) {
    return refused<NearestFreeAnswer>(
        {found.status, "pose", -1, "must not move the shape out of the range of 1e15 m"});
  }
  if (!found.pose) {
    result.answer.message = "no free pose was found within max_shift and max_turn";
    return result;
  }
  // Checked again, as a requested pose.
  result.answer = collide(snapshot, {*found.pose, request.margin, 0.0}).answer;
  if (!is_free(result.answer.verdict)) {
    result.answer = unknown({Status::internal_error, "the pose of the search is not FREE"});
    return result;
  }
  result.free_pose = found.pose;
  result.shift = std::hypot(found.pose->x - request.pose.x, found.pose->y - request.pose.y);
  result.turn = found.pose->yaw - request.pose.yaw;
  return result;
}

}  // namespace gjk
