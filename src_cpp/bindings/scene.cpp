// SPDX-FileCopyrightText: gjk_collision contributors
// SPDX-License-Identifier: Apache-2.0
// Creates scenes from shapes and from arrays, and updates them.
#include <pybind11/stl.h>

#include <memory>
#include <utility>

#include "bindings.hpp"
#include "gjk/motion/prediction.hpp"

namespace gjk::bindings {
namespace {

using Offsets = Array<std::uint32_t>;

// Reported motion of obstacles, as flat arrays. Each array may be empty.
struct SaidArrays {
  Doubles velocities;    // vx, vy (m/s), wz (rad/s) per obstacle; NaN: unknown
  Doubles stamps;        // s, one per obstacle
  Offsets path_offsets;  // obstacle i has the poses path_offsets[i] to path_offsets[i + 1] - 1
  Doubles path_times;    // s after the stamp
  Doubles path_poses;    // x, y (m), yaw (rad) per time
  PredictionPolicy policy = PredictionPolicy::unknown_is_error;
  double horizon = 0.0;     // s
  double time_error = 0.0;  // s
};

void check_offsets(const Offsets& offsets, std::size_t count, std::size_t end, const char* name,
                   const std::string& end_rule) {
  const std::span<const std::uint32_t> values = view(offsets);
  if (values[0] != 0) refuse(Status::array_mismatch, name, 0, "must start at 0");
  if (values[count] != end) {
    refuse(Status::array_mismatch, name, static_cast<long>(count),
           end_rule + ", " + std::to_string(end));
  }
  for (std::size_t i = 0; i < count; ++i) {
    const long index = static_cast<long>(i) + 1;
    if (values[i + 1] > end) {
      refuse(Status::array_mismatch, name, index, "must not exceed " + std::to_string(end));
    }
    if (values[i + 1] < values[i]) refuse(Status::array_mismatch, name, index, "must not decrease");
  }
}

// Predicted motions of obstacles, one per pose.
class Motions {
 public:
  Motions(const SaidArrays& arrays, const std::vector<Pose>& poses) {
    const std::size_t count = poses.size();
    if (length(arrays.velocities) != 0 && length(arrays.velocities) != 3 * count) {
      refuse(Status::array_mismatch, "velocities", -1,
             "must be empty or hold 3 values (vx, vy, wz) for each of " + std::to_string(count));
    }
    for (std::size_t i = 0; i < length(arrays.velocities); ++i) {
      if (std::isinf(arrays.velocities.data()[i])) {
        refuse(Status::non_finite, "velocities", static_cast<long>(i / 3),
               "must be finite, or NaN where not known");
      }
    }
    if (!(arrays.horizon >= 0.0 && arrays.horizon <= kMaxTime)) {
      refuse(Status::invalid_input, "horizon", -1, "must lie in [0, 1e10] s");
    }
    if (!(arrays.time_error >= 0.0 && arrays.time_error <= kMaxTime)) {
      refuse(Status::invalid_input, "time_error", -1, "must lie in [0, 1e10] s");
    }
    stamps_ = checked_times(arrays.stamps, count, "stamps");
    const std::vector<Pose> path_poses = checked_paths(arrays, count);
    const bool paths = length(arrays.path_offsets) != 0;
    const bool velocities = length(arrays.velocities) != 0;
    if (!paths && !velocities && arrays.policy != PredictionPolicy::hold) {
      first_.assign(count + 1, 0);  // no motion is known
      return;
    }
    first_.push_back(0);
    for (std::size_t i = 0; i < count; ++i) {
      ReportedMotion reported;
      reported.pose = poses[i];
      if (velocities) {
        const double* const v = arrays.velocities.data() + 3 * i;
        reported.velocity = {v[0], v[1], v[2]};
      }
      if (paths) {
        const std::size_t begin = arrays.path_offsets.data()[i];
        const std::size_t size = arrays.path_offsets.data()[i + 1] - begin;
        reported.path_times = view(arrays.path_times).subspan(begin, size);
        reported.path_poses = std::span(path_poses).subspan(begin, size);
      }
      append_prediction(reported, {arrays.policy, arrays.horizon}, pieces_);
      first_.push_back(pieces_.size());
    }
  }

  Motion of(std::size_t i) const noexcept {
    return {pieces_.data() + first_[i], first_[i + 1] - first_[i]};
  }
  double stamp(std::size_t i) const noexcept { return stamps_.empty() ? 0.0 : stamps_[i]; }

 private:
  static std::vector<Pose> checked_paths(const SaidArrays& arrays, std::size_t count) {
    const std::size_t times = length(arrays.path_times);
    if (length(arrays.path_offsets) == 0) {
      if (times != 0)
        refuse(Status::array_mismatch, "path_offsets", -1, "empty, but path_times is not");
      if (length(arrays.path_poses) != 0) {
        refuse(Status::array_mismatch, "path_offsets", -1, "empty, but path_poses is not");
      }
      return {};
    }
    if (length(arrays.path_offsets) != count + 1) {
      refuse(Status::array_mismatch, "path_offsets", -1,
             "must be empty or hold " + std::to_string(count + 1) + " values");
    }
    check_offsets(arrays.path_offsets, count, times, "path_offsets",
                  "must end at the number of path_times");
    checked_times(arrays.path_times, times, "path_times");
    for (std::size_t i = 0; i < count; ++i) {
      const std::span<const double> own =
          view(arrays.path_times)
              .subspan(arrays.path_offsets.data()[i],
                       arrays.path_offsets.data()[i + 1] - arrays.path_offsets.data()[i]);
      for (std::size_t k = 0; k < own.size(); ++k) {
        const long index = static_cast<long>(arrays.path_offsets.data()[i] + k);
        if (own[k] < 0.0)
          refuse(Status::invalid_input, "path_times", index, "must not be negative");
        if (k > 0 && own[k] <= own[k - 1]) {
          refuse(Status::invalid_input, "path_times", index, "must increase strictly");
        }
      }
    }
    return checked_poses(arrays.path_poses, times, "path_poses");
  }

  std::vector<Piece> pieces_;
  std::vector<std::size_t> first_;
  std::span<const double> stamps_;
};

std::unique_ptr<Scene> from_shapes(const std::vector<const Shape*>& shapes,
                                   const std::optional<Doubles>& poses, const SaidArrays& said) {
  std::vector<Pose> placed(shapes.size());
  if (poses) placed = checked_poses(*poses, shapes.size(), "poses");
  const Motions motions(said, placed);
  const py::gil_scoped_release release;
  auto scene = std::make_unique<Scene>();
  scene->reserve(shapes.size());
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    scene->add(*shapes[i], placed[i], motions.of(i), motions.stamp(i));
  }
  scene->set_time_error(said.time_error);
  scene->build();
  return scene;
}

// Layout of msg/ObstacleArray: obstacle i has the points offsets[i] to offsets[i + 1] - 1.
std::unique_ptr<Scene> from_arrays(const Offsets& offsets, const Doubles& xy,
                                   const Array<std::uint8_t>& kinds, const Doubles& radius,
                                   const Doubles& poses, ConcavePolicy policy,
                                   const SaidArrays& said) {
  if (length(offsets) == 0 && length(xy) != 0) {
    refuse(Status::array_mismatch, "offsets", -1, "empty, but xy is not");
  }
  if (length(xy) % 2 != 0) {
    refuse(Status::array_mismatch, "xy", -1, "must hold 2 values (x, y) per point");
  }
  const std::size_t count = length(offsets) == 0 ? 0 : length(offsets) - 1;
  if (length(offsets) != 0) {
    check_offsets(offsets, count, length(xy) / 2, "offsets", "must end at the number of points");
  }
  const auto optional_length = [&](std::size_t size, const char* name) {
    if (size != 0 && size != count) {
      refuse(Status::array_mismatch, name, -1,
             "must be empty or hold one value for each of " + std::to_string(count) + " obstacles");
    }
  };
  optional_length(length(kinds), "kinds");
  optional_length(length(radius), "radius");
  std::vector<Pose> placed(count);
  if (length(poses) != 0) placed = checked_poses(poses, count, "poses");
  refuse(check_coordinates(view(xy), "xy"));
  const Motions motions(said, placed);

  const std::span<const double> coordinates = view(xy);
  const std::span<const std::uint32_t> ends = view(offsets);
  const std::span<const std::uint8_t> kind_of = view(kinds);
  const std::span<const double> radius_of = view(radius);
  const py::gil_scoped_release release;
  auto scene = std::make_unique<Scene>();
  const std::vector<Vec2> all = points(coordinates);
  scene->reserve(count);
  std::vector<std::vector<Vec2>> parts;
  for (std::size_t i = 0; i < count; ++i) {
    const long index = static_cast<long>(i);
    const std::size_t begin = ends[i];
    const std::size_t end = ends[i + 1];
    if (end == begin) {
      refuse(Status::too_few_points, "offsets", index, "the obstacle has no points");
    }
    const double r = radius_of.empty() ? 0.0 : radius_of[i];
    refuse(check_radius(r, "radius", index));
    const std::uint8_t kind = kind_of.empty() ? std::uint8_t{0} : kind_of[i];
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
    scene->add(shape, placed[i], motions.of(i), motions.stamp(i));
  }
  scene->set_time_error(said.time_error);
  scene->build();
  return scene;
}

// Returns a scene in which the obstacles `indices` have new motions, and new poses and shapes where
// given.
std::unique_ptr<Scene> updated(const Scene& scene, const Array<std::int64_t>& indices,
                               const std::optional<Doubles>& poses,
                               const std::optional<std::vector<const Shape*>>& shapes,
                               const SaidArrays& said) {
  const std::size_t count = length(indices);
  std::vector<bool> seen(scene.size());
  for (std::size_t m = 0; m < count; ++m) {
    const std::int64_t i = indices.data()[m];
    const long index = static_cast<long>(m);
    if (i < 0 || static_cast<std::size_t>(i) >= scene.size()) {
      refuse(Status::invalid_input, "indices", index,
             "must lie in [0, " + std::to_string(scene.size()) + ")");
    }
    if (seen[static_cast<std::size_t>(i)]) {
      refuse(Status::invalid_input, "indices", index, "must not occur twice");
    }
    seen[static_cast<std::size_t>(i)] = true;
  }
  if (shapes && shapes->size() != count) {
    refuse(Status::array_mismatch, "shapes", -1,
           "must hold one shape for each of " + std::to_string(count) + " indices");
  }
  std::vector<Pose> placed(count);
  if (poses) placed = checked_poses(*poses, count, "poses");
  for (std::size_t m = 0; m < count && !poses; ++m) {
    placed[m] = scene.obstacles().pose(static_cast<std::size_t>(indices.data()[m]));
  }
  const Motions motions(said, placed);
  std::vector<Obstacles::Change> changes(count);
  for (std::size_t m = 0; m < count; ++m) {
    changes[m] = {static_cast<std::size_t>(indices.data()[m]), shapes ? (*shapes)[m] : nullptr,
                  placed[m], motions.of(m), motions.stamp(m)};
  }
  const py::gil_scoped_release release;
  return std::make_unique<Scene>(scene.updated(changes));
}

}  // namespace

void bind_scene(py::module_& module) {
  py::enum_<ConcavePolicy>(module, "ConcavePolicy")
      .value("decompose", ConcavePolicy::decompose)
      .value("hull", ConcavePolicy::hull)
      .value("reject", ConcavePolicy::reject);
  py::enum_<PredictionPolicy>(module, "PredictionPolicy")
      .value("unknown_is_error", PredictionPolicy::unknown_is_error)
      .value("constant_velocity", PredictionPolicy::constant_velocity)
      .value("hold", PredictionPolicy::hold);
  py::class_<SaidArrays>(module, "Said", "Reported motion of obstacles, as flat arrays.")
      .def(
          py::init([](const Doubles& velocities, const Doubles& stamps, const Offsets& path_offsets,
                      const Doubles& path_times, const Doubles& path_poses, PredictionPolicy policy,
                      double horizon, double time_error) {
            return SaidArrays{velocities, stamps, path_offsets, path_times,
                              path_poses, policy, horizon,      time_error};
          }),
          py::arg("velocities"), py::arg("stamps"), py::arg("path_offsets"), py::arg("path_times"),
          py::arg("path_poses"), py::arg("policy"), py::arg("horizon"), py::arg("time_error"))
      .def_readonly("path_offsets", &SaidArrays::path_offsets);
  py::class_<Scene> scene(module, "Scene", "Immutable set of obstacles.");
  scene.def("__len__", &Scene::size)
      .def_property_readonly("parts", &Scene::parts)
      .def_property_readonly("bytes", &Scene::bytes)
      .def("updated", &updated, py::arg("indices"), py::arg("poses"), py::arg("shapes"),
           py::arg("said"));
  bind_scene_queries(scene);
  bind_path(scene);
  module.def("scene_from_shapes", &from_shapes, py::arg("shapes"), py::arg("poses"),
             py::arg("said"));
  module.def("scene_from_arrays", &from_arrays, py::arg("offsets"), py::arg("xy"), py::arg("kinds"),
             py::arg("radius"), py::arg("poses"), py::arg("policy"), py::arg("said"));
}

}  // namespace gjk::bindings
