// SPDX-FileCopyrightText: gjk_collision contributors
// SPDX-License-Identifier: Apache-2.0
// Checks of the values in a request. They return the reason of a refusal, if any.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "gjk/rules/snapshot.hpp"
#include "gjk/shape/domain.hpp"
#include "gjk/shape/expansion.hpp"
#include "gjk/shape/pose.hpp"
#include "gjk/shape/shape.hpp"
#include "gjk/text.hpp"
#include "gjk/verdict.hpp"

namespace gjk {

// Range of the tolerance of swept checks (m). A smaller one would take seconds to compute.
inline constexpr double kMinTolerance = 1e-6;
inline constexpr double kMaxTolerance = 1.0;

// Time zero of the times of a request, in ns after that of the scene's clock. `stamp` (ns): of the
// request; 0: the stamp of the snapshot.
inline std::int64_t time_zero(const Snapshot& snapshot, std::int64_t stamp) noexcept {
  return (stamp != 0 ? stamp : snapshot.stamp) - snapshot.epoch;
}

// Until what time obstacles are predicted, in s after the stamp of a request (ns; 0: the stamp of
// the snapshot). After it, new obstacles may have appeared.
inline double known_until(const Snapshot& snapshot, std::int64_t stamp) noexcept {
  return snapshot.horizon - static_cast<double>(time_zero(snapshot, stamp)) * 1e-9;
}

namespace detail {

inline Issue check_non_negative(const char* name, double value) {
  if (!std::isfinite(value))
    return refusal(name, Status::non_finite, "must be finite" + got(value));
  if (value < 0.0) return refusal(name, "must not be negative" + got(value));
  return {};
}

// Sets `total` (m) to the safety margin plus the margin of a request, rounded up.
inline Issue check_margin(const Snapshot& snapshot, double margin, double& total) {
  Issue issue = check_non_negative("margin", margin);
  if (!issue) total = rounded_up(two_sum(margin, snapshot.safety_margin));
  return issue;
}

// Sets `used` (m) to the tolerance of a request, or to that of the snapshot if it is 0.
inline Issue check_tolerance(const Snapshot& snapshot, double tolerance, double& used) {
  if (Issue issue = check_non_negative("tolerance", tolerance)) return issue;
  used = tolerance > 0.0 ? tolerance : snapshot.toi_tolerance;
  if (tolerance == 0.0 || (tolerance >= kMinTolerance && tolerance <= kMaxTolerance)) return {};
  return refusal("tolerance", "must be 1e-06 to 1 m" + got(tolerance) + ", or be 0");
}

inline Issue check_single(const Pose& pose) {
  if (std::isfinite(pose.x) && std::isfinite(pose.y) && std::isfinite(pose.yaw)) return {};
  return refusal("pose", Status::non_finite, "must be finite" + got(pose));
}

// Times of a request (s after `stamp` (ns); 0: the stamp of the snapshot) on the scene's clock (s).
// The whole seconds are added first: if the stamp is far from the data, the times cancel it, and
// the first sum is exact. The rounding error is relative to the result.
inline std::vector<double> on_clock(const Snapshot& snapshot, std::span<const double> times,
                                    std::int64_t stamp) {
  constexpr std::int64_t kSecond = 1'000'000'000;
  const std::int64_t since = time_zero(snapshot, stamp);
  std::int64_t seconds = since / kSecond;
  std::int64_t rest = since % kSecond;
  if (rest < 0) {
    --seconds;
    rest += kSecond;
  }
  const double fraction = static_cast<double>(rest) * 1e-9;
  std::vector<double> moved(times.begin(), times.end());
  for (double& time : moved) time = (time + static_cast<double>(seconds)) + fraction;
  return moved;
}

// An error bound of a pose (m). An infinite one is refused as a footprint that is too large.
inline Issue check_error(double error, const char* argument, long index) {
  if (error >= 0.0) return {};
  return {std::isnan(error) ? Status::non_finite : Status::invalid_input, argument, index,
          "must not be negative or NaN" + got(error)};
}

inline Issue check_errors(std::span<const double> errors, std::size_t count) {
  if (!errors.empty() && errors.size() != count) {
    return refusal("errors", Status::array_mismatch, "must be empty or have one value per pose");
  }
  for (std::size_t i = 0; i < errors.size(); ++i) {
    if (Issue issue = check_error(errors[i], "errors", static_cast<long>(i))) return issue;
  }
  return {};
}

}  // namespace detail

// Checks flat poses (x, y, yaw) and their times (one per pose, or none). The number of poses is
// checked first.
inline Issue check_batch(std::span<const double> poses, std::span<const double> times,
                         std::size_t limit) {
  const std::size_t count = poses.size() / 3;
  if (count > limit) {
    return refusal("poses", Status::limit_exceeded,
                   std::to_string(count) + " poses, limit " + std::to_string(limit));
  }
  if (poses.size() % 3 != 0) {
    return refusal(
        "poses", Status::array_mismatch,
        "must have 3 values per pose, x y yaw (got " + std::to_string(poses.size()) + " values)");
  }
  if (count == 0) return refusal("poses", Status::empty_request, "must have at least one pose");
  if (!times.empty() && times.size() != count) {
    return refusal("times", Status::array_mismatch,
                   "must be empty or have " + std::to_string(count) + " values, one per pose" +
                       got(times.size()));
  }
  return first_of({detail::check_finite("poses", poses), detail::check_finite("times", times)});
}

}  // namespace gjk
