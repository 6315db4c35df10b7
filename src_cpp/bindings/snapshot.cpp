// SPDX-FileCopyrightText: gjk_collision contributors
// SPDX-License-Identifier: Apache-2.0
// The rules of the server: questions about a snapshot. Poses are in the check frame.
#include <pybind11/stl.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>

#include "answers.hpp"
#include "gjk/snapshot/questions.hpp"
#include "kernel_in_python.hpp"

namespace gjk::bindings {
namespace {

// A snapshot with what it points to.
struct KnownSnapshot {
  py::object scene;
  py::object footprint;
  Snapshot view;

  // Calls ask(kernel) without the GIL.
  template <class Ask>
  auto ask(const Ask& question) const {
    const py::gil_scoped_release release;
    if (is_scene) return question(detail::Kernel(view.scene));
    return question(KernelInPython(scene));
  }
  bool is_scene = true;

  // What all answers share that have no distances or no witnesses.
  py::array no_distances = Doubles(0);
  py::array no_witnesses = Doubles(py::array::ShapeContainer{0, 4});
};

KnownSnapshot known_snapshot(py::object scene, py::object footprint, std::int64_t stamp,
                             std::int64_t epoch, double horizon, double safety_margin,
                             double toi_tolerance, std::size_t max_poses, std::optional<int> fault,
                             std::string message) {
  static const Scene other;  // stands for a scene in Python
  KnownSnapshot known{std::move(scene), std::move(footprint), {}};
  known.is_scene = py::isinstance<Scene>(known.scene);
  known.view.scene = known.is_scene ? known.scene.cast<const Scene*>() : &other;
  if (!known.footprint.is_none()) known.view.footprint = known.footprint.cast<const Shape*>();
  known.view.stamp = stamp;
  known.view.epoch = epoch;
  known.view.horizon = horizon;
  known.view.safety_margin = safety_margin;
  known.view.toi_tolerance = toi_tolerance;
  known.view.max_poses = max_poses;
  if (fault) known.view.fault = Fault{static_cast<Status>(*fault), std::move(message)};
  return known;
}

// verdict, status, message, index of the obstacle, number of errors of the kernel
py::tuple tuple_of(const gjk::Answer& a) {
  return py::make_tuple(static_cast<int>(a.verdict), static_cast<int>(a.status), a.message,
                        a.obstacle, a.violations);
}

void warn_of_degrees_in(const Pose& pose) {
  if (looks_like_degrees(pose.yaw)) warn_of_degrees("poses", 0, pose.yaw);
}
void warn_of_degrees_in(const Doubles& poses) {
  for (std::size_t i = 0; 3 * i + 2 < length(poses); ++i) {
    const double yaw = poses.data()[3 * i + 2];
    if (looks_like_degrees(yaw)) return warn_of_degrees("poses", static_cast<long>(i), yaw);
  }
}

// The time limit of a request. `is_late`: a function without arguments, or None.
Budget budget_of(const py::object& is_late, double chunk_time, std::size_t first_chunk) {
  Budget budget{.is_late = {}, .chunk_time = chunk_time, .first_chunk = first_chunk};
  if (is_late.is_none()) return budget;
  budget.is_late = [&is_late] {
    const py::gil_scoped_acquire gil;
    return is_late().cast<bool>();
  };
  return budget;
}

template <class To, class T>
py::array_t<To> array_of(const std::vector<T>& values) {
  static_assert(sizeof(To) == sizeof(T) && std::is_trivially_copyable_v<T>);
  py::array_t<To> array(static_cast<py::ssize_t>(values.size()));
  if (!values.empty()) std::memcpy(array.mutable_data(), values.data(), sizeof(T) * values.size());
  return array;
}

Doubles array_of(const std::vector<std::array<double, 4>>& rows) {
  Doubles array({static_cast<py::ssize_t>(rows.size()), py::ssize_t{4}});
  if (!rows.empty()) std::memcpy(array.mutable_data(), rows.data(), sizeof(rows[0]) * rows.size());
  return array;
}

py::tuple collide(const KnownSnapshot& known, const PoseValues& pose, double margin, double error) {
  const CollideRequest request{{pose[0], pose[1], pose[2]}, margin, error};
  warn_of_degrees_in(request.pose);
  CollideAnswer found =
      known.ask([&](const auto& kernel) { return detail::collide(kernel, known.view, request); });
  refuse(std::move(found.issue));
  return tuple_of(found.answer);
}

py::tuple distance(const KnownSnapshot& known, const PoseValues& pose, std::size_t k,
                   double max_distance, double error) {
  const DistanceRequest request{{pose[0], pose[1], pose[2]}, k, max_distance, error};
  warn_of_degrees_in(request.pose);
  DistanceAnswer found =
      known.ask([&](const auto& kernel) { return detail::distance(kernel, known.view, request); });
  refuse(std::move(found.issue));
  const AnswerArrays arrays(found.nearest.size(), {.witnesses = true, .directions = true});
  py::array_t<std::int64_t> indices(AnswerArrays::rows(found.nearest.size()));
  for (std::size_t i = 0; i < found.nearest.size(); ++i) {
    const Closest& c = found.nearest[i].closest;
    indices.mutable_data()[i] = found.nearest[i].obstacle;
    arrays.put(i, {{}, c.status, c.distance, c.lower_bound, c.point_a, c.point_b, c.direction});
  }
  return py::make_tuple(tuple_of(found.answer), indices, arrays.distances, arrays.lower_bounds,
                        arrays.witnesses, arrays.directions, arrays.statuses);
}

// Refuses flat poses or times of a request that are not valid, whatever their frame.
void check_batch_of(const Doubles& poses, const Doubles& times, std::size_t limit) {
  refuse(check_batch(view(poses), view(times), limit));
}

py::tuple check_poses_of(const KnownSnapshot& known, const Doubles& poses, const Doubles& times,
                         const Doubles& errors, std::int64_t stamp, double margin, int mode,
                         bool stop_at_first, const py::object& is_late, double chunk_time,
                         std::size_t first_chunk) {
  const PosesRequest request{.poses = view(poses),
                             .times = view(times),
                             .errors = view(errors),
                             .stamp = stamp,
                             .margin = margin,
                             .mode = mode,
                             .stop_at_first = stop_at_first};
  refuse(check_batch(request.poses, request.times, known.view.max_poses));
  warn_of_degrees_in(poses);
  const Budget budget = budget_of(is_late, chunk_time, first_chunk);
  PosesAnswer found = known.ask(
      [&](const auto& kernel) { return detail::check_poses(kernel, known.view, request, budget); });
  refuse(std::move(found.issue));
  py::array distances = known.no_distances;
  py::array lower_bounds = known.no_distances;
  py::array witnesses = known.no_witnesses;
  if (!found.distances.empty()) {
    distances = array_of<double>(found.distances);
    lower_bounds = array_of<double>(found.lower_bounds);
  }
  if (!found.witnesses.empty()) witnesses = array_of(found.witnesses);
  return py::make_tuple(tuple_of(found.answer), array_of<std::uint8_t>(found.verdicts),
                        array_of<std::uint16_t>(found.statuses), distances, lower_bounds,
                        array_of<std::int64_t>(found.obstacles), witnesses, found.first_invalid);
}

py::tuple check_path_of(const KnownSnapshot& known, const Doubles& poses, const Doubles& times,
                        const Doubles& errors, std::int64_t stamp, double margin, bool swept,
                        double tolerance, const py::object& is_late, double chunk_time,
                        std::size_t first_chunk) {
  const PathRequest request{.poses = view(poses),
                            .times = view(times),
                            .errors = view(errors),
                            .stamp = stamp,
                            .margin = margin,
                            .swept = swept,
                            .tolerance = tolerance};
  warn_of_degrees_in(poses);
  const Budget budget = budget_of(is_late, chunk_time, first_chunk);
  PathAnswer found = known.ask(
      [&](const auto& kernel) { return detail::check_path(kernel, known.view, request, budget); });
  refuse(std::move(found.issue));
  return py::make_tuple(tuple_of(found.answer), found.first_invalid_segment,
                        found.last_valid_fraction, found.first_collision_time, found.obstacle,
                        found.distance.upper, found.distance.lower);
}

}  // namespace

void bind_snapshot(py::module_& module) {
  module.attr("MIN_TOLERANCE") = kMinTolerance;
  module.attr("MAX_TOLERANCE") = kMaxTolerance;
  module.attr("FIRST_POSES") = kFirstPoses;
  module.attr("FIRST_SEGMENTS") = kFirstSegments;
  module.def(
      "reason", [](int status) { return reason(static_cast<Status>(status)); }, py::arg("status"));
  module.def(
      "check_tolerance",
      [](double tolerance) {
        double used = 0.0;
        refuse(detail::check_tolerance({}, tolerance, used));
      },
      py::arg("tolerance"));
  module.def("check_batch", &check_batch_of, py::arg("poses"), py::arg("times"), py::arg("limit"));
  py::class_<KnownSnapshot>(module, "Snapshot", "Footprint and obstacles at one time.")
      .def(py::init(&known_snapshot), py::arg("scene"), py::arg("footprint"), py::arg("stamp"),
           py::arg("epoch"), py::arg("horizon"), py::arg("safety_margin"), py::arg("toi_tolerance"),
           py::arg("max_poses"), py::arg("fault"), py::arg("message"))
      .def(
          "known_until",
          [](const KnownSnapshot& known, std::int64_t stamp) {
            return known_until(known.view, stamp);
          },
          py::arg("stamp"))
      .def(
          "on_clock",
          [](const KnownSnapshot& known, const Doubles& times, std::int64_t stamp) {
            return array_of<double>(detail::on_clock(known.view, view(times), stamp));
          },
          py::arg("times"), py::arg("stamp"))
      .def("collide", &collide, py::arg("pose"), py::arg("margin"), py::arg("error"))
      .def("distance", &distance, py::arg("pose"), py::arg("k"), py::arg("max_distance"),
           py::arg("error"))
      .def("check_poses", &check_poses_of, py::arg("poses"), py::arg("times"), py::arg("errors"),
           py::arg("stamp"), py::arg("margin"), py::arg("mode"), py::arg("stop_at_first"),
           py::arg("is_late"), py::arg("chunk_time"), py::arg("first_chunk"))
      .def("check_path", &check_path_of, py::arg("poses"), py::arg("times"), py::arg("errors"),
           py::arg("stamp"), py::arg("margin"), py::arg("swept"), py::arg("tolerance"),
           py::arg("is_late"), py::arg("chunk_time"), py::arg("first_chunk"));
}

}  // namespace gjk::bindings
