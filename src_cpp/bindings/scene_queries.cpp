// SPDX-FileCopyrightText: gjk_collision contributors
// SPDX-License-Identifier: Apache-2.0
// What is asked of a scene: batches of poses, and the nearest obstacles.
#include <pybind11/stl.h>

#include "bindings.hpp"

namespace gjk::bindings {
namespace {

py::dict check(const Scene& scene, const Shape& shape, const Doubles& poses, const Doubles& times,
               double margin, int mode, bool stop_at_first, unsigned threads) {
  const std::size_t count = length(poses) / 3;
  const std::vector<Pose> placed = checked_poses(poses, count, "poses");
  const std::span<const double> at = checked_times(times, count, "times");
  const CheckOptions options{checked_margin(margin), static_cast<Mode>(mode), stop_at_first};
  std::vector<PoseResult> results(count);
  {
    const py::gil_scoped_release release;
    scene.check(shape, placed, at, options, results, threads);
  }

  const auto n = static_cast<py::ssize_t>(count);
  py::array_t<std::uint8_t> verdicts(n);
  py::array_t<std::uint16_t> statuses(n);
  py::array_t<double> distances(n);
  py::array_t<double> lower_bounds(n);
  py::array_t<std::int64_t> nearest(n);
  py::array_t<double> witnesses({options.mode == Mode::witness ? n : 0, py::ssize_t{4}});
  double* witness = witnesses.mutable_data();
  for (std::size_t i = 0; i < count; ++i) {
    const PoseResult& r = results[i];
    verdicts.mutable_data()[i] = static_cast<std::uint8_t>(r.verdict);
    statuses.mutable_data()[i] = static_cast<std::uint16_t>(r.status);
    distances.mutable_data()[i] = r.distance;
    lower_bounds.mutable_data()[i] = r.lower_bound;
    nearest.mutable_data()[i] = r.nearest;
    if (options.mode != Mode::witness) continue;
    for (const double value :
         {r.witness_ego.x, r.witness_ego.y, r.witness_obstacle.x, r.witness_obstacle.y}) {
      *witness++ = value;
    }
  }
  py::dict out;
  out["verdicts"] = verdicts;
  out["statuses"] = statuses;
  out["distances"] = distances;
  out["lower_bounds"] = lower_bounds;
  out["nearest"] = nearest;
  out["witnesses"] = witnesses;
  return out;
}

py::dict nearest(const Scene& scene, const Shape& shape, const std::array<double, 3>& pose,
                 std::size_t k, double max_distance) {
  const Pose placed = checked_pose(pose.data(), "pose", -1);
  if (!(max_distance >= 0.0)) {
    refuse(Status::invalid_input, "max_distance", -1, "must not be negative or NaN");
  }
  std::vector<Nearest> found;
  {
    const py::gil_scoped_release release;
    Scene::Ego ego(shape);
    scene.nearest(ego, placed, k, max_distance, found);
  }
  const auto n = static_cast<py::ssize_t>(found.size());
  py::array_t<std::int64_t> indices(n);
  py::array_t<double> distances(n);
  py::array_t<double> lower_bounds(n);
  py::array_t<std::uint16_t> statuses(n);
  py::array_t<double> points_shape({n, py::ssize_t{2}});
  py::array_t<double> points_obstacle({n, py::ssize_t{2}});
  py::array_t<double> directions({n, py::ssize_t{2}});
  const auto put = [](py::array_t<double>& to, std::size_t i, Vec2 v) {
    to.mutable_data()[2 * i] = v.x;
    to.mutable_data()[2 * i + 1] = v.y;
  };
  for (std::size_t i = 0; i < found.size(); ++i) {
    const Closest& c = found[i].closest;
    indices.mutable_data()[i] = found[i].obstacle;
    distances.mutable_data()[i] = c.distance;
    lower_bounds.mutable_data()[i] = c.lower_bound;
    statuses.mutable_data()[i] = static_cast<std::uint16_t>(c.status);
    put(points_shape, i, c.point_a);
    put(points_obstacle, i, c.point_b);
    put(directions, i, c.direction);
  }
  py::dict out;
  out["indices"] = indices;
  out["distances"] = distances;
  out["lower_bounds"] = lower_bounds;
  out["statuses"] = statuses;
  out["witness_shape"] = points_shape;
  out["witness_obstacle"] = points_obstacle;
  out["directions"] = directions;
  return out;
}

}  // namespace

void bind_scene_queries(py::class_<Scene>& scene) {
  scene
      .def("check", &check, py::arg("shape"), py::arg("poses"), py::arg("times"), py::arg("margin"),
           py::arg("mode"), py::arg("stop_at_first"), py::arg("threads"))
      .def("nearest", &nearest, py::arg("shape"), py::arg("pose"), py::arg("k"),
           py::arg("max_distance"));
}

}  // namespace gjk::bindings
