// SPDX-FileCopyrightText: gjk_collision contributors
// SPDX-License-Identifier: Apache-2.0
// What a query answers. The numbers are those of msg/Verdict.msg; zero is never free.
#pragma once

#include <cstdint>

namespace gjk {

enum class Verdict : std::uint8_t {
  unknown = 0,
  free = 1,
  collision = 2,
  margin = 3,  // 0 < distance <= margin; not free
};

enum class Status : std::uint16_t {
  undefined = 0,
  success = 1,
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
  iteration_limit = 50,
  numeric_failure = 51,
  time_budget = 52,
};

// A distance and its certificate: lower <= true distance <= upper, both in metres.
struct Bounds {
  double lower = 0.0;
  double upper = 0.0;
};

}  // namespace gjk
