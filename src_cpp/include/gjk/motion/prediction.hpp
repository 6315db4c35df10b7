// SPDX-FileCopyrightText: gjk_collision contributors
// SPDX-License-Identifier: Apache-2.0
// Predicts the motion of an obstacle from its reported motion.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "gjk/arithmetic.hpp"
#include "gjk/motion/motion.hpp"
#include "gjk/shape/pose.hpp"

namespace gjk {

// Assumption for motion that is not reported. An obstacle may report a velocity (finite
// components; all zero: stands still forever) or a path. A path takes precedence over a velocity.
enum class PredictionPolicy : std::uint8_t {
  unknown_is_error = 0,   // no assumption: the motion is unknown, also after the end of a path
  constant_velocity = 1,  // after the end of a path, continues as on its last piece; if the
                          // path is one pose at the stamp: as if only the velocity were reported
  hold = 2,               // stands still; after a path, at its last pose
};

struct Prediction {
  PredictionPolicy policy = PredictionPolicy::unknown_is_error;
  double horizon = 5.0;  // s, a moving obstacle is predicted up to this time after its stamp
};

// The reported motion of one obstacle: its pose and velocity at its stamp, and a path through poses
// at times (s after the stamp, strictly increasing, not negative).
struct ReportedMotion {
  Pose pose;
  Velocity velocity{kNaN, 0.0, 0.0};  // any NaN: not reported
  std::span<const double> path_times;
  std::span<const Pose> path_poses;
};

// Appends the pieces of the motion. Their times are seconds after the stamp, because the sum of a
// stamp and a path time would be rounded, and close times could become equal.
inline void append_prediction(const ReportedMotion& reported, const Prediction& prediction,
                              std::vector<Piece>& pieces) {
  constexpr double kForEver = kInfinity;
  const std::size_t before = pieces.size();
  const double last = prediction.horizon;
  const Velocity& v = reported.velocity;
  const bool has_velocity = std::isfinite(v.x) && std::isfinite(v.y) && std::isfinite(v.yaw);

  if (reported.path_times.empty()) {
    if (has_velocity && (v.x != 0.0 || v.y != 0.0 || v.yaw != 0.0)) {
      pieces.push_back(Piece::moving(reported.pose, v));
    } else {
      pieces.push_back(Piece::still(reported.pose));
      if (has_velocity || prediction.policy == PredictionPolicy::hold) return;
      pieces.back().begin = pieces.back().end = 0.0;
      return;
    }
    pieces.back().begin = 0.0;
    pieces.back().end = last;
    return;
  }

  double time = 0.0;
  Pose pose = reported.pose;
  for (std::size_t i = 0; i < reported.path_times.size(); ++i) {
    const double next = reported.path_times[i];
    if (next > time) pieces.push_back(Piece::between(time, pose, next, reported.path_poses[i]));
    time = next;
    pose = reported.path_poses[i];
  }
  if (pieces.size() == before) {  // one pose, at the stamp: there is no piece to continue
    if (prediction.policy == PredictionPolicy::constant_velocity) {
      append_prediction({pose, reported.velocity, {}, {}}, prediction, pieces);
      return;
    }
    pieces.push_back(Piece::between(time, pose, time, pose));
  }
  if (prediction.policy == PredictionPolicy::constant_velocity) {
    pieces.back().end = kForEver;
  } else if (prediction.policy == PredictionPolicy::hold) {
    pieces.push_back(Piece::still(pose));
    pieces.back().begin = time;
  }
  while (pieces.size() > before + 1 && pieces.back().begin >= last) pieces.pop_back();
  pieces.back().end = std::fmin(pieces.back().end, last);
}

}  // namespace gjk
