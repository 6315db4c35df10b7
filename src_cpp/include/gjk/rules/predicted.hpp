// SPDX-FileCopyrightText: gjk_collision contributors
// SPDX-License-Identifier: Apache-2.0
// Why the obstacles are not known at a time of a request.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "gjk/rules/arguments.hpp"
#include "gjk/rules/snapshot.hpp"
#include "gjk/scene/obstacles.hpp"
#include "gjk/scene/scene.hpp"
#include "gjk/shape/domain.hpp"

namespace gjk::detail {

// The reason for Status::prediction_too_short at the times of a request (s after its stamp, in ns;
// 0: that of the snapshot), or also between each two of them.
inline std::string not_predicted(const Snapshot& snapshot, std::int64_t stamp,
                                 std::span<const double> times, bool is_between) {
  const std::vector<double> at = on_clock(snapshot, times, stamp);
  const Obstacles& obstacles = snapshot.scene->obstacles();
  Obstacles::Unknown unknown;
  std::size_t i = 0;  // the first step in which a pose is not known
  for (std::size_t k = 0; k < at.size() && unknown.obstacle < 0; ++k) {
    const std::size_t last = is_between ? std::min(k + 1, at.size() - 1) : k;
    unknown = obstacles.first_unknown(at[k], at[last]);
    i = k;
  }
  const double until = known_until(snapshot, stamp);
  const double last = *std::max_element(times.begin(), times.end());
  if (unknown.obstacle < 0 ||
      (last > until && unknown.time >= snapshot.horizon - 2.0 * obstacles.time_error())) {
    return "times: nothing is predicted after " + text_of(until) + " s (got " + text_of(last) +
           ", in s after the stamp of the request): ask for earlier times, or increase "
           "prediction_horizon (" +
           text_of(snapshot.horizon) + " s after the oldest stamp of the data)";
  }
  const bool is_at_once = obstacles.unknown_in(obstacles.at(at[i])) >= 0;
  return snapshot.source_of(unknown.obstacle) + ": the pose of obstacle " +
         std::to_string(snapshot.id_of(unknown.obstacle)) + " is not known " +
         (is_at_once ? "at " : "after ") + text_of(times[i] + (unknown.time - at[i])) +
         " s (no velocity, or before its stamp or after the end of its path): send velocities or a "
         "longer path, or set the prediction_policy of the source";
}

}  // namespace gjk::detail
