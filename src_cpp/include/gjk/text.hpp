// SPDX-FileCopyrightText: gjk_collision contributors
// SPDX-License-Identifier: Apache-2.0
// Texts of messages: statuses and refused arguments.
#pragma once

#include <cmath>
#include <string>

#include "gjk/scene/checks.hpp"
#include "gjk/shape/domain.hpp"
#include "gjk/shape/shape.hpp"
#include "gjk/verdict.hpp"

namespace gjk {

// A status for a person; empty for success.
inline const char* reason(Status status) noexcept {
  switch (status) {
    case Status::undefined:
      return "undefined";
    case Status::success:
      return "";
    case Status::not_active:
      return "not active";
    case Status::no_footprint:
      return "no footprint";
    case Status::stale_footprint:
      return "stale footprint";
    case Status::no_obstacles:
      return "no obstacles";
    case Status::stale_obstacles:
      return "stale obstacles";
    case Status::future_stamp:
      return "future stamp";
    case Status::tf_unavailable:
      return "tf unavailable";
    case Status::tf_extrapolation:
      return "tf extrapolation";
    case Status::unknown_frame:
      return "unknown frame";
    case Status::clock_jump:
      return "clock jump";
    case Status::snapshot_mismatch:
      return "snapshot mismatch";
    case Status::not_seen:
      return "not seen";
    case Status::invalid_input:
      return "invalid input";
    case Status::non_finite:
      return "non finite";
    case Status::too_few_points:
      return "too few points";
    case Status::degenerate:
      return "degenerate";
    case Status::concave_rejected:
      return "concave rejected";
    case Status::coord_range:
      return "coord range";
    case Status::array_mismatch:
      return "array mismatch";
    case Status::limit_exceeded:
      return "limit exceeded";
    case Status::empty_request:
      return "empty request";
    case Status::prediction_too_short:
      return "prediction too short";
    case Status::iteration_limit:
      return "iteration limit";
    case Status::numeric_failure:
      return "numeric failure";
    case Status::time_budget:
      return "time budget";
    case Status::internal_error:
      return "internal error";
  }
  return "unknown status";
}

// The names of msg/Verdict.msg, as UNKNOWN and COORD_RANGE.
inline std::string to_string(Verdict verdict) {
  constexpr const char* kNames[] = {"UNKNOWN", "FREE", "COLLISION", "MARGIN"};
  return kNames[static_cast<int>(verdict)];
}
inline std::string to_string(Status status) {
  std::string name = status == Status::success ? "success" : reason(status);
  for (char& c : name) c = c == ' ' ? '_' : static_cast<char>(c - 'a' + 'A');
  return name;
}

// Results in one line, for logs.
inline std::string to_string(const Closest& closest) {
  return to_string(closest.status) + ": distance " + text_of(closest.distance) +
         " m, lower bound " + text_of(closest.lower_bound) + " m";
}
inline std::string to_string(Verdict verdict, Status status) {
  return to_string(verdict) + (verdict == Verdict::unknown ? ": " + to_string(status) : "");
}
inline std::string to_string(const PoseResult& result) {
  std::string text = to_string(result.verdict, result.status);
  if (result.nearest >= 0) text += ", obstacle " + std::to_string(result.nearest);
  if (!std::isnan(result.distance)) text += ", distance " + text_of(result.distance) + " m";
  return text;
}

// The text of a refused argument: "name[index]: rule".
inline std::string text_of(const Issue& issue) {
  if (!issue) return {};
  const std::string at = issue.index < 0 ? "" : "[" + std::to_string(issue.index) + "]";
  return issue.argument + at + ": " + issue.rule;
}

}  // namespace gjk
