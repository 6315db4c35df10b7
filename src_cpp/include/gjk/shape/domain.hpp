// SPDX-FileCopyrightText: gjk_collision contributors
// SPDX-License-Identifier: Apache-2.0
// Checks that poses and times are in the domain of the kernel, and the texts of refused numbers.
#pragma once

#include <charconv>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <span>
#include <string>

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
inline std::string got(std::integral auto value) { return " (got " + std::to_string(value) + ")"; }
inline std::string got(const Pose& pose) {
  return " (got (" + text_of(pose.x) + ", " + text_of(pose.y) + ", " + text_of(pose.yaw) + "))";
}

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
    return Issue{status, argument, index, rule + got(pose)};
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

// Flat poses in place.
inline std::span<const Pose> pose_rows(std::span<const double> flat) noexcept {
  static_assert(sizeof(Pose) == 3 * sizeof(double));
  return {reinterpret_cast<const Pose*>(flat.data()), flat.size() / 3};
}

// `step`: of the index of an issue from pose to pose.
inline Issue check_poses_in_domain(std::span<const Pose> poses, const char* argument = "poses",
                                   long step = 1) {
  for (std::size_t i = 0; i < poses.size(); ++i) {
    if (is_in_domain(poses[i])) continue;
    return check_in_domain(poses[i], argument, step * static_cast<long>(i));
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

// An array with `width` values for each of `count` items, or an empty one.
inline Issue check_length(std::size_t size, std::size_t count, std::size_t width, const char* name,
                          const std::string& of, const char* items = "") {
  if (size == 0 || size == width * count) return {};
  return refusal(
      name, Status::array_mismatch,
      "must be empty or hold " + of + " for each of " + std::to_string(count) + items + got(size));
}

// Radii or margins: none, or one for each of `count` obstacles. `per`: the rest of their unit.
inline Issue check_lengths(std::span<const double> values, std::size_t count, const char* name,
                           const char* per = "") {
  Issue issue = check_length(values.size(), count, 1, name, "one value", " obstacles");
  for (std::size_t i = 0; !issue && i < values.size(); ++i) {
    issue = check_radius(values[i], name, static_cast<long>(i), per);
  }
  return issue;
}

// Flat poses, one for each of `count`. An index counts poses.
inline Issue check_flat_poses(std::span<const double> poses, std::size_t count, const char* name) {
  if (poses.size() == 3 * count) return check_poses_in_domain(pose_rows(poses), name);
  return refusal(
      name, Status::array_mismatch,
      "must hold 3 values (x, y, yaw) for each of " + std::to_string(count) + got(poses.size()));
}

// Times that may be none, or one for each of `count`.
inline Issue check_times(std::span<const double> times, std::size_t count,
                         const char* argument = "times") {
  return first_of({check_length(times.size(), count, 1, argument, "one time"),
                   check_times_in_domain(times, argument)});
}

// Times on the scene's clock that do not increase strictly. The message shows the value in `given`,
// the times of the request. `row`: the times are rows of this length, each of which increases.
inline Issue check_increasing_times(std::span<const double> times, std::span<const double> given,
                                    const char* argument = "times", std::size_t row = 0) {
  for (std::size_t i = 1; i < times.size(); ++i) {
    if (times[i] > times[i - 1] || (row > 0 && i % row == 0)) continue;
    return {Status::invalid_input, argument, static_cast<long>(i),
            "must increase strictly" + got(given[i])};
  }
  return {};
}

// A number from `least` to `most`, as `rule` says.
inline Issue check_within(double value, const char* argument, double least, double most,
                          const char* rule) {
  return value >= least && value <= most ? Issue{} : refusal(argument, rule + got(value));
}

// A number greater than 0. `limit`: the limit with its unit.
inline Issue check_positive(double value, const char* argument, double most, const char* limit) {
  if (value > 0.0 && value <= most) return {};
  return refusal(argument, std::string("must be greater than 0 and at most ") + limit + got(value));
}

// m. Of the certified checks of a motion.
inline Issue check_tolerance(double tolerance) {
  return check_positive(tolerance, "tolerance", kMaxCoordinate, "1e15 m");
}

// s. An error bound or a horizon.
inline Issue check_duration(double value, const char* argument) {
  return check_within(value, argument, 0.0, kMaxTime, "must lie in [0, 1e10] s");
}

}  // namespace detail
}  // namespace gjk
