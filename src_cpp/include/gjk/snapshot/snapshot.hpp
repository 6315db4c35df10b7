// SPDX-FileCopyrightText: gjk_collision contributors
// SPDX-License-Identifier: Apache-2.0
// What the collision server knows at one time, requests about it, and its answers. This file uses
// neither frames nor messages: poses are those of the base frame in the check frame.
#pragma once

#include <array>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "gjk/scene/scene.hpp"
#include "gjk/shape/shape.hpp"
#include "gjk/verdict.hpp"

namespace gjk {

// Reason why data cannot be used, or why a question cannot be answered.
struct Fault {
  Status status = Status::undefined;
  std::string message;
};

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
};

// Time limit of a request, which is computed in chunks. A default one has no limit.
struct Budget {
  std::function<bool()> is_late;  // whether the time is used up; empty: no limit
  double chunk_time = 0.002;      // s, long compared with the overhead of a chunk
  std::size_t first_chunk = 0;    // number of items in the first chunk; 0: default

  static Budget until(std::chrono::steady_clock::time_point deadline) {
    return {.is_late = [deadline] { return std::chrono::steady_clock::now() > deadline; }};
  }
};

// A verdict with its reason, and the obstacle that determines it. As in msg/Verdict.
struct Answer {
  Verdict verdict = Verdict::unknown;
  Status status = Status::undefined;
  std::string message;         // for a person; empty if the status is success
  std::int64_t obstacle = -1;  // index in the scene; -1: none; size(): outside of the region
  // Number of FREE results of the kernel without a sufficient bound, and of internal errors. They
  // are UNKNOWN in the answer. Not 0: the kernel has an error.
  std::size_t violations = 0;
};

// ---- srv/Collide
// A refused request has an `issue`; its answer is then UNKNOWN with the status and text of the
// issue. This holds for all requests.
struct CollideAnswer {
  Issue issue;
  Answer answer;
};

struct CollideRequest {
  Pose pose;
  double margin = 0.0;      // m, >= 0, added to the safety margin
  double pose_error = 0.0;  // m, error bound of the place of each point of the footprint
};

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

// ---- srv/CheckPoses
struct PosesRequest {
  std::span<const double> poses{};   // x [m], y [m], yaw [rad] per pose
  std::span<const double> times{};   // s after `stamp`, one per pose; empty: obstacles do not move
  std::span<const double> errors{};  // m, one pose_error per pose; empty: 0
  std::int64_t stamp = 0;            // ns; 0: the stamp of the snapshot
  double margin = 0.0;               // m, >= 0, added to the safety margin
  int mode = 0;                      // gjk::Mode
  bool stop_at_first = false;        // the poses after the first one that is not FREE are UNKNOWN
};

// One entry per pose in each array; empty if the request was refused or the mode does not compute
// it. UNKNOWN poses have NaN and -1.
struct PosesAnswer {
  Issue issue;
  Answer answer;  // the worst; without an obstacle
  std::vector<Verdict> verdicts;
  std::vector<Status> statuses;
  std::vector<double> distances;                 // m
  std::vector<double> lower_bounds;              // m
  std::vector<std::int64_t> obstacles;           // index; -1: none
  std::vector<std::array<double, 4>> witnesses;  // x, y on the vehicle, x, y on the obstacle (m)
  std::int64_t first_invalid = 0;                // -1: all are FREE; 0 also if refused
};

// ---- srv/CheckPath
struct PathRequest {
  std::span<const double> poses{};   // as for PosesRequest, at least one
  std::span<const double> times{};   // the same; strictly increasing
  std::span<const double> errors{};  // the same
  std::int64_t stamp = 0;            // the same
  double margin = 0.0;               // the same
  bool swept = true;                 // also check between the poses
  double tolerance = 0.0;            // m; 0: toi_tolerance of the snapshot
};

struct PathAnswer {
  Issue issue;
  Answer answer;
  std::int64_t first_invalid_segment = 0;  // -1: all are FREE
  double last_valid_fraction = 0.0;        // of that segment, certified free
  // s after the stamp of the request; NaN: no collision or no times
  double first_collision_time = std::numeric_limits<double>::quiet_NaN();
  std::int64_t obstacle = -1;  // index of the first obstacle that makes the path not FREE
  Bounds distance{std::numeric_limits<double>::quiet_NaN(),   // m, over the path; NaN: not known
                  std::numeric_limits<double>::quiet_NaN()};  // upper: min_distance
};

}  // namespace gjk
