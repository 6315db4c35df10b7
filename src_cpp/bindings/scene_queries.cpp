// SPDX-FileCopyrightText: gjk_collision contributors
// SPDX-License-Identifier: Apache-2.0
// Queries on a scene: checks of one or many poses, and the nearest obstacles.
#include <pybind11/stl.h>

#include <algorithm>
#include <span>

#include "bindings.hpp"
#include "gjk/narrow/separation.hpp"

namespace gjk::bindings {
namespace {

// Shape of the arrays of a result.
using Extents = std::vector<py::ssize_t>;

// NaN for each answer. The array is a view of one number, so it is read-only.
py::array_t<double> not_computed(const Extents& extents) {
  py::array_t<double> one(1);
  one.mutable_data()[0] = kNaN;
  py::detail::array_proxy(one.ptr())->flags &= ~py::detail::npy_api::NPY_ARRAY_WRITEABLE_;
  return {extents, Extents(extents.size()), one.data(), one};
}

// An array with a row of numbers for each pose, or none.
template <class T>
class Rows {
 public:
  Rows(Extents extents, std::size_t columns, bool is_asked) {
    if (!is_asked) return;
    if (columns > 1) extents.push_back(rows(columns));
    array.emplace(extents);
    data_ = array->mutable_data();
  }
  explicit Rows(const Extents& extents) : Rows(extents, 1, true) {}

  // The same row from `begin` to `end` - 1. May be called by any thread, without the GIL.
  template <class... Values>
  void put(std::size_t begin, std::size_t end, Values... values) const noexcept {
    if (data_ == nullptr) return;
    const std::array row{static_cast<T>(values)...};
    for (std::size_t i = begin; i < end; ++i) std::ranges::copy(row, data_ + i * row.size());
  }

  // Of all rows of one number.
  std::span<const T> view(std::size_t count) const noexcept { return {data_, count}; }

  std::optional<py::array_t<T>> array;

 private:
  T* data_ = nullptr;
};

// The first verdict that is not FREE; -1: none.
std::int64_t first_invalid(std::span<const std::uint8_t> verdicts) noexcept {
  const auto found = std::ranges::find_if_not(
      verdicts, [](std::uint8_t v) { return is_free(static_cast<Verdict>(v)); });
  return found == verdicts.end() ? -1 : found - verdicts.begin();
}

Verdict worst_of(std::span<const std::uint8_t> verdicts) noexcept {
  Verdict worst = Verdict::unknown;  // if there is none
  int most = -1;
  for (unsigned v = 0; v < 4; ++v) {
    const auto verdict = static_cast<Verdict>(v);
    if (severity(verdict) <= most || std::ranges::find(verdicts, v) == verdicts.end()) continue;
    worst = verdict;
    most = severity(verdict);
  }
  return worst;
}

// Poses of shape (..., 3) give arrays of shape (...). `which`: the index of the shape at each pose,
// checked; empty: one shape. Returns the worst verdict, the index of the first pose that is not
// FREE, verdicts, statuses, distances, lower bounds, obstacles, witnesses and directions.
py::tuple check(const Scene& scene, const std::vector<const Shape*>& shapes, const Doubles& poses,
                const Doubles& times, double margin, int mode, bool stop_at_first, unsigned threads,
                const Array<std::uint32_t>& which) {
  const std::size_t count = length(poses) / 3;
  const std::span<const Pose> placed = checked_in_place(poses, count, "poses");
  const std::span<const double> at = checked_times(times, count, "times");
  const Extents extents(poses.shape(), poses.shape() + poses.ndim() - 1);
  const CheckOptions options{checked_radius(margin, "margin"), static_cast<Mode>(mode),
                             stop_at_first,
                             extents.empty() ? 1 : static_cast<std::size_t>(extents.back())};
  const bool has_distances = options.mode != Mode::collide;
  const bool has_witnesses = options.mode == Mode::witness;
  const Rows<std::uint8_t> verdicts(extents);
  const Rows<std::uint16_t> statuses(extents);
  const Rows<std::int64_t> nearest(extents);
  const Rows<double> distances(extents, 1, has_distances);
  const Rows<double> lower_bounds(extents, 1, has_distances);
  const Rows<double> witnesses(extents, 4, has_witnesses);
  const Rows<double> directions(extents, 2, has_witnesses);
  without_gil([&] {
    scene.check_each(
        shapes, view(which), placed, at, options,
        [&](std::size_t begin, std::size_t end, const PoseResult& r) noexcept {
          verdicts.put(begin, end, r.verdict);
          statuses.put(begin, end, r.status);
          nearest.put(begin, end, r.nearest);
          distances.put(begin, end, r.distance);
          lower_bounds.put(begin, end, r.lower_bound);
          witnesses.put(begin, end, r.witness_ego.x, r.witness_ego.y, r.witness_obstacle.x,
                        r.witness_obstacle.y);
          directions.put(begin, end, r.direction.x, r.direction.y);
        },
        threads);
  });
  const std::span<const std::uint8_t> all = verdicts.view(count);
  const py::object none = has_distances ? py::none() : py::object(not_computed(extents));
  return py::make_tuple(static_cast<int>(worst_of(all)), first_invalid(all), verdicts.array,
                        statuses.array, has_distances ? py::cast(distances.array) : none,
                        has_distances ? py::cast(lower_bounds.array) : none, nearest.array,
                        witnesses.array, directions.array);
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

// Indices, distances, lower bounds, witnesses, directions and statuses.
py::tuple arrays_of(const std::vector<Nearest>& found) {
  const auto of = [&found](auto member) {
    return column(found, [member](const Nearest& n) { return n.closest.*member; });
  };
  return py::make_tuple(
      column(found, &Nearest::obstacle), of(&Closest::distance), of(&Closest::lower_bound),
      table(found, [](const Nearest& n) { return witness_of(n.closest); }),
      table(found, [](const Nearest& n) { return n.closest.direction; }), of(&Closest::status));
}

py::tuple nearest(const Scene& scene, const Shape& shape, const PoseValues& pose,
                  const std::optional<double>& time, std::size_t k, double max_distance) {
  const Pose placed = checked_pose(pose.data(), "pose", -1);
  checked_max_distance(max_distance);
  if (time) checked_time(*time, "time", -1);
  std::vector<Nearest> found;
  Status status = Status::success;
  without_gil([&] {
    Scene::Ego ego(shape);
    status = time ? scene.nearest(ego, placed, *time, k, max_distance, found)
                  : scene.nearest(ego, placed, k, max_distance, found);
  });
  refuse_unknown(scene, shape, placed, time, 0.0, status);
  return arrays_of(found);
}

// The same at many poses, in rows of k; rows with fewer obstacles end with the index -1 and NaN.
py::tuple nearest_at_each(const Scene& scene, const Shape& shape, const Doubles& poses,
                          const Doubles& times, std::size_t k, double max_distance,
                          unsigned threads) {
  const std::size_t count = length(poses) / 3;
  const std::vector<Pose> placed = checked_poses(poses, count, "poses");
  const std::span<const double> at = checked_times(times, count, "times");
  checked_max_distance(max_distance);
  Nearest none;
  none.closest = detail::unknown_closest();
  none.closest.status = Status::undefined;
  std::vector<Nearest> all(count * k, none);
  std::vector<Status> statuses(count);
  without_gil([&] {
    for_each_chunk(count, 64, threads, [&] {
      return [&, ego = Scene::Ego(shape), found = std::vector<Nearest>()](std::size_t begin,
                                                                          std::size_t end) mutable {
        for (std::size_t n = begin; n < end; ++n) {
          statuses[n] = at.empty() ? scene.nearest(ego, placed[n], k, max_distance, found)
                                   : scene.nearest(ego, placed[n], at[n], k, max_distance, found);
          std::ranges::copy(found, all.begin() + static_cast<std::ptrdiff_t>(n * k));
        }
      };
    });
  });
  for (std::size_t n = 0; n < count; ++n) {
    const auto time = at.empty() ? std::nullopt : std::optional(at[n]);
    refuse_unknown(scene, shape, placed[n], time, 0.0, statuses[n], static_cast<long>(n));
  }
  return arrays_of(all);
}

}  // namespace

void bind_scene_queries(py::module_& module, py::class_<Scene>& scene) {
  module.def("first_invalid", &first_invalid_of, "verdicts"_a);
  scene
      .def("check", &check, "shapes"_a, "poses"_a, "times"_a, "margin"_a, "mode"_a,
           "stop_at_first"_a, "threads"_a, "which"_a)
      .def("is_free", &is_free, "shape"_a, "pose"_a, "time"_a.noconvert(), "margin"_a.noconvert())
      .def("nearest", &nearest, "shape"_a, "pose"_a, "time"_a, "k"_a, "max_distance"_a)
      .def("nearest_at_each", &nearest_at_each, "shape"_a, "poses"_a, "times"_a, "k"_a,
           "max_distance"_a, "threads"_a);
}

}  // namespace gjk::bindings
