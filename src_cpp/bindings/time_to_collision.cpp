// SPDX-FileCopyrightText: gjk_collision contributors
// SPDX-License-Identifier: Apache-2.0
// Times to collision of a vehicle and obstacles that keep their present twists.
#include "gjk/scene/time_to_collision.hpp"

#include "bindings.hpp"

namespace gjk::bindings {
namespace {

std::vector<Twist> checked_twists(const Doubles& twists, std::size_t count, double horizon) {
  if (length(twists) != 3 * count) {
    refuse("twists", Status::array_mismatch,
           "must hold 3 values (vx, vy, wz) for each of " + std::to_string(count) +
               got(length(twists)));
  }
  std::vector<Twist> result(count);
  for (std::size_t i = 0; i < count; ++i) {
    const double* const v = twists.data() + 3 * i;
    const auto index = static_cast<long>(i);
    const std::tuple values(v[0], v[1], v[2]);
    if (!std::isfinite(v[0]) || !std::isfinite(v[1]) || !std::isfinite(v[2])) {
      refuse({Status::non_finite, "twists", index, "vx, vy and wz must be finite" + got(values)});
    }
    if (!(std::hypot(v[0], v[1]) * horizon <= kMaxCoordinate &&
          std::fabs(v[2]) * horizon <= kMaxYaw)) {
      refuse({Status::coord_range, "twists", index,
              "must not move by more than 1e15 m or 1e6 rad within the horizon" + got(values)});
    }
    result[i] = {v[0], v[1], v[2]};
  }
  return result;
}

// Returns times, obstacles, verdicts and statuses.
py::tuple time_to_collision_of(const Scene& scene, const Shape& shape, const Doubles& poses,
                               const Doubles& twists, const Doubles& times, double horizon,
                               double tolerance, unsigned threads) {
  const std::size_t count = length(poses) / 3;
  refuse(detail::check_positive(horizon, "horizon", kMaxTime, "1e10 s"));
  const TimeToCollisionOptions options{horizon, checked_tolerance(tolerance)};
  const std::vector<Pose> placed = checked_poses(poses, count, "poses");
  const std::vector<Twist> moving = checked_twists(twists, count, horizon);
  const std::span<const double> at = checked_times(times, count, "times");
  if (at.size() != count) refuse("times", Status::array_mismatch, "must not be empty");
  std::vector<TimeToCollision> results(count);
  without_gil(
      [&] { times_to_collision(scene, shape, placed, moving, at, options, results, threads); });
  using Found = TimeToCollision;
  return py::make_tuple(column(results, &Found::time), column(results, &Found::obstacle),
                        column(results, &Found::verdict), column(results, &Found::status));
}

}  // namespace

void bind_time_to_collision(py::class_<Scene>& scene) {
  scene.def("time_to_collision", &time_to_collision_of, "shape"_a, "poses"_a, "twists"_a, "times"_a,
            "horizon"_a, "tolerance"_a, "threads"_a);
}

}  // namespace gjk::bindings
