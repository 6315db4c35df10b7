// SPDX-FileCopyrightText: gjk_collision contributors
// SPDX-License-Identifier: Apache-2.0
// The nearest free pose.
#include "gjk/scene/nearest_free.hpp"

#include <pybind11/stl.h>

#include <chrono>
#include <cmath>

#include "bindings.hpp"

namespace gjk::bindings {
namespace {

double checked_limit(double value, const char* argument, double most, const char* rule) {
  if (!(value >= 0.0 && value <= most)) {
    refuse(Status::invalid_input, argument, -1, rule + got(value));
  }
  return value;
}

// Returns x, y and yaw, or None. `seconds`: the longest duration of the search; None: no limit.
py::object nearest_free(const Scene& scene, const Shape& shape, const PoseValues& pose,
                        double max_shift, double max_turn, double margin,
                        const std::optional<double>& time, double tolerance,
                        const std::optional<double>& seconds) {
  const Pose start = checked_pose(pose.data(), "pose", -1);
  NearestFreeOptions options;
  options.max_shift =
      checked_limit(max_shift, "max_shift", kMaxCoordinate, "must lie in [0, 1e15] m");
  options.max_turn = checked_limit(max_turn, "max_turn", kMaxYaw, "must lie in [0, 1e6] rad");
  options.margin = checked_radius(margin, "margin");
  options.tolerance = checked_tolerance(tolerance);
  if (time) checked_time(*time, "time", -1);
  if (seconds) {
    using Clock = std::chrono::steady_clock;
    const std::chrono::duration<double> most(std::fmin(*seconds, 1e6));
    options.deadline = Clock::now() + std::chrono::duration_cast<Clock::duration>(most);
  }
  NearestFree found;
  {
    const py::gil_scoped_release release;
    NearestFreeQuery query(scene, shape);
    found = time ? query.at(start, *time, options) : query.at(start, options);
  }
  if (found.status == Status::time_budget) {
    refuse(found.status, "max_shift", -1,
           "the search took longer than allowed: use a smaller max_shift or a larger tolerance" +
               got(max_shift));
  }
  refuse_unknown(scene, shape, start, time, margin, found.status);
  if (!found.pose) return py::none();
  return py::make_tuple(found.pose->x, found.pose->y, found.pose->yaw);
}

}  // namespace

void bind_nearest_free(py::class_<Scene>& scene) {
  scene.def("nearest_free", &nearest_free, "shape"_a, "pose"_a, "max_shift"_a, "max_turn"_a,
            "margin"_a, "time"_a, "tolerance"_a, "seconds"_a = py::none());
}

}  // namespace gjk::bindings
