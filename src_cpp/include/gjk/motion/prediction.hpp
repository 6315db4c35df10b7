// SPDX-FileCopyrightText: gjk_collision contributors
// SPDX-License-Identifier: Apache-2.0
// Where an obstacle will be, from what is said of it, and until when that is known.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "gjk/motion/motion.hpp"
#include "gjk/shape/pose.hpp"

namespace gjk {

// What is assumed where nothing is said. Said is a velocity (its components finite; all zero: it
// stands, for good) or a path; a path goes before a velocity.
enum class PredictionPolicy : std::uint8_t {
  unknown_is_error = 0,   // nothing: the motion is not known, nor is it after a path's end
  constant_velocity = 1,  // after a path's end it goes on as on its last stretch; a path of one
                          // pose, at the stamp, has none: the velocity, or the motion is not known
  hold = 2,               // it stands where it is, after a path's end where that ends
};

struct Prediction {
  PredictionPolicy policy = PredictionPolicy::unknown_is_error;
  double horizon = 5.0;  // s: what moves is predicted no further after its stamp
};

// The reported motion of one obstacle: its pose and velocity at its stamp, and a path through poses
// at times (s after the stamp, strictly increasing, not negative).
struct Said {
  Pose pose;
  Velocity velocity{std::numeric_limits<double>::quiet_NaN(), 0.0, 0.0};  // any NaN: not said
  std::span<const double> path_times;
  std::span<const Pose> path_poses;
};

// Appends the pieces of the motion. Times in them are seconds after the stamp: a sum of a stamp and
// a path time would be rounded, and times near each other would become equal.
inline void append_prediction(const Said& said, const Prediction& prediction,
                              std::vector<Piece>& pieces) {
  constexpr double kForEver = std::numeric_limits<double>::infinity();
  const std::size_t before = pieces.size();
  const double last = prediction.horizon;
  const Velocity& v = said.velocity;
  const bool velocity_said = std::isfinite(v.x) && std::isfinite(v.y) && std::isfinite(v.yaw);

  if (said.path_times.empty()) {
    if (velocity_said && (v.x != 0.0 || v.y != 0.0 || v.yaw != 0.0)) {
      pieces.push_back(Piece::moving(said.pose, v));
    } else {
      pieces.push_back(Piece::still(said.pose));
      if (velocity_said || prediction.policy == PredictionPolicy::hold) return;
      pieces.back().begin = pieces.back().end = 0.0;
      return;
    }
    pieces.back().begin = 0.0;
    pieces.back().end = last;
    return;
  }

  double time = 0.0;
  Pose pose = said.pose;
  for (std::size_t i = 0; i < said.path_times.size(); ++i) {
    const double next = said.path_times[i];
    if (next > time) pieces.push_back(Piece::between(time, pose, next, said.path_poses[i]));
    time = next;
    pose = said.path_poses[i];
  }
  if (pieces.size() == before) {  // one pose, at the stamp: no stretch as on which it could go on
    if (prediction.policy == PredictionPolicy::constant_velocity) {
      append_prediction({pose, said.velocity, {}, {}}, prediction, pieces);
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
