// SPDX-FileCopyrightText: gjk_collision contributors
// SPDX-License-Identifier: Apache-2.0
// Creates scenes from shapes and from arrays, and updates them.
#include <pybind11/stl.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "bindings.hpp"
#include "gjk/scene/obstacle_arrays.hpp"

namespace gjk::bindings {
namespace {

using Offsets = Array<std::uint32_t>;

// Reported motions and margins, with the arrays that they are views of.
struct Reported {
  Doubles velocities;
  Doubles stamps;
  Offsets path_offsets;
  Doubles path_times;
  Doubles path_poses;
  Doubles margins;
  Doubles margin_rates;
  Doubles lifetimes;
  Prediction prediction;
  double time_error = 0.0;  // s

  ReportedArrays arrays() const {
    return {view(velocities), view(stamps),  view(path_offsets), view(path_times),
            view(path_poses), view(margins), view(margin_rates), view(lifetimes)};
  }
  void check_settings() const {
    refuse(detail::check_duration(prediction.horizon, "horizon"));
    refuse(detail::check_duration(time_error, "time_error"));
  }
  // Refuses them unless they are those of `count` obstacles.
  const Reported& check(std::size_t count) const {
    check_settings();
    refuse(check_arrays(arrays(), count));
    return *this;
  }
};

// The arrays of obstacles, as msg/ObstacleArray.
ObstacleArrays arrays_of(const Offsets& offsets, const Doubles& xy,
                         const Array<std::uint8_t>& kinds, const Doubles& radius,
                         const Doubles& poses, const Reported& reported) {
  return {view(offsets), view(xy), view(kinds), view(radius), view(poses), reported.arrays()};
}

// `shapes` holds one shape for each of `count` obstacles, or one for all.
std::unique_ptr<Scene> from_shapes(const std::vector<const Shape*>& shapes, std::size_t count,
                                   const std::optional<Doubles>& poses, const Reported& reported,
                                   std::shared_ptr<Region> region, unsigned threads) {
  if (shapes.size() != count && shapes.size() != 1) throw py::value_error("shapes: 1 or count");
  std::vector<Pose> placed(count);
  if (poses) placed = checked_poses(*poses, count, "poses");
  const ReportedArrays arrays = reported.check(count).arrays();
  warn_of_degrees_in(arrays.path_poses, "path_poses");
  const py::gil_scoped_release release;
  const PredictedMotions motions(arrays, placed, reported.prediction);
  auto scene = std::make_unique<Scene>();
  scene->reserve(count);
  for (std::size_t i = 0; i < count; ++i) {
    const Shape& shape = *shapes[shapes.size() == 1 ? 0 : i];
    scene->add(shape, placed[i], motions.of(i), motions.stamp(i));
  }
  finish(*scene, arrays.margins, arrays.margin_rates, arrays.lifetimes, std::move(region),
         reported.time_error, threads);
  return scene;
}

// Checks arrays as from_arrays does, without building the shapes.
void check_arrays_of(const Offsets& offsets, const Doubles& xy, const Array<std::uint8_t>& kinds,
                     const Doubles& radius, const Doubles& poses, const Reported& reported) {
  refuse(check_arrays(arrays_of(offsets, xy, kinds, radius, poses, reported)));
}

// The arrays have passed check_arrays_of().
ObstacleParts parts_of(const Offsets& offsets, const Doubles& xy, const Array<std::uint8_t>& kinds,
                       ConcavePolicy policy) {
  ObstacleParts parts;
  const ObstacleArrays arrays{.offsets = view(offsets), .xy = view(xy), .kinds = view(kinds)};
  Issue issue;
  without_gil([&] { issue = ObstacleParts::make(arrays, policy, parts); });
  refuse(std::move(issue));
  return parts;
}

// Refuses a radius, pose or motion that is out of the domain. No offsets or points are needed.
PlacedObstacles placed_obstacles(const ObstacleParts& parts, const Doubles& radius,
                                 const Doubles& poses, const Reported& reported) {
  reported.check(parts.size());
  refuse(detail::check_lengths(view(radius), parts.size(), "radius"));
  if (length(poses) != 0) refuse(detail::check_flat_poses(view(poses), parts.size(), "poses"));
  ObstacleArrays arrays;
  arrays.radius = view(radius);
  arrays.poses = view(poses);
  arrays.reported = reported.arrays();
  const py::gil_scoped_release release;
  return {parts, arrays, reported.prediction};
}

std::unique_ptr<Scene> composed(const std::vector<const PlacedObstacles*>& messages,
                                const Doubles& stamps, std::shared_ptr<Region> region,
                                double time_error) {
  const std::span<const double> at = view(stamps);
  if (at.size() != messages.size()) throw py::value_error("stamps: one per message");
  const py::gil_scoped_release release;
  return compose(messages, at, std::move(region), time_error);
}

std::unique_ptr<Scene> from_arrays(const Offsets& offsets, const Doubles& xy,
                                   const Array<std::uint8_t>& kinds, const Doubles& radius,
                                   const Doubles& poses, const Reported& reported,
                                   ConcavePolicy policy, std::shared_ptr<Region> region,
                                   unsigned threads) {
  const ObstacleArrays arrays = arrays_of(offsets, xy, kinds, radius, poses, reported);
  reported.check_settings();
  refuse(check_arrays(arrays));
  warn_of_degrees_in(arrays.poses, "poses");
  warn_of_degrees_in(arrays.reported.path_poses, "path_poses");
  const ObstacleParts parts = parts_of(offsets, xy, kinds, policy);
  const py::gil_scoped_release release;
  const PlacedObstacles placed(parts, arrays, reported.prediction, threads);
  const PlacedObstacles* const only = &placed;
  const double stamp = 0.0;
  return compose({&only, 1}, {&stamp, 1}, std::move(region), reported.time_error, threads);
}

// Returns a scene in which the obstacles `indices` have new motions and lifetimes, and new poses,
// shapes and margins where given.
std::unique_ptr<Scene> updated(const Scene& scene, const Array<std::int64_t>& indices,
                               const std::optional<Doubles>& poses,
                               const std::optional<std::vector<const Shape*>>& shapes,
                               const Reported& reported) {
  const std::size_t count = length(indices);
  std::vector<bool> seen(scene.size());
  for (std::size_t m = 0; m < count; ++m) {
    const std::int64_t i = indices.data()[m];
    const long index = static_cast<long>(m);
    if (i < 0 || static_cast<std::size_t>(i) >= scene.size()) {
      refuse({Status::invalid_input, "indices", index,
              "must lie in [0, " + std::to_string(scene.size()) + ")" + got(i)});
    }
    if (seen[static_cast<std::size_t>(i)]) {
      refuse({Status::invalid_input, "indices", index, "must not occur twice" + got(i)});
    }
    seen[static_cast<std::size_t>(i)] = true;
  }
  if (shapes && shapes->size() != count) {
    refuse("shapes", Status::array_mismatch,
           "must hold one shape for each of " + std::to_string(count) + " indices" +
               got(shapes->size()));
  }
  std::vector<Pose> placed(count);
  if (poses) placed = checked_poses(*poses, count, "poses");
  for (std::size_t m = 0; m < count && !poses; ++m) {
    placed[m] = scene.obstacles().pose(static_cast<std::size_t>(indices.data()[m]));
  }
  const ReportedArrays arrays = reported.check(count).arrays();
  warn_of_degrees_in(arrays.path_poses, "path_poses");
  const PredictedMotions motions(arrays, placed, reported.prediction);
  std::vector<Obstacles::Change> changes(count);
  const std::span<const double> margins = arrays.margins;
  const std::span<const double> rates = arrays.margin_rates;
  const Margins& before = scene.obstacles().margins();
  for (std::size_t m = 0; m < count; ++m) {
    const auto i = static_cast<std::size_t>(indices.data()[m]);
    changes[m] = {i,
                  shapes ? (*shapes)[m] : nullptr,
                  placed[m],
                  motions.of(m),
                  motions.stamp(m),
                  margins.empty() ? before.fixed(i) : margins[m],
                  rates.empty() ? before.rate(i) : rates[m],
                  arrays.lifetimes.empty()
                      ? Interval{}
                      : lifetime_of(arrays.lifetimes[2 * m], arrays.lifetimes[2 * m + 1])};
  }
  const py::gil_scoped_release release;
  return std::make_unique<Scene>(scene.updated(changes));
}

// What sensors have seen, each with its name. Call it before the scene is used.
void see(Scene& scene, const std::vector<std::pair<std::shared_ptr<Region>, std::string>>& seen) {
  std::vector<Coverage::Member> members;
  for (const auto& [region, source] : seen) members.push_back({region, source});
  scene.set_coverage(std::make_shared<const Coverage>(std::move(members)));
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
  py::class_<Reported>(module, "Reported",
                       "Reported motions and margins of obstacles, as flat arrays.")
      .def(py::init<Doubles, Doubles, Offsets, Doubles, Doubles, Doubles, Doubles, Doubles,
                    PredictionPolicy, double, double>(),
           "velocities"_a, "stamps"_a, "path_offsets"_a, "path_times"_a, "path_poses"_a,
           "margins"_a, "margin_rates"_a, "lifetimes"_a, "policy"_a, "horizon"_a, "time_error"_a)
      .def_readonly("path_offsets", &Reported::path_offsets);
  py::class_<ObstacleParts>(module, "ObstacleParts", "Convex parts of the points of obstacles.")
      .def(py::init(&parts_of), "offsets"_a, "xy"_a, "kinds"_a, "policy"_a);
  py::class_<PlacedObstacles>(module, "PlacedObstacles", "What one message adds to a scene.")
      .def(py::init(&placed_obstacles), "parts"_a, "radius"_a, "poses"_a, "reported"_a);
  py::class_<Scene> scene(module, "Scene", "Immutable set of obstacles.");
  scene.def("__len__", &Scene::size)
      .def_property_readonly("parts", &Scene::parts)
      .def_property_readonly("bytes", &Scene::bytes)
      .def("see", &see, "seen"_a)
      .def("updated", &updated, "indices"_a, "poses"_a, "shapes"_a, "reported"_a);
  bind_scene_queries(module, scene);
  bind_path(scene);
  bind_time_to_collision(scene);
  bind_criticality(scene);
  bind_gradient(scene);
  bind_nearest_free(scene);
  bind_ray_cast(scene);
  module.def("scene_from_shapes", &from_shapes, "shapes"_a, "count"_a, "poses"_a, "reported"_a,
             "region"_a, "threads"_a);
  module.def("scene_from_arrays", &from_arrays, "offsets"_a, "xy"_a, "kinds"_a, "radius"_a,
             "poses"_a, "reported"_a, "policy"_a, "region"_a, "threads"_a);
  module.def("compose", &composed, "messages"_a, "stamps"_a, "region"_a, "time_error"_a);
  module.def("check_arrays", &check_arrays_of, "offsets"_a, "xy"_a, "kinds"_a, "radius"_a,
             "poses"_a, "reported"_a);
}

}  // namespace gjk::bindings
