// SPDX-FileCopyrightText: gjk_collision contributors
// SPDX-License-Identifier: Apache-2.0
// Motions, and queries on moving shapes.
#include <pybind11/stl.h>

#include <vector>

#include "bindings.hpp"
#include "gjk/narrow/separation.hpp"
#include "pieces.hpp"

namespace gjk::bindings {
namespace {

struct OwnedMotion {
  std::vector<Piece> pieces;

  Motion view() const noexcept { return pieces; }
};

double checked_coordinate(double value, const char* argument, long index = -1) {
  return bindings::checked_number(value, argument, index, kMaxCoordinate, "1e15");
}

OwnedMotion moving(const PoseValues& pose, const PoseValues& velocity, double time) {
  for (int i = 0; i < 3; ++i)
    checked_coordinate(velocity[static_cast<std::size_t>(i)], "velocity", i);
  return {
      {Piece::moving(checked_pose(pose.data(), "pose", -1), {velocity[0], velocity[1], velocity[2]},
                     checked_coordinate(time, "time"))}};
}

OwnedMotion path(const Doubles& times, const Doubles& poses) {
  const std::span<const double> at = view(times);
  if (at.empty()) refuse("times", Status::too_few_points, "must hold at least 1 time");
  for (std::size_t i = 0; i < at.size(); ++i) {
    checked_coordinate(at[i], "times", static_cast<long>(i));
  }
  refuse(detail::check_increasing_times(at, at));
  OwnedMotion motion;
  append_path(at, checked_poses(poses, at.size(), "poses"), motion.pieces);
  return motion;
}

OwnedMotion motion_of(const Doubles& rows) {
  OwnedMotion motion{pieces_of(rows)};
  if (motion.pieces.empty()) throw py::value_error("pieces: must not be empty");
  return motion;
}

py::object pose_at(const OwnedMotion& motion, double t) {
  std::size_t hint = 0;
  const Piece* piece = piece_at(motion.view(), checked_coordinate(t, "t"), hint);
  if (piece == nullptr) return py::none();
  const Pose pose = piece->at(t, 0.0).pose;
  return py::make_tuple(pose.x, pose.y, pose.yaw);
}

double greatest_travel(const OwnedMotion& motion, const Shape& shape, double t0, double t1) {
  double greatest = 0.0;
  for (int i = 0; i < shape.parts(); ++i) {
    const Convex part = shape.part(i);
    greatest = std::fmax(greatest, travel(motion.view(), reach(part) + part.radius, t0, t1));
  }
  return greatest;
}

CastOptions checked_options(double margin, double tolerance) {
  return {checked_radius(margin, "margin"), checked_tolerance(tolerance)};
}

py::tuple closest_tuple(const Closest& c) {
  return py::make_tuple(c.distance, c.lower_bound, xy(c.point_a), xy(c.point_b), xy(c.direction));
}

py::tuple impact_tuple(const Impact& impact) {
  return py::make_tuple(static_cast<int>(impact.verdict), static_cast<int>(impact.status),
                        impact.time, impact.last_valid,
                        impact.hit() ? py::object(closest_tuple(impact.closest)) : py::none(),
                        impact.iterations);
}

}  // namespace

void bind_casts(py::module_& module) {
  py::class_<OwnedMotion>(module, "Motion", "Pose of a shape as a function of time.")
      .def_property_readonly("begin", [](const OwnedMotion& m) { return m.pieces.front().begin; })
      .def_property_readonly("end", [](const OwnedMotion& m) { return m.pieces.back().end; })
      .def_property_readonly("pieces",
                             [](const OwnedMotion& m) { return table(m.pieces, &row_of); })
      .def("at", &pose_at, "t"_a)
      .def("travel", &greatest_travel, "shape"_a, "t0"_a, "t1"_a);
  module.def("motion_from_pieces", &motion_of, "pieces"_a);
  module.def("moving", &moving, "pose"_a, "velocity"_a, "time"_a);
  module.def("path", &path, "times"_a, "poses"_a);
  module.def(
      "check_poses",
      [](const Doubles& poses, const std::string& name) {
        checked_in_place(poses, length(poses) / 3, name.c_str());
      },
      "poses"_a, "name"_a);
  module.def(  // rows of `steps` times each
      "check_times",
      [](const Doubles& times, const std::string& name, std::size_t steps) {
        const std::span<const double> at = checked_times(times, length(times), name.c_str());
        if (steps == 0 || at.size() % steps != 0) throw py::value_error("steps: whole rows");
        refuse(detail::check_increasing_times(at, at, name.c_str(), steps));
      },
      "times"_a, "name"_a, "steps"_a);
  module.def(
      "time_of_impact",
      [](const Shape& a, const OwnedMotion& motion_a, const Shape& b, const OwnedMotion& motion_b,
         double t0, double t1, double margin, double tolerance, int max_iterations) {
        CastOptions options = checked_options(margin, tolerance);
        options.max_iterations = max_iterations;
        return impact_tuple(
            time_of_impact(a, motion_a.view(), b, motion_b.view(), t0, t1, options));
      },
      "a"_a, "motion_a"_a, "b"_a, "motion_b"_a, "t0"_a, "t1"_a, "margin"_a, "tolerance"_a,
      "max_iterations"_a);
  module.def(
      "closest_approach",
      [](const Shape& a, const OwnedMotion& motion_a, const Shape& b, const OwnedMotion& motion_b,
         double t0, double t1, double tolerance) {
        Approach found = closest_approach(a, motion_a.view(), b, motion_b.view(), t0, t1,
                                          checked_options(0.0, tolerance).tolerance);
        if (std::isnan(found.time)) {  // no distance was computed
          found.closest = detail::unknown_closest();
          found.distance.upper = found.time;
        }
        return py::make_tuple(static_cast<int>(found.status), found.distance.upper,
                              found.distance.lower, found.time, closest_tuple(found.closest),
                              found.iterations);
      },
      "a"_a, "motion_a"_a, "b"_a, "motion_b"_a, "t0"_a, "t1"_a, "tolerance"_a);
  module.def(
      "shape_cast",
      [](const Shape& a, const PoseArgument& pose_a, const std::array<double, 2>& direction,
         double max_distance, const Shape& b, const PoseArgument& pose_b, double margin,
         double tolerance) {
        checked_coordinate(direction[0], "direction", 0);
        checked_coordinate(direction[1], "direction", 1);
        if (direction[0] == 0.0 && direction[1] == 0.0) {
          refuse("direction", "must have a length greater than 0");
        }
        const Impact impact =
            shape_cast(a, checked_pose(pose_a, "pose_a"), {direction[0], direction[1]},
                       checked_max_distance(max_distance), b, checked_pose(pose_b, "pose_b"),
                       checked_options(margin, tolerance));
        if (impact.status == Status::invalid_input) {
          refuse("pose_b", Status::coord_range, "the shapes must be less than 1e15 m apart");
        }
        return impact_tuple(impact);
      },
      "a"_a, "pose_a"_a, "direction"_a, "max_distance"_a, "b"_a, "pose_b"_a, "margin"_a,
      "tolerance"_a);
}

}  // namespace gjk::bindings
