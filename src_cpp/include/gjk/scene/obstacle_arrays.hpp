// SPDX-FileCopyrightText: gjk_collision contributors
// SPDX-License-Identifier: Apache-2.0
// Obstacles as flat arrays, in the layout of msg/ObstacleArray: the checks of the arrays, and the
// obstacles of a scene that are made of them. Library, server and mirrors use these functions.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "gjk/arithmetic.hpp"
#include "gjk/motion/prediction.hpp"
#include "gjk/scene/region.hpp"
#include "gjk/scene/scene.hpp"
#include "gjk/shape/domain.hpp"
#include "gjk/shape/hull.hpp"
#include "gjk/shape/pose.hpp"
#include "gjk/shape/shape.hpp"
#include "gjk/shape/vec2.hpp"
#include "gjk/verdict.hpp"

namespace gjk {

// Reported motions and margins of obstacles. Each array may be empty.
struct ReportedArrays {
  std::span<const double> velocities{};  // vx, vy (m/s), wz (rad/s) per obstacle; NaN: unknown
  std::span<const double> stamps{};      // s, one per obstacle
  // Obstacle i has the times and poses path_offsets[i] to path_offsets[i + 1] - 1.
  std::span<const std::uint32_t> path_offsets{};
  std::span<const double> path_times{};    // s after the stamp
  std::span<const double> path_poses{};    // x, y (m), yaw (rad) per time
  std::span<const double> margins{};       // m, one per obstacle
  std::span<const double> margin_rates{};  // m/s, one per obstacle
  // s, begin and end per obstacle, on the clock of the stamps; NaN: not limited on that side
  std::span<const double> lifetimes{};
};

struct ObstacleArrays {
  std::span<const std::uint32_t> offsets{};  // obstacle i has the points offsets[i] to ...[i + 1]
  std::span<const double> xy{};              // x, y (m) per point
  std::span<const std::uint8_t> kinds{};     // 0: convex, 1: concave; empty: all 0
  std::span<const double> radius{};          // m, one per obstacle; empty: all 0
  std::span<const double> poses{};           // x, y (m), yaw (rad) per obstacle; empty: all 0
  ReportedArrays reported{};

  std::size_t size() const noexcept { return offsets.empty() ? 0 : offsets.size() - 1; }

  // The arrays of a message. It must outlive them.
  template <class Message>
  static ObstacleArrays of(const Message& message) {
    return {message.offsets,
            message.xy,
            message.kinds,
            message.radius,
            message.poses,
            {message.velocities,
             {},
             message.path_offsets,
             message.path_times,
             message.path_poses,
             message.margins,
             message.margin_rates}};
  }
};

namespace detail {

// Offsets of ranges up to `end`; there is at least one offset.
inline Issue check_offsets(std::span<const std::uint32_t> offsets, std::size_t end,
                           const char* name, const std::string& end_rule) {
  const auto fail = [&](std::size_t i, const std::string& rule) {
    return Issue{Status::array_mismatch, name, static_cast<long>(i), rule + got(offsets[i])};
  };
  if (offsets.front() != 0) return fail(0, "must start at 0");
  if (offsets.back() != end) {
    return fail(offsets.size() - 1, end_rule + ", " + std::to_string(end));
  }
  for (std::size_t i = 1; i < offsets.size(); ++i) {
    if (offsets[i] > end) return fail(i, "must not exceed " + std::to_string(end));
    if (offsets[i] < offsets[i - 1]) return fail(i, "must not decrease");
  }
  return {};
}

}  // namespace detail

inline Issue check_lifetimes(std::span<const double> lifetimes, std::size_t count) {
  if (Issue issue =
          detail::check_length(lifetimes.size(), count, 2, "lifetimes", "2 values (begin, end)")) {
    return issue;
  }
  for (std::size_t k = 0; k < lifetimes.size(); ++k) {
    const double limit = lifetimes[k];
    if (std::isnan(limit) || std::fabs(limit) <= kMaxTime) continue;
    const bool finite = std::isfinite(limit);
    return {finite ? Status::coord_range : Status::non_finite, "lifetimes",
            static_cast<long>(k / 2),
            (finite ? "magnitude must not exceed 1e10 s"
                    : "must be finite, or NaN where there is no limit") +
                got(limit)};
  }
  for (std::size_t k = 0; k < lifetimes.size(); k += 2) {
    if (!(lifetimes[k] > lifetimes[k + 1])) continue;
    return {Status::invalid_input, "lifetimes", static_cast<long>(k / 2),
            "must not end before it begins (got " + text_of(lifetimes[k]) + ", " +
                text_of(lifetimes[k + 1]) + ")"};
  }
  return {};
}

// Checks the reported motions and margins of `count` obstacles.
inline Issue check_arrays(const ReportedArrays& arrays, std::size_t count) {
  using namespace detail;
  if (Issue issue =
          check_length(arrays.velocities.size(), count, 3, "velocities", "3 values (vx, vy, wz)")) {
    return issue;
  }
  for (std::size_t i = 0; i < arrays.velocities.size(); ++i) {
    if (std::isinf(arrays.velocities[i])) {
      return {Status::non_finite, "velocities", static_cast<long>(i / 3),
              "must be finite, or NaN where not known" + got(arrays.velocities[i])};
    }
  }
  if (Issue issue = first_of({check_times(arrays.stamps, count, "stamps"),
                              check_lengths(arrays.margins, count, "margins"),
                              check_lengths(arrays.margin_rates, count, "margin_rates", "/s"),
                              check_lifetimes(arrays.lifetimes, count)})) {
    return issue;
  }
  const std::span<const double> times = arrays.path_times;
  const std::span<const std::uint32_t> ends = arrays.path_offsets;
  if (ends.empty()) {
    if (times.empty() && arrays.path_poses.empty()) return {};
    return refusal(
        "path_offsets", Status::array_mismatch,
        std::string("empty, but ") + (times.empty() ? "path_poses" : "path_times") + " is not");
  }
  if (ends.size() != count + 1) {
    return refusal(
        "path_offsets", Status::array_mismatch,
        "must be empty or hold " + std::to_string(count + 1) + " values" + got(ends.size()));
  }
  if (Issue issue = first_of({check_offsets(ends, times.size(), "path_offsets",
                                            "must end at the number of path_times"),
                              check_times_in_domain(times, "path_times")})) {
    return issue;
  }
  for (std::size_t i = 0; i < count; ++i) {
    for (std::size_t k = ends[i]; k < ends[i + 1]; ++k) {
      const bool is_first = k == ends[i];
      if (is_first ? times[k] >= 0.0 : times[k] > times[k - 1]) continue;
      return {Status::invalid_input, "path_times", static_cast<long>(k),
              (is_first ? "must not be negative" : "must increase strictly") + got(times[k])};
    }
  }
  return check_flat_poses(arrays.path_poses, times.size(), "path_poses");
}

// Checks all arrays, without building the shapes.
inline Issue check_arrays(const ObstacleArrays& arrays) {
  using namespace detail;
  const std::size_t count = arrays.size();
  if (arrays.offsets.empty() && !arrays.xy.empty()) {
    return refusal("offsets", Status::array_mismatch, "empty, but xy is not");
  }
  if (arrays.xy.size() % 2 != 0) {
    return refusal("xy", Status::array_mismatch,
                   "must hold 2 values (x, y) per point" + got(arrays.xy.size()));
  }
  if (!arrays.offsets.empty()) {
    if (Issue issue = check_offsets(arrays.offsets, arrays.xy.size() / 2, "offsets",
                                    "must end at the number of points")) {
      return issue;
    }
  }
  if (Issue issue = check_length(arrays.kinds.size(), count, 1, "kinds", "one value", " obstacles"))
    return issue;
  for (std::size_t i = 0; i < arrays.kinds.size(); ++i) {
    if (arrays.kinds[i] > 1) {
      return {Status::invalid_input, "kinds", static_cast<long>(i),
              "must be 0 (convex) or 1 (concave)" + got(arrays.kinds[i])};
    }
  }
  if (Issue issue = check_lengths(arrays.radius, count, "radius")) return issue;
  if (!arrays.poses.empty()) {
    if (Issue issue = check_flat_poses(arrays.poses, count, "poses")) return issue;
  }
  return check_arrays(arrays.reported, count);
}

// The convex parts of the points of obstacles, without their radii and poses.
class ObstacleParts {
 public:
  // `arrays` has passed check_arrays(). Sets `parts`, or returns why a shape is not valid.
  static Issue make(const ObstacleArrays& arrays, ConcavePolicy policy, ObstacleParts& parts) {
    if (Issue issue = check_coordinates(arrays.xy, "xy")) return issue;
    std::vector<Vec2> points(arrays.xy.size() / 2);
    for (std::size_t k = 0; k < points.size(); ++k) {
      points[k] = {arrays.xy[2 * k], arrays.xy[2 * k + 1]};
    }
    for (std::size_t i = 0; i < arrays.size(); ++i) {
      const std::size_t begin = arrays.offsets[i];
      const std::span<const Vec2> own =
          std::span(points).subspan(begin, arrays.offsets[i + 1] - begin);
      if (own.empty()) {
        return {Status::too_few_points, "offsets", static_cast<long>(i),
                "the obstacle has no points"};
      }
      if (arrays.kinds.empty() || arrays.kinds[i] == 0) {
        parts.rings_.push_back(convex_hull(own));
      } else if (Issue issue = outline_parts(own, policy, "xy", parts.rings_)) {
        issue.rule = "obstacle " + std::to_string(i) + ": " + issue.rule;
        if (issue.index >= 0) issue.index = 2 * (issue.index + static_cast<long>(begin));
        return issue;
      }
      parts.ends_.push_back(parts.rings_.size());
    }
    return {};
  }

  std::size_t size() const noexcept { return ends_.size() - 1; }
  Shape shape(std::size_t i, double radius) const {
    Shape shape;
    for (std::size_t k = ends_[i]; k < ends_[i + 1]; ++k) shape.add_part(rings_[k], radius);
    return shape;
  }

 private:
  std::vector<std::vector<Vec2>> rings_;
  std::vector<std::size_t> ends_{0};  // obstacle i has the rings ends_[i] to ends_[i + 1] - 1
};

// Predicted motions of obstacles, one per pose.
class PredictedMotions {
 public:
  PredictedMotions() = default;
  // `arrays` has passed check_arrays().
  PredictedMotions(const ReportedArrays& arrays, std::span<const Pose> poses,
                   const Prediction& prediction)
      : stamps_(arrays.stamps.begin(), arrays.stamps.end()) {
    const bool paths = !arrays.path_offsets.empty();
    const bool velocities = !arrays.velocities.empty();
    if (!paths && !velocities && prediction.policy != PredictionPolicy::hold) {
      return;  // no motion is known
    }
    const std::span<const Pose> path_poses = detail::pose_rows(arrays.path_poses);
    first_.push_back(0);
    for (std::size_t i = 0; i < poses.size(); ++i) {
      ReportedMotion reported;
      reported.pose = poses[i];
      if (velocities) {
        reported.velocity = {arrays.velocities[3 * i], arrays.velocities[3 * i + 1],
                             arrays.velocities[3 * i + 2]};
      }
      if (paths) {
        const std::size_t begin = arrays.path_offsets[i];
        const std::size_t size = arrays.path_offsets[i + 1] - begin;
        reported.path_times = arrays.path_times.subspan(begin, size);
        reported.path_poses = path_poses.subspan(begin, size);
      }
      append_prediction(reported, prediction, pieces_);
      first_.push_back(pieces_.size());
    }
  }

  Motion of(std::size_t i) const noexcept {
    if (first_.empty()) return {};
    return {pieces_.data() + first_[i], first_[i + 1] - first_[i]};
  }
  double stamp(std::size_t i) const noexcept { return stamps_.empty() ? 0.0 : stamps_[i]; }

 private:
  std::vector<Piece> pieces_;
  std::vector<std::size_t> first_;
  std::vector<double> stamps_;
};

// Obstacles at their poses, with their predicted motions: what one message adds to a scene.
struct PlacedObstacles {
  Obstacles obstacles;               // prepared
  std::vector<double> margins;       // m
  std::vector<double> margin_rates;  // m/s
  std::vector<double> lifetimes;     // s, as in ReportedArrays; on the clock of the message

  // `arrays` has passed check_arrays(), and `parts` is of the same points.
  PlacedObstacles(const ObstacleParts& parts, const ObstacleArrays& arrays,
                  const Prediction& prediction, unsigned threads = 1)
      : margins(arrays.reported.margins.begin(), arrays.reported.margins.end()),
        margin_rates(arrays.reported.margin_rates.begin(), arrays.reported.margin_rates.end()),
        lifetimes(arrays.reported.lifetimes.begin(), arrays.reported.lifetimes.end()) {
    margins.resize(parts.size());
    margin_rates.resize(parts.size());
    lifetimes.resize(2 * parts.size(), kNaN);
    const std::span<const Pose> given = detail::pose_rows(arrays.poses);
    std::vector<Pose> poses(given.begin(), given.end());
    poses.resize(parts.size());
    const PredictedMotions motions(arrays.reported, poses, prediction);
    obstacles.reserve(parts.size());
    for (std::size_t i = 0; i < parts.size(); ++i) {
      const Shape shape = parts.shape(i, arrays.radius.empty() ? 0.0 : arrays.radius[i]);
      obstacles.add(shape, poses[i], motions.of(i), motions.stamp(i));
    }
    obstacles.prepare(nullptr, threads);
  }
};

// Sets `region` to that of a boundary in a message: x, y of both ends of each segment, and their
// radii. Returns why there is none.
inline Issue make_region(std::span<const double> ends, std::span<const double> radii,
                         double inflation, std::shared_ptr<Region>& region) {
  const std::size_t n = radii.size();
  if (n == 0 || ends.size() != 4 * n) {
    return refusal("region_boundary", Status::array_mismatch,
                   "must have 4 values for each of region_radii");
  }
  if (Issue issue = first_of({check_coordinates(ends, "region_boundary"),
                              detail::check_lengths(radii, n, "region_radii"),
                              check_radius(inflation, "region_inflation")})) {
    return issue;
  }
  std::vector<Region::Segment> segments(n);
  for (std::size_t k = 0; k < n; ++k) {
    const double* const end = &ends[4 * k];
    segments[k] = {{end[0], end[1]}, {end[2], end[3]}, radii[k]};
    if (radii[k] < inflation) {
      return refusal("region_radii", "must include the inflation");
    }
  }
  region = std::make_shared<Region>(segments, inflation);
  return {};
}

// Sets what is not set by Scene::add(), and builds the scene. `time_error` (s): see
// Scene::set_time_error().
inline void finish(Scene& scene, std::span<const double> margins, std::span<const double> rates,
                   std::span<const double> lifetimes, std::shared_ptr<const Region> region,
                   double time_error, unsigned threads) {
  scene.set_region(std::move(region));
  scene.set_margins(margins, rates);
  scene.set_lifetimes(lifetimes);
  scene.set_time_error(time_error);
  scene.build(nullptr, threads);
}

// One scene of the obstacles of several messages, in their order. `stamps` (s): of each message,
// added to the stamps and lifetimes of its obstacles.
inline std::unique_ptr<Scene> compose(std::span<const PlacedObstacles* const> messages,
                                      std::span<const double> stamps,
                                      std::shared_ptr<const Region> region, double time_error,
                                      unsigned threads = 1) {
  std::size_t count = 0;
  std::size_t parts = 0;
  for (const PlacedObstacles* const each : messages) {
    count += each->obstacles.size();
    parts += each->obstacles.parts();
  }
  auto scene = std::make_unique<Scene>();
  scene->reserve(count, messages.size() > 1 ? parts : 0);
  std::vector<double> margins;
  std::vector<double> rates;
  std::vector<double> lifetimes;
  for (std::size_t m = 0; m < messages.size(); ++m) {
    const PlacedObstacles& own = *messages[m];
    scene->add(own.obstacles, stamps[m]);
    margins.insert(margins.end(), own.margins.begin(), own.margins.end());
    rates.insert(rates.end(), own.margin_rates.begin(), own.margin_rates.end());
    for (const double limit : own.lifetimes) lifetimes.push_back(stamps[m] + limit);
  }
  finish(*scene, margins, rates, lifetimes, std::move(region), time_error, threads);
  return scene;
}

}  // namespace gjk
