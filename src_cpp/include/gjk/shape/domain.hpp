// SPDX-FileCopyrightText: gjk_collision contributors
// SPDX-License-Identifier: Apache-2.0
// Checks that poses and times are in the domain of the kernel, and the texts of refused numbers.
#pragma once

#include <charconv>
#include <cmath>
#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "gjk/shape/pose.hpp"
#include "gjk/shape/shape.hpp"
#include "gjk/verdict.hpp"

namespace gjk {

// Maximum magnitude of a time on the scene's clock (s). Seconds since 1970 are within it.
inline constexpr double kMaxTime = 1e10;

// The shortest text from which the same number is read.
inline std::string text_of(double value) {
  char buffer[32];
  const auto written = std::to_chars(buffer, buffer + sizeof buffer, value);
  return std::isnan(value) ? "nan" : std::string(buffer, written.ptr);
}

// The end of a message.
inline std::string got(double value) { return " (got " + text_of(value) + ")"; }

namespace detail {

inline Issue check_finite(const char* name, std::span<const double> values) {
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (!std::isfinite(values[i])) {
      return {Status::non_finite, name, static_cast<long>(i), "must be finite" + got(values[i])};
    }
  }
  return {};
}

// A pose in the domain of the kernel. `index`: as in the message, or -1.
inline Issue check_in_domain(const Pose& pose, const char* argument, long index) {
  const auto fail = [&](Status status, const char* rule) {
    return Issue{status, argument, index,
                 std::string(rule) + " (got (" + text_of(pose.x) + ", " + text_of(pose.y) + ", " +
                     text_of(pose.yaw) + "))"};
  };
  if (!std::isfinite(pose.x) || !std::isfinite(pose.y) || !std::isfinite(pose.yaw)) {
    return fail(Status::non_finite, "x, y and yaw must be finite");
  }
  if (std::fabs(pose.x) > kMaxCoordinate || std::fabs(pose.y) > kMaxCoordinate) {
    return fail(Status::coord_range, "magnitude of x and y must not exceed 1e15 m");
  }
  if (std::fabs(pose.yaw) > kMaxYaw) {
    return fail(Status::coord_range, "magnitude of yaw must not exceed 1e6 rad");
  }
  return {};
}

inline Issue check_times_in_domain(std::span<const double> times) {
  for (std::size_t i = 0; i < times.size(); ++i) {
    if (!(std::fabs(times[i]) <= kMaxTime)) {
      const bool finite = std::isfinite(times[i]);
      return {finite ? Status::coord_range : Status::non_finite, "times", static_cast<long>(i),
              (finite ? "magnitude must not exceed 1e10 s" : "must be finite") + got(times[i])};
    }
  }
  return {};
}

// Times on the scene's clock that do not increase strictly. The message shows those of the request.
inline Issue check_increasing_times(std::span<const double> times, std::span<const double> given) {
  for (std::size_t i = 1; i < times.size(); ++i) {
    if (!(times[i] > times[i - 1])) {
      return {Status::invalid_input, "times", static_cast<long>(i),
              "must increase strictly" + got(given[i])};
    }
  }
  return {};
}

inline std::vector<Pose> poses_of(std::span<const double> flat) {
  std::vector<Pose> poses(flat.size() / 3);
  for (std::size_t i = 0; i < poses.size(); ++i) {
    poses[i] = {flat[3 * i], flat[3 * i + 1], flat[3 * i + 2]};
  }
  return poses;
}

// Flat poses. `step`: of the index of an issue from pose to pose.
inline Issue check_flat_in_domain(std::span<const double> poses, const char* name = "poses",
                                  long step = 3) {
  for (std::size_t i = 0; 3 * i + 2 < poses.size(); ++i) {
    const Pose pose{poses[3 * i], poses[3 * i + 1], poses[3 * i + 2]};
    if (!is_in_domain(pose)) return check_in_domain(pose, name, step * static_cast<long>(i));
  }
  return {};
}

}  // namespace detail
}  // namespace gjk
