// SPDX-FileCopyrightText: gjk_collision contributors
// SPDX-License-Identifier: Apache-2.0
// Why the obstacles are not known at a time of a request.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "gjk/rules/arguments.hpp"
#include "gjk/rules/snapshot.hpp"
#include "gjk/scene/scene.hpp"
#include "gjk/shape/domain.hpp"

namespace gjk::detail {

// The reason for Status::prediction_too_short between two times of a request (s after its stamp,
// in ns; 0: that of the snapshot).
inline std::string not_predicted(const Snapshot& snapshot, std::int64_t stamp, double begin,
                                 double end) {
  const std::vector<double> at = on_clock(snapshot, std::array{begin, end}, stamp);
  const auto unknown = snapshot.scene->obstacles().first_unknown(at.front(), at.back());
  const double until = known_until(snapshot, stamp);
  if (unknown.obstacle < 0 || unknown.time - at.front() >= until - begin) {
    return "times: " + text_of(end) + " s is after the end of the predictions, " + text_of(until) +
           " s: ask for earlier times, or increase prediction_horizon (" +
           text_of(snapshot.horizon) + " s after the oldest stamp of the data)";
  }
  return snapshot.source_of(unknown.obstacle) + ": the pose of obstacle " +
         std::to_string(snapshot.id_of(unknown.obstacle)) + " is not known at the time " +
         text_of(begin + (unknown.time - at.front())) +
         " s (no velocity, or before its stamp or after the end of its path): send velocities or a "
         "longer path, or set prediction_policy";
}

}  // namespace gjk::detail
