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
  refuse(detail::check_increasing_times(at, at));
  checked_tolerance(tolerance);
}

PathOptions path_options(double margin, double tolerance, bool has_distance, double time_error) {
  return {.margin = checked_radius(margin, "margin"),
          .tolerance = checked_tolerance(tolerance),
          .time_error = time_error,
          .has_distance = has_distance};
}

// The worst verdict. Then arrays with one row per path: first invalid segments, valid fractions,
// times of the first collision, obstacles, verdicts, statuses, distances and lower bounds.
py::tuple path_arrays(const std::vector<PathResult>& results) {
  const std::size_t count = results.size();
  const AnswerArrays arrays(count, {});
  py::array_t<std::int64_t> segments(AnswerArrays::rows(count));
  py::array_t<std::int64_t> obstacles(AnswerArrays::rows(count));
  py::array_t<double> fractions(AnswerArrays::rows(count));
  py::array_t<double> times(AnswerArrays::rows(count));
  for (std::size_t k = 0; k < count; ++k) {
    const PathResult& r = results[k];
    segments.mutable_data()[k] = r.first_invalid_segment;
    obstacles.mutable_data()[k] = r.obstacle;
    fractions.mutable_data()[k] = r.last_valid_fraction;
    times.mutable_data()[k] = r.first_collision_time;
    arrays.put(k, {r.verdict, r.status, r.distance.upper, r.distance.lower, {}, {}, {}});
  }
  return py::make_tuple(static_cast<int>(arrays.summary().worst), segments, fractions, times,
                        obstacles, arrays.verdicts, arrays.statuses, arrays.distances,
                        arrays.lower_bounds);
}

// See Trajectories.
py::tuple check_paths_of(const Scene& scene, const Shape& shape, const Doubles& poses,
                         const Doubles& times, std::size_t paths, double margin, double tolerance,
                         bool has_distance, unsigned threads, double time_error) {
  const Trajectories ways(poses, times, paths);
  const PathOptions options = path_options(margin, tolerance, has_distance, time_error);
  std::vector<PathResult> results(paths);
  {
    const py::gil_scoped_release release;
    check_paths(scene, shape, ways.poses, ways.times, options, results, threads);
  }
  return path_arrays(results);
}

// Curve k has the arcs first[k] to first[k + 1] - 1. `times` is empty, or has the times of the
// start and of the end of each arc, of one curve after the other.
py::tuple check_curves_of(const Scene& scene, const Shape& shape, const Doubles& starts,
                          const Array<std::uint64_t>& first, const Doubles& arcs,
                          const Doubles& times, double margin, double tolerance, bool has_distance,
                          unsigned threads, double time_error) {
  const std::size_t count = length(starts) / 3;
  const std::span<const Pose> placed = checked_in_place(starts, count, "start");
  const std::span<const double> at = checked_times(times, length(times), "times");
  const std::span<const Arc> ways = arc_rows(arcs);
  refuse(detail::check_fit(placed, view(first), ways, at, count));
  const PathOptions options = path_options(margin, tolerance, has_distance, time_error);
  std::vector<PathResult> results(count);
  {
    const py::gil_scoped_release release;
    check_paths(scene, shape, placed, view(first), ways, at, options, results, threads);
  }
  return path_arrays(results);
}

}  // namespace

void bind_path(py::class_<Scene>& scene) {
  scene.def_static("check_way", &check_way, py::arg("times"), py::arg("tolerance"));
  scene.def("check_paths", &check_paths_of, py::arg("shape"), py::arg("poses"), py::arg("times"),
            py::arg("paths"), py::arg("margin"), py::arg("tolerance"), py::arg("has_distance"),
            py::arg("threads"), py::arg("time_error"));
  scene.def("check_curves", &check_curves_of, py::arg("shape"), py::arg("starts"), py::arg("first"),
            py::arg("arcs"), py::arg("times"), py::arg("margin"), py::arg("tolerance"),
            py::arg("has_distance"), py::arg("threads"), py::arg("time_error"));
}

}  // namespace gjk::bindings
