// SPDX-FileCopyrightText: gjk_collision contributors
// SPDX-License-Identifier: Apache-2.0
// Result types of the queries. The numbers are those of msg/Verdict.msg. A value that was never set
// is 0, which is never FREE.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "gjk/shape/vec2.hpp"

namespace gjk {

enum class Verdict : std::uint8_t {
  unknown = 0,
  free = 1,
  collision = 2,
  margin = 3,  // 0 < distance <= margin; not free
};

constexpr bool is_free(Verdict verdict) noexcept { return verdict == Verdict::free; }

// The statuses of msg/Verdict.msg.
enum class Status : std::uint16_t {
  undefined = 0,
  success = 1,
  // State of the server or of its data; the kernel does not return these.
  not_active = 10,
  no_footprint = 11,
  stale_footprint = 12,
  no_obstacles = 13,
  stale_obstacles = 14,
  future_stamp = 15,
  tf_unavailable = 16,
  tf_extrapolation = 17,
  unknown_frame = 18,
  clock_jump = 19,
  snapshot_mismatch = 20,
  not_seen = 21,  // a part of the space that the shape needs; the kernel returns it, too
  // Invalid input
  invalid_input = 30,
  non_finite = 31,
  too_few_points = 32,
  degenerate = 33,
  concave_rejected = 34,
  coord_range = 35,
  array_mismatch = 36,
  limit_exceeded = 37,
  empty_request = 38,
  prediction_too_short = 40,
  // Computation
  iteration_limit = 50,
  numeric_failure = 51,
  time_budget = 52,
  internal_error = 99,
};

// By verdict: COLLISION > UNKNOWN > MARGIN > FREE
inline constexpr std::array kSeverities{2, 0, 3, 1};
constexpr int severity(Verdict v) noexcept { return kSeverities[static_cast<std::size_t>(v)]; }

// Certified bounds (m): lower <= true distance <= upper.
struct Bounds {
  double lower = 0.0;
  double upper = 0.0;
};

// A vertex (first == second) or an edge of a shape, by vertex index.
struct Feature {
  int first = 0;
  int second = 0;
};

struct Closest {
  Status status = Status::undefined;  // success, or numeric_failure for input outside the domain
  double distance = 0.0;              // m, signed, an upper bound; negative: penetration depth
  double lower_bound = 0.0;           // m, certified lower bound on the true distance
  Vec2 point_a;                       // m, witness points; point_b = point_a + distance * direction
  Vec2 point_b;
  Vec2 direction{1.0, 0.0};  // unit vector from a to b, defined at contact too
  Feature feature_a;         // closest vertex or edge of each polygon
  Feature feature_b;
  int iterations = 0;
};

}  // namespace gjk
