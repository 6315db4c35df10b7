// SPDX-FileCopyrightText: gjk_collision contributors
// SPDX-License-Identifier: Apache-2.0
// The fields of the messages for mirrors, as rosidl generates them, and an example.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "gjk/verdict.hpp"

namespace gjk::messages {

struct Time {
  std::int32_t sec = 0;
  std::uint32_t nanosec = 0;
};
struct Header {
  Time stamp;
  std::string frame_id;
};
struct VerdictMessage {
  std::uint8_t verdict = 0;
  std::uint16_t status = static_cast<std::uint16_t>(Status::success);
  std::string message;
};
struct InfoMessage {
  Header header;
  std::uint64_t snapshot_id = (1ULL << 32) + 1;
  std::uint32_t config_hash = 0;
  std::string footprint;
  double footprint_age = 0.0;
  double max_obstacle_age = 0.0;
};
struct ObstaclesMessage {
  Header header;
  std::string source;
  std::vector<std::int64_t> ids;
  std::vector<std::uint8_t> kinds;
  std::vector<std::uint32_t> offsets;
  std::vector<double> xy, radius, poses, velocities;
  std::vector<std::uint32_t> path_offsets;
  std::vector<double> path_times, path_poses, margins, margin_rates;
};
struct FootprintMessage {
  std::string name;
  std::vector<std::uint32_t> offsets;
  std::vector<double> xy, radius;
};
struct AgeLimitMessage {
  std::string source;
  Time stamp;
  double timeout = 0.0, receipt_age = 0.0;
};
struct SenderMessage {
  AgeLimitMessage age_limit;
  ObstaclesMessage obstacles;
  std::string prediction_policy = "unknown_is_error";
};
struct SeenMessage {
  std::string source;
  std::vector<double> boundary, radii;
};
struct SnapshotMessage {
  InfoMessage info;
  std::uint64_t sequence = 1;
  VerdictMessage verdict, data_verdict;
  std::vector<FootprintMessage> footprints;
  std::vector<std::string> footprint_names;
  bool footprint_selected = false;
  std::vector<AgeLimitMessage> footprint_limits;
  std::vector<SenderMessage> senders;
  Time time_zero;
  std::string region_source;
  std::vector<double> region_boundary, region_radii;
  double region_inflation = 0.0;
  bool require_seen = false;
  std::vector<SeenMessage> seen;
  double safety_margin = 0.0;
  std::string concave_policy = "decompose";
  double prediction_horizon = 5.0;
  double toi_tolerance = 0.005;
  std::uint32_t max_poses = 1000;
  double max_future_stamp = 0.1;
  double heartbeat_limit = 0.2;
  std::uint64_t static_revision = 0;
};

// msg/CollisionState
struct HeartbeatMessage {
  Header header;
  std::uint64_t counter = 0;
  std::uint64_t snapshot_sequence = 0;
  InfoMessage info;
  VerdictMessage verdict;
};

inline constexpr std::int64_t kSecond = 1'000'000'000;

inline FootprintMessage square(const std::string& name, double half) {
  return {name, {0, 4}, {-half, -half, half, -half, half, half, -half, half}, {0.0}};
}

// Two senders. "still": a square [4, 6] x [-1, 1] with the id 10. "moving", one second later: a
// circle about (0, 5) with the id 20, which moves by -1 m/s in y, and a concave outline with the
// id 21 and a notch about (-5, 0).
inline SnapshotMessage message() {
  SnapshotMessage m;
  m.info.header = {{101, 0}, "odom"};
  m.info.footprint = "default";
  m.footprints = {square("default", 0.5), square("wide", 2.0)};
  m.footprint_names = {"default", "wide"};
  ObstaclesMessage still;
  still.header.stamp = {100, 0};
  still.source = "still";
  still.ids = {10};
  still.offsets = {0, 4};
  still.xy = {-1, -1, 1, -1, 1, 1, -1, 1};
  still.poses = {5, 0, 0};
  ObstaclesMessage moving;
  moving.header.stamp = {101, 0};
  moving.source = "moving";
  moving.ids = {20, 21};
  moving.kinds = {0, 1};
  moving.offsets = {0, 1, 9};
  moving.xy = {0, 5, -8, -3, -2, -3, -2, -1, -6, -1, -6, 1, -2, 1, -2, 3, -8, 3};
  moving.radius = {1.0, 0.0};
  moving.velocities = {0, -1, 0, 0, 0, 0};
  m.senders.resize(2);
  m.senders[0].age_limit.source = "a";
  m.senders[1].age_limit.source = "b";
  m.senders[0].obstacles = still;
  m.senders[1].obstacles = moving;
  for (SenderMessage& each : m.senders) {
    each.age_limit.stamp = each.obstacles.header.stamp;
    each.age_limit.timeout = 0.5;
  }
  m.time_zero = {100, 0};
  return m;
}

}  // namespace gjk::messages
