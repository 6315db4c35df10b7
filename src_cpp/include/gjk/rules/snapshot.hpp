// SPDX-FileCopyrightText: gjk_collision contributors
// SPDX-License-Identifier: Apache-2.0
// What the collision server knows at one time, and the time limit of a request. The rules use
// neither frames nor messages: poses are those of the base frame in the check frame.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "gjk/arithmetic.hpp"
#include "gjk/rules/fault.hpp"
#include "gjk/rules/senders.hpp"
#include "gjk/scene/scene.hpp"
#include "gjk/shape/shape.hpp"
#include "gjk/verdict.hpp"

namespace gjk {

// A view of the footprint and the obstacles at one time. The scene and the footprint must outlive
// it.
struct Snapshot {
  const Scene* scene = nullptr;      // in the check frame; null only if the footprint is null
  const Shape* footprint = nullptr;  // with the directional margins; null: not known
  std::int64_t stamp = 0;            // ns
  std::int64_t epoch = 0;            // ns, time zero of the scene's clock
  double horizon = 0.0;              // s, prediction_horizon; begins at `epoch`
  double safety_margin = 0.0;        // m
  double toi_tolerance = 0.005;      // m
  std::size_t max_poses = 0;         // maximum number of poses of a request
  std::optional<Fault> fault;        // why it is incomplete: no answer is FREE. None: complete
  const Senders* senders = nullptr;  // of the obstacles; null: none has an id

  std::int64_t id_of(std::int64_t index) const noexcept {
    return senders == nullptr ? -1 : senders->id_of(index);
  }
  std::string source_of(std::int64_t index) const {
    return senders == nullptr ? std::string() : senders->source_of(index);
  }
};

// Time limit of a request, which is computed in chunks. A default one has no limit.
struct Budget {
  std::function<bool()> is_late;  // whether the time is used up; empty: no limit
  double chunk_time = 0.002;      // s, long compared with the overhead of a chunk
  std::size_t first_chunk = 0;    // number of items in the first chunk; 0: default
  // s, longest duration of a search that is not divided into chunks
  double search_time = kInfinity;

  static Budget until(std::chrono::steady_clock::time_point deadline) {
    return {.is_late = [deadline] { return std::chrono::steady_clock::now() > deadline; }};
  }
};

}  // namespace gjk
