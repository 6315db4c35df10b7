// SPDX-FileCopyrightText: gjk_collision contributors
// SPDX-License-Identifier: Apache-2.0
// Checks of a path through a scene, also between its poses.
#include "gjk/scene/path.hpp"

#include <pybind11/stl.h>

#include "bindings.hpp"

namespace gjk::bindings {
namespace {

PathOptions path_options(double margin, double tolerance, bool has_distance, double time_error) {
  return {.margin = checked_radius(margin, "margin"),
          .tolerance = checked_tolerance(tolerance),
          .time_error = time_error,
          .has_distance = has_distance};
}

// Arrays with one value per path by the names of PathResult::fields, and the worst verdict.
py::dict answer_of(const std::vector<PathResult>& results) {
  py::dict out;
  PathResult::fields([&](const char* name, auto of) { out[name] = column(results, of); });
  const auto most = std::ranges::max_element(
      results, {}, [](const PathResult& r) { return severity(r.verdict); });
  const Verdict worst = most == results.end() ? Verdict::unknown : most->verdict;
  out["verdict"] = static_cast<int>(worst);
  return out;
}

// See Trajectories.
py::dict check_paths_of(const Scene& scene, const Shape& shape, const Doubles& poses,
                        const Doubles& times, std::size_t paths, double margin, double tolerance,
                        bool has_distance, unsigned threads, double time_error) {
  const Trajectories ways(poses, times, paths);
  const PathOptions options = path_options(margin, tolerance, has_distance, time_error);
  std::vector<PathResult> results(paths);
  without_gil(
      [&] { check_paths(scene, shape, ways.poses, ways.times, options, results, threads); });
  return answer_of(results);
}

// One path, which is checked at its poses only.
py::dict check_stops_of(const Scene& scene, const Shape& shape, const Doubles& poses,
                        const Doubles& times, double margin, double tolerance) {
  const Trajectories way(poses, times, 1);
  const PathOptions options = path_options(margin, tolerance, true, 0.0);
  std::vector<PoseResult> found(way.poses.size());
  without_gil([&] {
    scene.check(shape, way.poses, way.times, {.margin = options.margin, .mode = Mode::distance},
                found);
  });
  return answer_of({path_of(found, way.times)});
}

// Curve k has the arcs first[k] to first[k + 1] - 1. `times` is empty, or has the times of the
// start and of the end of each arc, of one curve after the other.
py::dict check_curves_of(const Scene& scene, const Shape& shape, const Doubles& starts,
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
  without_gil(
      [&] { check_paths(scene, shape, placed, view(first), ways, at, options, results, threads); });
  return answer_of(results);
}

}  // namespace

void bind_path(py::class_<Scene>& scene) {
  scene.def("check_stops", &check_stops_of, "shape"_a, "poses"_a, "times"_a, "margin"_a,
            "tolerance"_a);
  scene.def("check_paths", &check_paths_of, "shape"_a, "poses"_a, "times"_a, "paths"_a, "margin"_a,
            "tolerance"_a, "has_distance"_a, "threads"_a, "time_error"_a = 0.0);
  scene.def("check_curves", &check_curves_of, "shape"_a, "starts"_a, "first"_a, "arcs"_a, "times"_a,
            "margin"_a, "tolerance"_a, "has_distance"_a, "threads"_a, "time_error"_a);
}

}  // namespace gjk::bindings
