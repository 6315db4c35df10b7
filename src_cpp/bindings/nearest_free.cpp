// SPDX-FileCopyrightText: gjk_collision contributors
// SPDX-License-Identifier: Apache-2.0
// The nearest free pose.
#include "gjk/scene/nearest_free.hpp"

#include <pybind11/stl.h>

#include <cmath>

#include "bindings.hpp"

namespace gjk::bindings {
namespace {

// Returns x, y and yaw, or None. `seconds`: the longest duration of the search; None: no limit.
py::object nearest_free(const Scene& scene, const Shape& shape, const PoseValues& pose,
                        double max_shift, double max_turn, double margin,
                        const std::optional<double>& time, double tolerance,
                        const std::optional<double>& seconds) {
  const Pose start = checked_pose(pose.data(), "pose", -1);
  refuse(detail::check_max_shift(max_shift));
  refuse(detail::check_max_turn(max_turn));
  NearestFreeOptions options;
  options.max_shift = max_shift;
  options.max_turn = max_turn;
  options.margin = checked_radius(margin, "margin");
  options.tolerance = checked_tolerance(tolerance);
  if (time) checked_time(*time, "time", -1);
  if (seconds) options.max_time = *seconds;
  NearestFree found;
  without_gil([&] {
    NearestFreeQuery query(scene, shape);
    found = time ? query.at(start, *time, options) : query.at(start, options);
  });
  if (found.status == Status::time_budget) {
    refuse("max_shift", found.status,
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
