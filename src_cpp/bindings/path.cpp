// SPDX-FileCopyrightText: gjk_collision contributors
// SPDX-License-Identifier: Apache-2.0
// Checks of a path through a scene, also between its poses.
#include "gjk/scene/path.hpp"

#include <pybind11/stl.h>

#include "answers.hpp"

namespace gjk::bindings {
namespace {

// Refuses invalid times or an invalid tolerance of a path. Python calls this for a path that is
// checked only at its poses.
void check_way(const Doubles& times, double tolerance) {
  const std::span<const double> at = checked_times(times, length(times), "times");
  check_increasing(at, "times", at);
  checked_tolerance(tolerance);
}

py::dict check_path_of(const Scene& scene, const Shape& shape, const Doubles& poses,
                       const Doubles& times, double margin, double tolerance) {
  const std::size_t count = length(poses) / 3;
  const std::vector<Pose> placed = checked_poses(poses, count, "poses");
  const std::span<const double> at = checked_times(times, count, "times");
  check_way(times, tolerance);
  const PathOptions options{checked_radius(margin, "margin"), tolerance};
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

// Returns times of first contact, distances, lower bounds, obstacles, verdicts and statuses.
py::tuple first_contact(const Scene& scene, const Shape& shape, const Doubles& poses,
                        const Doubles& times, std::size_t trajectories, double tolerance,
                        unsigned threads) {
  const std::size_t count = length(poses) / 3;
  const std::size_t steps = trajectories > 0 ? count / trajectories : 0;
  if (steps == 0 || count != steps * trajectories ||
      (length(times) != steps && length(times) != count)) {
    refuse(Status::array_mismatch, "poses, times", -1,
           "must have the lengths of whole trajectories");
  }
  const std::vector<Pose> placed = checked_poses(poses, count, "poses");
  const std::span<const double> at = checked_times(times, length(times), "times");
  for (std::size_t begin = 0; begin < at.size(); begin += steps) {
    const std::span<const double> own = at.subspan(begin, steps);
    check_increasing(own, "times", own, begin);
  }
  const PathOptions options{.tolerance = checked_tolerance(tolerance)};
  std::vector<PathResult> results(trajectories);
  {
    const py::gil_scoped_release release;
    check_paths(scene, shape, placed, at, options, results, threads);
  }
  const AnswerArrays arrays(trajectories, {});
  py::array_t<double> contacts(AnswerArrays::rows(trajectories));
  py::array_t<std::int64_t> obstacles(AnswerArrays::rows(trajectories));
  for (std::size_t k = 0; k < trajectories; ++k) {
    const PathResult& r = results[k];
    contacts.mutable_data()[k] = r.first_collision_time;
    obstacles.mutable_data()[k] = r.obstacle;
    arrays.put(k, {r.verdict, r.status, r.distance.upper, r.distance.lower, {}, {}, {}});
  }
  return py::make_tuple(contacts, arrays.distances, arrays.lower_bounds, obstacles, arrays.verdicts,
                        arrays.statuses);
}

}  // namespace

void bind_path(py::class_<Scene>& scene) {
  scene.def_static("check_way", &check_way, py::arg("times"), py::arg("tolerance"));
  scene.def("check_path", &check_path_of, py::arg("shape"), py::arg("poses"), py::arg("times"),
            py::arg("margin"), py::arg("tolerance"));
  scene.def("first_contact", &first_contact, py::arg("shape"), py::arg("poses"), py::arg("times"),
            py::arg("trajectories"), py::arg("tolerance"), py::arg("threads"));
}

}  // namespace gjk::bindings
