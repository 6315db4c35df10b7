// SPDX-FileCopyrightText: gjk_collision contributors
// SPDX-License-Identifier: Apache-2.0
// Creates scenes from shapes and from arrays, and updates them.
#include <pybind11/stl.h>

#include <memory>
#include <optional>
#include <utility>

#include "bindings.hpp"
#include "gjk/motion/prediction.hpp"

namespace gjk::bindings {
namespace {

using Offsets = Array<std::uint32_t>;

// Reported motion and margins of obstacles, as flat arrays. Each array may be empty.
struct SaidArrays {
  Doubles velocities;    // vx, vy (m/s), wz (rad/s) per obstacle; NaN: unknown
  Doubles stamps;        // s, one per obstacle
  Offsets path_offsets;  // obstacle i has the poses path_offsets[i] to path_offsets[i + 1] - 1
  Doubles path_times;    // s after the stamp
  Doubles path_poses;    // x, y (m), yaw (rad) per time
  Doubles margins;       // m, one per obstacle
  Doubles margin_rates;  // m/s, one per obstacle
  PredictionPolicy policy = PredictionPolicy::unknown_is_error;
  double horizon = 0.0;     // s
  double time_error = 0.0;  // s
};

void check_offsets(const Offsets& offsets, std::size_t count, std::size_t end, const char* name,
                   const std::string& end_rule) {
  const std::span<const std::uint32_t> values = view(offsets);
  const auto fail = [&](std::size_t i, const std::string& rule) {
    refuse(Status::array_mismatch, name, static_cast<long>(i), rule + got(values[i]));
  };
  if (values[0] != 0) fail(0, "must start at 0");
  if (values[count] != end) fail(count, end_rule + ", " + std::to_string(end));
  for (std::size_t i = 1; i <= count; ++i) {
    if (values[i] > end) fail(i, "must not exceed " + std::to_string(end));
    if (values[i] < values[i - 1]) fail(i, "must not decrease");
  }
}

// Refuses margins unless the array is empty or holds one for each of `count` obstacles.
void check_margins(const Doubles& margins, std::size_t count, const char* name, const char* per) {
  if (length(margins) != 0 && length(margins) != count) {
    refuse(Status::array_mismatch, name, -1,
           "must be empty or hold one value for each of " + std::to_string(count) + " obstacles" +
               got(length(margins)));
  }
  for (std::size_t i = 0; i < length(margins); ++i) {
    const double margin = margins.data()[i];
    const Issue issue = check_radius(margin, name, static_cast<long>(i));
    const std::string unit = issue.status == Status::coord_range ? per : "";
    if (issue) refuse(issue.status, name, issue.index, issue.rule + unit + got(margin));
  }
}

// Checks the reported motion of `count` obstacles, and returns the poses of the paths.
std::vector<Pose> checked_said(const SaidArrays& said, std::size_t count) {
  const Doubles& velocities = said.velocities;
  if (length(velocities) != 0 && length(velocities) != 3 * count) {
    refuse(Status::array_mismatch, "velocities", -1,
           "must be empty or hold 3 values (vx, vy, wz) for each of " + std::to_string(count) +
               got(length(velocities)));
  }
  for (std::size_t i = 0; i < length(velocities); ++i) {
    const double value = velocities.data()[i];
    if (std::isinf(value)) {
      refuse(Status::non_finite, "velocities", static_cast<long>(i / 3),
             "must be finite, or NaN where not known" + got(value));
    }
  }
  for (const auto& [name, value] :
       {std::pair{"horizon", said.horizon}, std::pair{"time_error", said.time_error}}) {
    if (!(value >= 0.0 && value <= kMaxTime)) {
      refuse(Status::invalid_input, name, -1, "must lie in [0, 1e10] s" + got(value));
    }
  }
  checked_times(said.stamps, count, "stamps");
  check_margins(said.margins, count, "margins", "");
  check_margins(said.margin_rates, count, "margin_rates", "/s");
  const std::span<const double> times = view(said.path_times);
  const std::span<const std::uint32_t> ends = view(said.path_offsets);
  if (ends.empty()) {
    if (!times.empty() || length(said.path_poses) != 0) {
      const std::string other = times.empty() ? "path_poses" : "path_times";
      refuse(Status::array_mismatch, "path_offsets", -1, "empty, but " + other + " is not");
    }
    return {};
  }
  if (ends.size() != count + 1) {
    refuse(Status::array_mismatch, "path_offsets", -1,
           "must be empty or hold " + std::to_string(count + 1) + " values" + got(ends.size()));
  }
  check_offsets(said.path_offsets, count, times.size(), "path_offsets",
                "must end at the number of path_times");
  checked_times(said.path_times, times.size(), "path_times");
  for (std::size_t i = 0; i < count; ++i) {
    const std::span<const double> own = times.subspan(ends[i], ends[i + 1] - ends[i]);
    if (!own.empty() && own[0] < 0.0) {
      refuse(Status::invalid_input, "path_times", static_cast<long>(ends[i]),
             "must not be negative" + got(own[0]));
    }
    check_increasing(own, "path_times", own, ends[i]);
  }
  return checked_poses(said.path_poses, times.size(), "path_poses");
}

// Predicted motions of obstacles, one per pose.
class Motions {
 public:
  Motions(const SaidArrays& arrays, const std::vector<Pose>& poses) : stamps_(view(arrays.stamps)) {
    const std::size_t count = poses.size();
    const std::vector<Pose> path_poses = checked_said(arrays, count);
    const bool paths = length(arrays.path_offsets) != 0;
    const bool velocities = length(arrays.velocities) != 0;
    if (!paths && !velocities && arrays.policy != PredictionPolicy::hold) {
      return;  // no motion is known
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
    if (first_.empty()) return {};
    return {pieces_.data() + first_[i], first_[i + 1] - first_[i]};
  }
  double stamp(std::size_t i) const noexcept { return stamps_.empty() ? 0.0 : stamps_[i]; }

 private:
  std::vector<Piece> pieces_;
  std::vector<std::size_t> first_;
  std::span<const double> stamps_;
};

// Call after the last obstacle is added.
void finish(Scene& scene, const SaidArrays& said, std::shared_ptr<const Region> region,
            unsigned threads) {
  scene.set_region(std::move(region));
  scene.set_margins(view(said.margins), view(said.margin_rates));
  scene.set_time_error(said.time_error);
  scene.build(nullptr, threads);
}

// `shapes` holds one shape for each of `count` obstacles, or one for all.
std::unique_ptr<Scene> from_shapes(const std::vector<const Shape*>& shapes, std::size_t count,
                                   const std::optional<Doubles>& poses, const SaidArrays& said,
                                   std::shared_ptr<Region> region, unsigned threads) {
  if (shapes.size() != count && shapes.size() != 1) throw py::value_error("shapes: 1 or count");
  std::vector<Pose> placed(count);
  if (poses) placed = checked_poses(*poses, count, "poses");
  const Motions motions(said, placed);
  const py::gil_scoped_release release;
  auto scene = std::make_unique<Scene>();
  scene->reserve(count);
  for (std::size_t i = 0; i < count; ++i) {
    const Shape& shape = *shapes[shapes.size() == 1 ? 0 : i];
    scene->add(shape, placed[i], motions.of(i), motions.stamp(i));
  }
  finish(*scene, said, std::move(region), threads);
  return scene;
}

// The poses of obstacles in the layout of msg/ObstacleArray: obstacle i has the points offsets[i]
// to offsets[i + 1] - 1. Checks all but the coordinates of the points.
std::vector<Pose> checked_obstacles(const Offsets& offsets, const Doubles& xy,
                                    const Array<std::uint8_t>& kinds, const Doubles& radius,
                                    const Doubles& poses) {
  if (length(offsets) == 0 && length(xy) != 0) {
    refuse(Status::array_mismatch, "offsets", -1, "empty, but xy is not");
  }
  if (length(xy) % 2 != 0) {
    refuse(Status::array_mismatch, "xy", -1,
           "must hold 2 values (x, y) per point" + got(length(xy)));
  }
  const std::size_t count = length(offsets) == 0 ? 0 : length(offsets) - 1;
  if (length(offsets) != 0) {
    check_offsets(offsets, count, length(xy) / 2, "offsets", "must end at the number of points");
  }
  const auto check_length = [&](std::size_t size, const char* name) {
    if (size != 0 && size != count) {
      refuse(Status::array_mismatch, name, -1,
             "must be empty or hold one value for each of " + std::to_string(count) + " obstacles" +
                 got(size));
    }
  };
  check_length(length(kinds), "kinds");
  check_length(length(radius), "radius");
  for (std::size_t i = 0; i < length(kinds); ++i) {
    if (kinds.data()[i] > 1) {
      refuse(Status::invalid_input, "kinds", static_cast<long>(i),
             "must be 0 (convex) or 1 (concave)" + got(kinds.data()[i]));
    }
  }
  for (std::size_t i = 0; i < length(radius); ++i) {
    checked_radius(radius.data()[i], "radius", static_cast<long>(i));
  }
  if (length(poses) == 0) return std::vector<Pose>(count);
  return checked_poses(poses, count, "poses");
}

// Checks arrays as from_arrays does, without building the shapes.
void check_arrays(const Offsets& offsets, const Doubles& xy, const Array<std::uint8_t>& kinds,
                  const Doubles& radius, const Doubles& poses, const SaidArrays& said) {
  checked_said(said, checked_obstacles(offsets, xy, kinds, radius, poses).size());
}

std::unique_ptr<Scene> from_arrays(const Offsets& offsets, const Doubles& xy,
                                   const Array<std::uint8_t>& kinds, const Doubles& radius,
                                   const Doubles& poses, const SaidArrays& said,
                                   ConcavePolicy policy, std::shared_ptr<Region> region,
                                   unsigned threads) {
  const std::vector<Pose> placed = checked_obstacles(offsets, xy, kinds, radius, poses);
  const std::size_t count = placed.size();
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
    const std::size_t begin = ends[i];
    const std::size_t end = ends[i + 1];
    if (end == begin) {
      refuse(Status::too_few_points, "offsets", static_cast<long>(i), "the obstacle has no points");
    }
    const double r = radius_of.empty() ? 0.0 : radius_of[i];
    const std::span<const Vec2> own(all.data() + begin, end - begin);
    Shape shape;
    if (kind_of.empty() || kind_of[i] == 0) {
      shape.add_part(convex_hull(own), r);
    } else {
      parts.clear();
      Issue issue = outline_parts(own, policy, "xy", parts);
      if (issue) {
        issue.rule = "obstacle " + std::to_string(i) + ": " + issue.rule;
        if (issue.index >= 0) issue.index = 2 * (issue.index + static_cast<long>(begin));
        refuse(issue);
      }
      for (const std::vector<Vec2>& part : parts) shape.add_part(part, r);
    }
    scene->add(shape, placed[i], motions.of(i), motions.stamp(i));
  }
  finish(*scene, said, std::move(region), threads);
  return scene;
}

// Returns a scene in which the obstacles `indices` have new motions, and new poses, shapes and
// margins where given.
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
             "must lie in [0, " + std::to_string(scene.size()) + ")" + got(i));
    }
    if (seen[static_cast<std::size_t>(i)]) {
      refuse(Status::invalid_input, "indices", index, "must not occur twice" + got(i));
    }
    seen[static_cast<std::size_t>(i)] = true;
  }
  if (shapes && shapes->size() != count) {
    refuse(Status::array_mismatch, "shapes", -1,
           "must hold one shape for each of " + std::to_string(count) + " indices" +
               got(shapes->size()));
  }
  std::vector<Pose> placed(count);
  if (poses) placed = checked_poses(*poses, count, "poses");
  for (std::size_t m = 0; m < count && !poses; ++m) {
    placed[m] = scene.obstacles().pose(static_cast<std::size_t>(indices.data()[m]));
  }
  const Motions motions(said, placed);
  std::vector<Obstacles::Change> changes(count);
  const std::span<const double> margins = view(said.margins);
  const std::span<const double> rates = view(said.margin_rates);
  const Margins& before = scene.obstacles().margins();
  for (std::size_t m = 0; m < count; ++m) {
    const auto i = static_cast<std::size_t>(indices.data()[m]);
    changes[m] = {i,
                  shapes ? (*shapes)[m] : nullptr,
                  placed[m],
                  motions.of(m),
                  motions.stamp(m),
                  margins.empty() ? before.fixed(i) : margins[m],
                  rates.empty() ? before.rate(i) : rates[m]};
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
  py::class_<SaidArrays>(module, "Said",
                         "Reported motion and margins of obstacles, as flat arrays.")
      .def(
          py::init([](const Doubles& velocities, const Doubles& stamps, const Offsets& path_offsets,
                      const Doubles& path_times, const Doubles& path_poses, const Doubles& margins,
                      const Doubles& margin_rates, PredictionPolicy policy, double horizon,
                      double time_error) {
            return SaidArrays{velocities, stamps,       path_offsets, path_times, path_poses,
                              margins,    margin_rates, policy,       horizon,    time_error};
          }),
          py::arg("velocities"), py::arg("stamps"), py::arg("path_offsets"), py::arg("path_times"),
          py::arg("path_poses"), py::arg("margins"), py::arg("margin_rates"), py::arg("policy"),
          py::arg("horizon"), py::arg("time_error"))
      .def_readonly("path_offsets", &SaidArrays::path_offsets);
  py::class_<Scene> scene(module, "Scene", "Immutable set of obstacles.");
  scene.def("__len__", &Scene::size)
      .def_property_readonly("parts", &Scene::parts)
      .def_property_readonly("bytes", &Scene::bytes)
      .def("updated", &updated, py::arg("indices"), py::arg("poses"), py::arg("shapes"),
           py::arg("said"));
  bind_scene_queries(scene);
  bind_path(scene);
  bind_time_to_collision(scene);
  bind_gradient(scene);
  bind_nearest_free(scene);
  bind_ray_cast(scene);
  module.def("scene_from_shapes", &from_shapes, py::arg("shapes"), py::arg("count"),
             py::arg("poses"), py::arg("said"), py::arg("region"), py::arg("threads"));
  module.def("scene_from_arrays", &from_arrays, py::arg("offsets"), py::arg("xy"), py::arg("kinds"),
             py::arg("radius"), py::arg("poses"), py::arg("said"), py::arg("policy"),
             py::arg("region"), py::arg("threads"));
  module.def("check_arrays", &check_arrays, py::arg("offsets"), py::arg("xy"), py::arg("kinds"),
             py::arg("radius"), py::arg("poses"), py::arg("said"));
}

}  // namespace gjk::bindings
