// SPDX-FileCopyrightText: gjk_collision contributors
// SPDX-License-Identifier: Apache-2.0
// Checks of a path through a scene, also between its poses.
#include "gjk/scene/path.hpp"

#include <pybind11/stl.h>

#include "bindings.hpp"

namespace gjk::bindings {
namespace {

// Refuses invalid times or an invalid tolerance of a path. Python calls this for a path that is
// checked only at its poses.
void check_way(const Doubles& times, double tolerance) {
  const std::span<const double> at = checked_times(times, length(times), "times");
  for (std::size_t i = 1; i < at.size(); ++i) {
    if (!(at[i] > at[i - 1])) {
      refuse(Status::invalid_input, "times", static_cast<long>(i), "must increase strictly");
    }
  }
  if (!(tolerance > 0.0 && tolerance <= kMaxCoordinate)) {
    refuse(Status::invalid_input, "tolerance", -1, "must be greater than 0 and finite");
  }
}

py::dict check_path_of(const Scene& scene, const Shape& shape, const Doubles& poses,
                       const Doubles& times, double margin, double tolerance) {
  const std::size_t count = length(poses) / 3;
  const std::vector<Pose> placed = checked_poses(poses, count, "poses");
  const std::span<const double> at = checked_times(times, count, "times");
  check_way(times, tolerance);
  const PathOptions options{checked_margin(margin), tolerance};
  PathResult result;
  {
    const py::gil_scoped_release release;
    result = check_path(scene, shape, placed, at, options);
  }
  py::dict out;
  out["verdict"] = static_cast<int>(result.verdict);
  out["status"] = static_cast<int>(result.status);
  out["first_invalid_segment"] = result.first_invalid_segment;
  out["last_valid_fraction"] = result.last_valid_fraction;
  out["first_collision_time"] = result.first_collision_time;
  out["obstacle"] = result.obstacle;
  out["min_distance"] = result.distance.upper;
  out["min_distance_lower_bound"] = result.distance.lower;
  return out;
}

}  // namespace

void bind_path(py::class_<Scene>& scene) {
  scene.def_static("check_way", &check_way, py::arg("times"), py::arg("tolerance"));
  scene.def("check_path", &check_path_of, py::arg("shape"), py::arg("poses"), py::arg("times"),
            py::arg("margin"), py::arg("tolerance"));
}

}  // namespace gjk::bindings
