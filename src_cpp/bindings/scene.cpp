// SPDX-FileCopyrightText: gjk_collision contributors
// SPDX-License-Identifier: Apache-2.0
// Scenes from arrays, and batches of poses.
#include <pybind11/stl.h>

#include <memory>
#include <utility>

#include "bindings.hpp"

namespace gjk::bindings {
namespace {

std::size_t length(const py::array& array) { return static_cast<std::size_t>(array.size()); }

// Every pose of a flat or (n, 3) array; `count` is how many there have to be.
std::vector<Pose> checked_poses(const Doubles& poses, std::size_t count, const char* name) {
  if (length(poses) != 3 * count) {
    refuse(Status::array_mismatch, name, -1,
           "must hold 3 values (x, y, yaw) for each of " + std::to_string(count));
  }
  std::vector<Pose> result(count);
  for (std::size_t i = 0; i < count; ++i) {
    result[i] = checked_pose(poses.data() + 3 * i, name, static_cast<long>(i));
  }
  return result;
}

std::unique_ptr<Scene> from_shapes(const std::vector<const Shape*>& shapes,
                                   const std::optional<Doubles>& poses) {
  std::vector<Pose> placed(shapes.size());
  if (poses) placed = checked_poses(*poses, shapes.size(), "poses");
  auto scene = std::make_unique<Scene>();
  scene->reserve(shapes.size());
  for (std::size_t i = 0; i < shapes.size(); ++i) scene->add(*shapes[i], placed[i]);
  scene->build();
  return scene;
}

// The CSR layout of msg/ObstacleArray: points of obstacle i are [offsets[i], offsets[i + 1]).
std::unique_ptr<Scene> from_arrays(const Array<std::uint32_t>& offsets, const Doubles& xy,
                                   const Array<std::uint8_t>& kinds, const Doubles& radius,
                                   const Doubles& poses, ConcavePolicy policy) {
  if (length(offsets) == 0) {
    if (length(xy) != 0) refuse(Status::array_mismatch, "offsets", -1, "empty, but xy is not");
  } else if (offsets.data()[0] != 0) {
    refuse(Status::array_mismatch, "offsets", 0, "must start at 0");
  }
  const std::size_t count = length(offsets) == 0 ? 0 : length(offsets) - 1;
  if (length(xy) % 2 != 0) {
    refuse(Status::array_mismatch, "xy", -1, "must hold 2 values (x, y) per point");
  }
  if (count > 0 && 2 * static_cast<std::size_t>(offsets.data()[count]) != length(xy)) {
    refuse(Status::array_mismatch, "offsets", static_cast<long>(count),
           "must end at the number of points, " + std::to_string(length(xy) / 2));
  }
  const auto optional_length = [&](std::size_t size, const char* name) {
    if (size != 0 && size != count) {
      refuse(Status::array_mismatch, name, -1,
             "must be empty or hold one value for each of " + std::to_string(count) +
                 " obstacles");
    }
  };
  optional_length(length(kinds), "kinds");
  optional_length(length(radius), "radius");
  std::vector<Pose> placed(count);
  if (length(poses) != 0) placed = checked_poses(poses, count, "poses");
  refuse(check_coordinates(view(xy), "xy"));

  auto scene = std::make_unique<Scene>();
  scene->reserve(count);
  const std::vector<Vec2> all = points(view(xy));
  std::vector<std::vector<Vec2>> parts;
  for (std::size_t i = 0; i < count; ++i) {
    const long index = static_cast<long>(i);
    const std::size_t begin = offsets.data()[i];
    const std::size_t end = offsets.data()[i + 1];
    if (end < begin || end > all.size()) {
      refuse(Status::array_mismatch, "offsets", index + 1, "must not decrease");
    }
    if (end == begin) {
      refuse(Status::too_few_points, "offsets", index, "the obstacle has no points");
    }
    const double r = length(radius) == 0 ? 0.0 : radius.data()[i];
    refuse(check_radius(r, "radius", index));
    const std::uint8_t kind = length(kinds) == 0 ? std::uint8_t{0} : kinds.data()[i];
    const std::span<const Vec2> own(all.data() + begin, end - begin);
    Shape shape;
    if (kind == 0) {
      shape.add_part(convex_hull(own), r);
    } else if (kind == 1) {
      parts.clear();
      Issue issue = outline_parts(own, policy, "xy", parts);
      if (issue) {
        issue.rule = "obstacle " + std::to_string(i) + ": " + issue.rule;
        if (issue.index >= 0) issue.index = 2 * (issue.index + static_cast<long>(begin));
        refuse(issue);
      }
      for (const std::vector<Vec2>& part : parts) shape.add_part(part, r);
    } else {
      refuse(Status::invalid_input, "kinds", index, "must be 0 (convex) or 1 (concave)");
    }
    scene->add(std::move(shape), placed[i]);
  }
  scene->build();
  return scene;
}

double checked_margin(double margin) {
  refuse(check_radius(margin, "margin"));
  return margin;
}

py::dict check(const Scene& scene, const Shape& shape, const Doubles& poses, double margin, int mode,
               bool stop_at_first) {
  const std::size_t count = length(poses) / 3;
  const std::vector<Pose> placed = checked_poses(poses, count, "poses");
  const CheckOptions options{checked_margin(margin), static_cast<Mode>(mode), stop_at_first};
  std::vector<PoseResult> results(count);
  {
    const py::gil_scoped_release release;
    Scene::Ego ego(shape);
    scene.check(ego, placed, options, results);
  }

  const auto n = static_cast<py::ssize_t>(count);
  py::array_t<std::uint8_t> verdicts(n);
  py::array_t<std::uint16_t> statuses(n);
  py::array_t<double> distances(n);
  py::array_t<double> lower_bounds(n);
  py::array_t<std::int64_t> nearest(n);
  py::array_t<double> witnesses({n, py::ssize_t{4}});
  double* witness = witnesses.mutable_data();
  for (std::size_t i = 0; i < count; ++i) {
    const PoseResult& r = results[i];
    verdicts.mutable_data()[i] = static_cast<std::uint8_t>(r.verdict);
    statuses.mutable_data()[i] = static_cast<std::uint16_t>(r.status);
    distances.mutable_data()[i] = r.distance;
    lower_bounds.mutable_data()[i] = r.lower_bound;
    nearest.mutable_data()[i] = r.nearest;
    for (const double value : {r.witness_ego.x, r.witness_ego.y, r.witness_obstacle.x,
                               r.witness_obstacle.y}) {
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

void bind_scene(py::module_& module) {
  py::enum_<ConcavePolicy>(module, "ConcavePolicy")
      .value("decompose", ConcavePolicy::decompose)
      .value("hull", ConcavePolicy::hull)
      .value("reject", ConcavePolicy::reject);
  py::class_<Scene>(module, "Scene", "Many obstacles, immutable.")
      .def("__len__", &Scene::size)
      .def_property_readonly("parts", &Scene::parts)
      .def("check", &check, py::arg("shape"), py::arg("poses"), py::arg("margin"), py::arg("mode"),
           py::arg("stop_at_first"))
      .def("nearest", &nearest, py::arg("shape"), py::arg("pose"), py::arg("k"),
           py::arg("max_distance"));
  module.def("scene_from_shapes", &from_shapes, py::arg("shapes"), py::arg("poses"));
  module.def("scene_from_arrays", &from_arrays, py::arg("offsets"), py::arg("xy"),
             py::arg("kinds"), py::arg("radius"), py::arg("poses"), py::arg("policy"));
}

}  // namespace gjk::bindings
