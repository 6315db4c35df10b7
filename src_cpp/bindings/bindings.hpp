// SPDX-FileCopyrightText: gjk_collision contributors
// SPDX-License-Identifier: Apache-2.0
// Shared by the bindings: array types, the exception for invalid input, conversions and checks of
// arguments, and one bind function per topic.
#pragma once

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <functional>
#include <iterator>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <type_traits>

#include "gjk/gjk.hpp"
#include "gjk/scene/obstacle_arrays.hpp"
#include "gjk/shape/domain.hpp"

namespace gjk::bindings {

namespace py = pybind11;
using py::literals::operator""_a;  // "name"_a: the name of an argument

// float64, C-contiguous. Other arrays are converted to a copy.
using Doubles = py::array_t<double, py::array::c_style | py::array::forcecast>;
template <class T>
using Array = py::array_t<T, py::array::c_style | py::array::forcecast>;

template <class T>
std::span<const T> view(const Array<T>& array) {
  return {array.data(), static_cast<std::size_t>(array.size())};
}

// Points of an array x, y, x, y, ..., whose size must be even.
inline std::vector<Vec2> points(std::span<const double> xy) {
  std::vector<Vec2> result(xy.size() / 2);
  for (std::size_t i = 0; i < result.size(); ++i) result[i] = {xy[2 * i], xy[2 * i + 1]};
  return result;
}

// Whether the offsets are those of `count` ranges of items, one after the other, up to `end`.
inline bool are_ranges(std::span<const std::uint64_t> offsets, std::size_t count, std::size_t end) {
  return offsets.size() == count + 1 && offsets.front() == 0 && offsets.back() == end &&
         std::is_sorted(offsets.begin(), offsets.end());
}

// Exception that is translated to gjk_collision.errors.InputError.
struct InputIssue {
  Issue issue;
};

inline void refuse(Issue issue) {
  if (issue) throw InputIssue{std::move(issue)};
}

inline void refuse(std::string argument, Status status, std::string rule) {
  refuse(refusal(std::move(argument), status, std::move(rule)));
}

inline void refuse(std::string argument, std::string rule) {
  refuse(refusal(std::move(argument), std::move(rule)));
}

// The end of a message: a value as Python prints it.
template <class T>
std::string got(const T& value) {
  return " (got " + std::string(py::str(py::cast(value))) + ")";
}

// Converts the index of a value to the index of its row in an (n, 2) array.
inline Issue per_vertex(Issue issue) {
  if (issue.index >= 0) issue.index /= 2;
  return issue;
}

// A real number. Complex numbers are refused, because numpy would drop their imaginary part in a
// conversion to float.
struct Real {
  double value = 0.0;
};

// x, y, yaw from a tuple, a list or an array. Other types are refused: a set, for example, has no
// order.
struct PoseValues : std::array<double, 3> {};

using PoseArgument = std::optional<PoseValues>;

inline bool load_real(PyObject* source, double& value) {
  if (PyFloat_Check(source)) {  // also true for numpy.float64
    value = PyFloat_AS_DOUBLE(source);
    return true;
  }
  const py::handle number(source);
  if (PyBool_Check(source)) return false;
  if (!PyLong_Check(source)) {
    if (PyComplex_Check(source) || PyNumber_Check(source) == 0) return false;
    const py::object dtype = py::getattr(number, "dtype", py::none());
    if (py::isinstance<py::dtype>(dtype)) {
      const char kind = py::reinterpret_borrow<py::dtype>(dtype).kind();
      if (kind != 'f' && kind != 'i' && kind != 'u') return false;
      if (!py::getattr(number, "ndim", py::int_(0)).equal(py::int_(0))) return false;
    }
  }
  value = PyFloat_AsDouble(source);
  if (value != -1.0 || PyErr_Occurred() == nullptr) return true;
  PyErr_Clear();
  return false;
}

inline bool load_pose(PyObject* source, PoseValues& pose) {
  if (PyTuple_Check(source) || PyList_Check(source)) {
    if (PySequence_Fast_GET_SIZE(source) != 3) return false;
    for (std::size_t i = 0; i < 3; ++i) {
      // The conversion of an item may run Python code that changes the list.
      if (PySequence_Fast_GET_SIZE(source) != 3) return false;
      PyObject* const item = PySequence_Fast_GET_ITEM(source, static_cast<py::ssize_t>(i));
      if (!load_real(py::reinterpret_borrow<py::object>(item).ptr(), pose[i])) return false;
    }
    return true;
  }
  if (!py::isinstance<py::array>(source)) return false;
  const auto array = py::reinterpret_borrow<py::array>(source);
  // A subclass of ndarray may be a masked array.
  if (!py::type::of(array).is(py::type::of(py::array())) &&
      py::module_::import("numpy").attr("ma").attr("is_masked")(array).cast<bool>()) {
    return false;
  }
  if (array.ndim() != 1 || array.shape(0) != 3) return false;
  if (py::isinstance<py::array_t<double, 0>>(array)) {
    for (std::size_t i = 0; i < 3; ++i) {
      std::memcpy(&pose[i], array.data(static_cast<py::ssize_t>(i)), sizeof(double));
    }
    return true;
  }
  const char kind = array.dtype().kind();
  if (kind != 'f' && kind != 'i' && kind != 'u') return false;
  const Doubles doubles(array);
  std::copy_n(doubles.data(), 3, pose.begin());
  return true;
}

// Whether a yaw is a usual angle in degrees: a multiple of 5 from 15 to 360. In radians, this is
// more than two turns, and such a round number is unlikely.
inline constexpr double kLeastDegrees = 15.0;
inline bool looks_like_degrees(double yaw) noexcept {
  const double size = std::fabs(yaw);
  return size >= kLeastDegrees && size <= 360.0 && std::fmod(size, 5.0) == 0.0;
}

inline void warn_of_degrees(const char* argument, long index, double yaw) {
  const py::object at = index < 0 ? py::object(py::none()) : py::int_(index);
  py::module_::import("gjk_collision.arguments").attr("warn_of_degrees")(argument, at, yaw);
}

// Warns of the first of some flat poses whose yaw looks like degrees.
inline void warn_of_degrees_in(std::span<const double> poses, const char* name) {
  for (std::size_t i = 0; 3 * i + 2 < poses.size(); ++i) {
    const double yaw = poses[3 * i + 2];
    if (looks_like_degrees(yaw)) return warn_of_degrees(name, static_cast<long>(i), yaw);
  }
}

// Refuses a pose that is not finite or out of range. `index` is the index of the pose in its array,
// or -1 for a single pose.
inline Pose valid_pose(const double* xyyaw, const char* argument, long index) {
  const Pose pose{xyyaw[0], xyyaw[1], xyyaw[2]};
  if (!is_in_domain(pose)) refuse(detail::check_in_domain(pose, argument, index));
  return pose;
}

// The same, with a warning if the yaw looks like degrees.
inline Pose checked_pose(const double* xyyaw, const char* argument, long index) {
  const Pose pose = valid_pose(xyyaw, argument, index);
  if (looks_like_degrees(pose.yaw)) warn_of_degrees(argument, index, pose.yaw);
  return pose;
}

inline Pose checked_pose(const PoseArgument& pose, const char* argument) {
  return pose ? checked_pose(pose->data(), argument, -1) : Pose{};
}

template <class Work>
void without_gil(const Work& work) {
  const py::gil_scoped_release release;
  work();
}

inline std::size_t length(const py::array& array) { return static_cast<std::size_t>(array.size()); }

// The rows of an array of poses or arcs, in place.
inline std::span<const Pose> pose_rows(const Doubles& rows) {
  return detail::pose_rows(view(rows));
}
inline std::span<const Arc> arc_rows(const Doubles& rows) {
  static_assert(sizeof(Arc) == 2 * sizeof(double));
  return {reinterpret_cast<const Arc*>(rows.data()), length(rows) / 2};
}

// The poses of a flat or (n, 3) array, which must hold `count` poses, in place. Warns of the first
// yaw that looks like degrees.
inline std::span<const Pose> checked_in_place(const Doubles& poses, std::size_t count,
                                              const char* name) {
  refuse(detail::check_flat_poses(view(poses), count, name));
  warn_of_degrees_in(view(poses), name);
  return pose_rows(poses);
}
// A copy of them.
inline std::vector<Pose> checked_poses(const Doubles& poses, std::size_t count, const char* name) {
  const std::span<const Pose> placed = checked_in_place(poses, count, name);
  return {placed.begin(), placed.end()};
}

// Refuses a number that is not finite or out of range. `index` is as for a pose, `limit_text` the
// limit with its unit.
inline double checked_number(double value, const char* argument, long index, double limit,
                             const char* limit_text) {
  refuse(detail::check_number(value, argument, index, limit, limit_text));
  return value;
}

inline double checked_time(double time, const char* argument, long index) {
  refuse(detail::check_time(time, argument, index));
  return time;
}

// Refuses times (s) unless the array is empty or holds `count` times.
inline std::span<const double> checked_times(const Doubles& times, std::size_t count,
                                             const char* name) {
  refuse(detail::check_times(view(times), count, name));
  return view(times);
}

// The poses of `paths` trajectories of equal length. `times` is empty, or has one time per pose, or
// one per pose of a trajectory if all have the same times.
struct Trajectories {
  Trajectories(const Doubles& given, const Doubles& given_times, std::size_t paths) {
    poses = checked_in_place(given, length(given) / 3, "poses");
    times = checked_times(given_times, length(given_times), "times");
    refuse(detail::check_fit(poses, times, paths));
    refuse(detail::check_increasing_times(times, times, "times", poses.size() / paths));
  }

  std::span<const Pose> poses;
  std::span<const double> times;
};

// A radius or a margin (m).
inline double checked_radius(double radius, const char* argument, long index = -1) {
  refuse(check_radius(radius, argument, index));
  return radius;
}

inline double checked_tolerance(double tolerance) {
  refuse(detail::check_tolerance(tolerance));
  return tolerance;
}

inline double checked_max_distance(double distance) {
  if (!(distance >= 0.0)) refuse("max_distance", "must not be negative or NaN" + got(distance));
  return distance;
}

// Refuses a query of one pose whose status is not success. `time`: that of the query, if any.
// `index` is the index of the pose and its time, or -1.
inline void refuse_unknown(const Scene& scene, const Shape& shape, const Pose& pose,
                           const std::optional<double>& time, double margin, Status status,
                           long index = -1) {
  if (status == Status::success) return;
  const Obstacles::View view = time ? scene.obstacles().at(*time) : Obstacles::at_rest();
  refuse(detail::explain_at(scene, shape, pose, view, margin, "pose", "time", index));
  refuse({status, "pose", index, reason(status)});
}

// The number of pairs of a flat array of indices. Refuses an index that is not below its size.
std::size_t check_index_pairs(const Array<std::int64_t>& pairs, std::size_t size_a,
                              std::size_t size_b);

inline py::tuple xy(Vec2 p) { return py::make_tuple(p.x, p.y); }

inline py::ssize_t rows(std::size_t count) noexcept { return static_cast<py::ssize_t>(count); }

// One value of each item, as an array: of(item) is a number or an enumeration.
template <class Items, class Of = std::identity>
auto column(const Items& items, Of of = {}) {
  using Value = std::remove_cvref_t<std::invoke_result_t<Of&, decltype(*std::begin(items))>>;
  using Number = typename std::conditional_t<std::is_enum_v<Value>, std::underlying_type<Value>,
                                             std::type_identity<Value>>::type;
  py::array_t<Number> values(rows(std::size(items)));
  std::ranges::transform(items, values.mutable_data(), [&of](const auto& item) {
    return static_cast<Number>(std::invoke(of, item));
  });
  return values;
}

// The same with a row of numbers of each item.
inline std::array<double, 2> numbers_of(const Vec2& p) noexcept { return {p.x, p.y}; }
inline std::array<double, 3> numbers_of(const Pose& p) noexcept { return {p.x, p.y, p.yaw}; }
template <std::size_t N>
std::array<double, N> numbers_of(const std::array<double, N>& row) noexcept {
  return row;
}
template <class Items, class Of = std::identity>
Doubles table(const Items& items, Of of = {}) {
  using Row = decltype(numbers_of(std::invoke(of, *std::begin(items))));
  Doubles values({rows(std::size(items)), rows(std::tuple_size_v<Row>)});
  double* next = values.mutable_data();
  for (const auto& item : items)
    next = std::ranges::copy(numbers_of(std::invoke(of, item)), next).out;
  return values;
}

// Closest points: x, y on a, x, y on b.
inline std::array<double, 4> witness_of(const Closest& c) noexcept {
  return {c.point_a.x, c.point_a.y, c.point_b.x, c.point_b.y};
}

void bind_shape(py::module_& module);
void bind_pairs(py::module_& module);
void bind_casts(py::module_& module);
void bind_trace(py::module_& module);
void bind_region(const py::module_& module);
void bind_scene(py::module_& module);
void bind_scene_queries(py::module_& module, py::class_<Scene>& scene);
void bind_path(py::class_<Scene>& scene);
void bind_time_to_collision(py::class_<Scene>& scene);
void bind_criticality(py::class_<Scene>& scene);
void bind_gradient(py::class_<Scene>& scene);
void bind_nearest_free(py::class_<Scene>& scene);
void bind_ray_cast(py::class_<Scene>& scene);
void bind_mirror(py::module_& module);
void bind_pairwise(py::module_& module);
void bind_many(py::module_& module);
void bind_curves(py::module_& module);
void bind_state(py::module_& module);
void bind_rules(py::module_& module);
void bind_convert(py::module_& module);
void bind_free_certificate(py::module_& module);

}  // namespace gjk::bindings

namespace pybind11::detail {

template <>
struct type_caster<gjk::bindings::Real> {
  PYBIND11_TYPE_CASTER(gjk::bindings::Real, const_name("float"));
  bool load(handle source, bool) { return gjk::bindings::load_real(source.ptr(), value.value); }
};

template <>
struct type_caster<gjk::bindings::PoseValues> {
  PYBIND11_TYPE_CASTER(gjk::bindings::PoseValues, const_name("collections.abc.Sequence[float]"));
  bool load(handle source, bool) { return gjk::bindings::load_pose(source.ptr(), value); }
};

}  // namespace pybind11::detail
