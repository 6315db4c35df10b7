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

// The shortest text from which the same number is read.
inline std::string text_of(double value) {
  char buffer[32];
  const auto written = std::to_chars(buffer, buffer + sizeof buffer, value);
  return std::isnan(value) ? "nan" : std::string(buffer, written.ptr);
}

// The end of a message.
inline std::string got(double value) { return " (got " + text_of(value) + ")"; }

// A radius or a margin (m). `per`: the rest of the unit.
inline Issue check_radius(double radius, const char* argument, long index = -1,
                          const char* per = "") {
  const auto fail = [&](Status status, const std::string& rule) {
    return Issue{status, argument, index, rule + got(radius)};
  };
  if (!std::isfinite(radius)) return fail(Status::non_finite, "must be finite");
  if (radius < 0.0) return fail(Status::invalid_input, "must not be negative");
  if (radius > kMaxCoordinate) {
    return fail(Status::coord_range, std::string("must not exceed 1e15 m") + per);
  }
  return {};
}

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

inline Issue check_poses_in_domain(std::span<const Pose> poses, const char* argument = "poses") {
  for (std::size_t i = 0; i < poses.size(); ++i) {
    if (!is_in_domain(poses[i])) return check_in_domain(poses[i], argument, static_cast<long>(i));
  }
  return {};
}

// A number whose magnitude is limited. `limit_text`: the limit with its unit.
inline Issue check_number(double value, const char* argument, long index, double limit,
                          const char* limit_text) {
  if (std::fabs(value) <= limit) return {};
  const bool finite = std::isfinite(value);
  return {finite ? Status::coord_range : Status::non_finite, argument, index,
          (finite ? std::string("magnitude must not exceed ") + limit_text : "must be finite") +
              got(value)};
}

inline Issue check_time(double time, const char* argument, long index) {
  return check_number(time, argument, index, kMaxTime, "1e10 s");
}
inline Issue check_times_in_domain(std::span<const double> times, const char* argument = "times") {
  for (std::size_t i = 0; i < times.size(); ++i) {
    if (Issue issue = check_time(times[i], argument, static_cast<long>(i))) return issue;
  }
  return {};
}

// The same for times that may be none, or one for each of `count`.
inline Issue check_times(std::span<const double> times, std::size_t count,
                         const char* argument = "times") {
  if (times.empty() || times.size() == count) return check_times_in_domain(times, argument);
  return {Status::array_mismatch, argument, -1,
          "must be empty or hold one time for each of " + std::to_string(count) + " (got " +
              std::to_string(times.size()) + ")"};
}

// Times on the scene's clock that do not increase strictly. The message shows the value in `given`,
// the times of the request. `first`: the index of times[0] in the argument.
inline Issue check_increasing_times(std::span<const double> times, std::span<const double> given,
                                    const char* argument = "times", std::size_t first = 0) {
  for (std::size_t i = 1; i < times.size(); ++i) {
    if (!(times[i] > times[i - 1])) {
      return {Status::invalid_input, argument, static_cast<long>(first + i),
              "must increase strictly" + got(given[i])};
    }
  }
  return {};
}

// m. Of the certified checks of a motion.
inline Issue check_tolerance(double tolerance) {
  if (tolerance > 0.0 && tolerance <= kMaxCoordinate) return {};
  return {Status::invalid_input, "tolerance", -1,
          "must be greater than 0 and at most 1e15 m" + got(tolerance)};
}

// s. An error bound or a horizon.
inline Issue check_duration(double value, const char* argument) {
  if (value >= 0.0 && value <= kMaxTime) return {};
  return {Status::invalid_input, argument, -1, "must lie in [0, 1e10] s" + got(value)};
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
