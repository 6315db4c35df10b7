// SPDX-FileCopyrightText: gjk_collision contributors
// SPDX-License-Identifier: Apache-2.0
// Queries on a scene: checks of one or many poses, and the nearest obstacles.
#include <pybind11/stl.h>

#include <algorithm>
#include <limits>
#include <span>

#include "answers.hpp"

namespace gjk::bindings {
namespace {

// NaN for each answer. The array is a view of one number, so it is read-only.
py::array_t<double> not_computed(const Extents& extents) {
  py::array_t<double> one(1);
  one.mutable_data()[0] = std::numeric_limits<double>::quiet_NaN();
  py::detail::array_proxy(one.ptr())->flags &= ~py::detail::npy_api::NPY_ARRAY_WRITEABLE_;
  return {extents, Extents(extents.size()), one.data(), one};
}

// Poses of shape (..., 3) give arrays of shape (...). `which`: the index of the shape at each pose,
// checked; empty: one shape. Returns the worst verdict, the index of the first pose that is not
// FREE, verdicts, statuses, distances, lower bounds, obstacles, witnesses and directions.
py::tuple check(const Scene& scene, const std::vector<const Shape*>& shapes, const Doubles& poses,
                const Doubles& times, double margin, int mode, bool stop_at_first, unsigned threads,
                bool warm_start, const Array<std::uint32_t>& which) {
  const std::size_t count = length(poses) / 3;
  const std::span<const Pose> placed = checked_in_place(poses, count, "poses");
  const std::span<const double> at = checked_times(times, count, "times");
  const Extents extents(poses.shape(), poses.shape() + poses.ndim() - 1);
  const CheckOptions options{
      checked_radius(margin, "margin"), static_cast<Mode>(mode), stop_at_first,
      extents.empty() ? 1 : static_cast<std::size_t>(extents.back()), warm_start};
  const bool has_distances = options.mode != Mode::collide;
  const bool has_witnesses = options.mode == Mode::witness;
  const AnswerArrays arrays(extents, {has_distances, has_witnesses, has_witnesses});
  py::array_t<std::int64_t> nearest(extents);
  std::int64_t* const obstacle = nearest.mutable_data();
  {
    const py::gil_scoped_release release;
    scene.check_each(
        shapes, view(which), placed, at, options,
        [&](std::size_t begin, std::size_t end, const PoseResult& r) noexcept {
          std::fill(obstacle + begin, obstacle + end, r.nearest);
          arrays.put(begin, end,
                     {r.verdict, r.status, r.distance, r.lower_bound, r.witness_ego,
                      r.witness_obstacle, r.direction});
        },
        threads);
  }
  const AnswerArrays::Summary summary = arrays.summary();
  const py::object none = has_distances ? py::none() : py::object(not_computed(extents));
  return py::make_tuple(static_cast<int>(summary.worst), summary.first_invalid, arrays.verdicts,
                        arrays.statuses, has_distances ? arrays.distances : none,
                        has_distances ? arrays.lower_bounds : none, nearest, arrays.witnesses,
                        arrays.directions);
}

// See first_invalid(), for each row.
py::array_t<std::int64_t> first_invalid_of(const Array<std::uint8_t>& verdicts) {
  py::array_t<std::int64_t> found(verdicts.shape(0));
  const auto length = static_cast<std::size_t>(verdicts.shape(1));
  for (py::ssize_t row = 0; row < found.size(); ++row) {
    found.mutable_at(row) = first_invalid({verdicts.data(row), length});
  }
  return found;
}

// The check of one pose, which creates no arrays.
bool is_free(const Scene& scene, const Shape& shape, const PoseValues& pose,
             const std::optional<Real>& time, Real margin) {
  const Pose placed = checked_pose(pose.data(), "pose", -1);
  const CheckOptions options{.margin = checked_radius(margin.value, "margin")};
  Scene::Ego ego(shape);
  const PoseResult found =
      time ? scene.check(ego, placed, checked_time(time->value, "time", -1), options)
           : scene.check(ego, placed, options);
  return is_free(found.verdict);
}

// Returns indices, distances, lower bounds, witnesses, directions and statuses.
py::tuple nearest(const Scene& scene, const Shape& shape, const PoseValues& pose,
                  const std::optional<double>& time, std::size_t k, double max_distance) {
  const Pose placed = checked_pose(pose.data(), "pose", -1);
  checked_max_distance(max_distance);
  if (time) checked_time(*time, "time", -1);
  std::vector<Nearest> found;
  Status status = Status::success;
  {
    const py::gil_scoped_release release;
    Scene::Ego ego(shape);
    status = time ? scene.nearest(ego, placed, *time, k, max_distance, found)
                  : scene.nearest(ego, placed, k, max_distance, found);
  }
  refuse_unknown(scene, shape, placed, time, 0.0, status);
  const AnswerArrays arrays(found.size(), {.witnesses = true, .directions = true});
  py::array_t<std::int64_t> indices(AnswerArrays::rows(found.size()));
  for (std::size_t i = 0; i < found.size(); ++i) {
    const Closest& c = found[i].closest;
    indices.mutable_data()[i] = found[i].obstacle;
    arrays.put(i, {{}, c.status, c.distance, c.lower_bound, c.point_a, c.point_b, c.direction});
  }
  return py::make_tuple(indices, arrays.distances, arrays.lower_bounds, arrays.witnesses,
                        arrays.directions, arrays.statuses);
}

// The same at many poses, in rows of k; rows with fewer obstacles end with the index -1 and NaN.
py::tuple nearest_at_each(const Scene& scene, const Shape& shape, const Doubles& poses,
                          const Doubles& times, std::size_t k, double max_distance,
                          unsigned threads) {
  const std::size_t count = length(poses) / 3;
  const std::vector<Pose> placed = checked_poses(poses, count, "poses");
  const std::span<const double> at = checked_times(times, count, "times");
  checked_max_distance(max_distance);
  const AnswerArrays arrays(count * k, {.witnesses = true, .directions = true});
  py::array_t<std::int64_t> indices(AnswerArrays::rows(count * k));
  std::int64_t* const obstacle = indices.mutable_data();
  std::vector<Status> statuses(count);
  {
    const py::gil_scoped_release release;
    for_each_chunk(count, 64, threads, [&] {
      return [&, ego = Scene::Ego(shape), found = std::vector<Nearest>()](std::size_t begin,
                                                                          std::size_t end) mutable {
        constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
        for (std::size_t n = begin; n < end; ++n) {
          statuses[n] = at.empty() ? scene.nearest(ego, placed[n], k, max_distance, found)
                                   : scene.nearest(ego, placed[n], at[n], k, max_distance, found);
          for (std::size_t j = 0; j < k; ++j) {
            const bool is_found = j < found.size();
            Closest c;
            c.status = Status::undefined;
            c.distance = c.lower_bound = kNaN;
            c.point_a = c.point_b = c.direction = {kNaN, kNaN};
            if (is_found) c = found[j].closest;
            obstacle[n * k + j] = is_found ? found[j].obstacle : -1;
            arrays.put(
                n * k + j,
                {{}, c.status, c.distance, c.lower_bound, c.point_a, c.point_b, c.direction});
          }
        }
      };
    });
  }
  for (std::size_t n = 0; n < count; ++n) {
    const auto time = at.empty() ? std::nullopt : std::optional(at[n]);
    refuse_unknown(scene, shape, placed[n], time, 0.0, statuses[n], static_cast<long>(n));
  }
  return py::make_tuple(indices, arrays.distances, arrays.lower_bounds, arrays.witnesses,
                        arrays.directions, arrays.statuses);
}

}  // namespace

void bind_scene_queries(py::module_& module, py::class_<Scene>& scene) {
  module.def("first_invalid", &first_invalid_of, py::arg("verdicts"));
  scene
      .def("check", &check, py::arg("shapes"), py::arg("poses"), py::arg("times"),
           py::arg("margin"), py::arg("mode"), py::arg("stop_at_first"), py::arg("threads"),
           py::arg("warm_start"), py::arg("which"))
      .def("is_free", &is_free, py::arg("shape"), py::arg("pose"), py::arg("time").noconvert(),
           py::arg("margin").noconvert())
      .def("nearest", &nearest, py::arg("shape"), py::arg("pose"), py::arg("time"), py::arg("k"),
           py::arg("max_distance"))
      .def("nearest_at_each", &nearest_at_each, py::arg("shape"), py::arg("poses"),
           py::arg("times"), py::arg("k"), py::arg("max_distance"), py::arg("threads"));
}

}  // namespace gjk::bindings
