// SPDX-FileCopyrightText: gjk_collision contributors
// SPDX-License-Identifier: Apache-2.0
// Options and results of the checks of a scene.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>

#include "gjk/arithmetic.hpp"
#include "gjk/callback.hpp"
#include "gjk/shape/vec2.hpp"
#include "gjk/verdict.hpp"

namespace gjk {

// No part, obstacle or pair.
inline constexpr std::size_t kNone = std::numeric_limits<std::size_t>::max();

enum class Mode : std::uint8_t { collide = 0, distance = 1, witness = 2 };

struct CheckOptions {
  double margin = 0.0;  // m
  Mode mode = Mode::collide;
  // After the first pose of a trajectory that is not FREE, its other poses stay UNKNOWN.
  bool stop_at_first = false;
  std::size_t trajectory = 0;  // number of poses in each trajectory; 0: all are one trajectory
};

struct PoseResult {
  Verdict verdict = Verdict::unknown;
  Status status = Status::undefined;
  double distance = kNaN;     // m; modes distance, witness
  double lower_bound = kNaN;  // m; -inf: nothing is certain
  std::int64_t nearest = -1;  // obstacle index, -1: none
  Vec2 witness_ego{kNaN, kNaN};
  Vec2 witness_obstacle = witness_ego;
  Vec2 direction = witness_ego;  // unit vector from the ego to the obstacle
  Vec2 unseen = witness_ego;     // a point of the space that no sensor saw; status not_seen
};

// put(begin, end, result): the result at the poses from begin to end - 1.
using PutResults = Callback<void, std::size_t, std::size_t, const PoseResult&>;

}  // namespace gjk
