// SPDX-FileCopyrightText: gjk_collision contributors
// SPDX-License-Identifier: Apache-2.0
// A scene that is replaced by an object in Python. Tests use it for a kernel that makes errors.
#pragma once

#include <pybind11/stl.h>

#include <algorithm>
#include <cstddef>
#include <functional>
#include <span>
#include <vector>

#include "bindings.hpp"
#include "gjk/snapshot/kernel.hpp"

namespace gjk::bindings {

// Calls the methods of the object as gjk_collision.scene does. Its methods may be called without
// the GIL.
class KernelInPython {
 public:
  explicit KernelInPython(const py::object& core) noexcept : core_(core) {}

  std::size_t obstacles() const {
    const py::gil_scoped_acquire gil;
    return py::len(core_);
  }

  template <class Put>
  void check(const Shape& shape, std::span<const Pose> poses, std::span<const double> times,
             const CheckOptions& options, const Put& put) const {
    const py::gil_scoped_acquire gil;
    const auto found = py::dict(
        core_.attr("check")(py::make_tuple(py::cast(&shape)), rows_of(poses), array_of(times),
                            options.margin, static_cast<int>(options.mode), options.stop_at_first,
                            1, options.warm_start, 0, Array<std::uint32_t>(0)));
    const auto verdicts = found["verdicts"].cast<Array<std::uint8_t>>();
    const auto statuses = found["statuses"].cast<Array<std::uint16_t>>();
    const auto nearest = found["nearest"].cast<Array<std::int64_t>>();
    const auto distances = found["distances"].cast<Doubles>();
    const auto bounds = found["lower_bounds"].cast<Doubles>();
    const auto witnesses = found["witnesses"].cast<Doubles>();
    for (std::size_t i = 0; i < poses.size(); ++i) {
      PoseResult r;
      r.verdict = static_cast<Verdict>(verdicts.data()[i]);
      r.status = static_cast<Status>(statuses.data()[i]);
      r.nearest = nearest.data()[i];
      if (options.mode != Mode::collide) {
        r.distance = distances.data()[i];
        r.lower_bound = bounds.data()[i];
      }
      if (options.mode == Mode::witness) {
        const double* const w = witnesses.data() + 4 * i;
        r.witness_ego = {w[0], w[1]};
        r.witness_obstacle = {w[2], w[3]};
      }
      put(i, r);
    }
  }

  Status nearest(const Shape& shape, const Pose& pose, std::size_t k, double max_distance,
                 std::vector<Nearest>& result) const {
    const py::gil_scoped_acquire gil;
    const auto found = py::tuple(core_.attr("nearest")(
        py::cast(&shape), py::make_tuple(pose.x, pose.y, pose.yaw), py::none(), k, max_distance));
    const auto indices = found[0].cast<Array<std::int64_t>>();
    const auto distances = found[1].cast<Doubles>();
    const auto bounds = found[2].cast<Doubles>();
    result.assign(length(indices), {});
    for (std::size_t i = 0; i < result.size(); ++i) {
      result[i].obstacle = indices.data()[i];
      result[i].closest.status = Status::success;
      result[i].closest.distance = distances.data()[i];
      result[i].closest.lower_bound = bounds.data()[i];
    }
    return Status::success;
  }

  // Checks the whole path, and then calls go_on once.
  PathResult check_path(const Shape& shape, std::span<const Pose> poses,
                        std::span<const double> times, const PathOptions& options,
                        const std::function<bool(std::size_t)>& go_on) const {
    const py::gil_scoped_acquire gil;
    const auto found = py::dict(core_.attr("check_paths")(
        py::cast(&shape), rows_of(poses), array_of(times), 1, options.margin, options.tolerance,
        options.has_distance, 1, options.time_error));
    const auto first = [&](const char* name) { return found[name][py::int_(0)]; };
    PathResult result;
    result.verdict = static_cast<Verdict>(first("verdicts").cast<int>());
    result.status = static_cast<Status>(first("statuses").cast<int>());
    result.first_invalid_segment = first("first_invalid_segments").cast<std::int64_t>();
    result.last_valid_fraction = first("last_valid_fractions").cast<double>();
    result.first_collision_time = first("first_collision_times").cast<double>();
    result.obstacle = first("obstacles").cast<std::int64_t>();
    result.distance = {first("lower_bounds").cast<double>(), first("distances").cast<double>()};
    go_on(std::max<std::size_t>(1, poses.size() - 1));
    return result;
  }

 private:
  static Doubles array_of(std::span<const double> values) {
    return Doubles(static_cast<py::ssize_t>(values.size()), values.data());
  }
  static Doubles rows_of(std::span<const Pose> poses) {
    Doubles rows({static_cast<py::ssize_t>(poses.size()), py::ssize_t{3}});
    double* out = rows.mutable_data();
    for (const Pose& pose : poses) out = std::copy_n(std::data({pose.x, pose.y, pose.yaw}), 3, out);
    return rows;
  }

  const py::object& core_;
};

}  // namespace gjk::bindings
