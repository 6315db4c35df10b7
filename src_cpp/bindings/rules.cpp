// SPDX-FileCopyrightText: gjk_collision contributors
// SPDX-License-Identifier: Apache-2.0
// The rules of the server: questions about a snapshot. Poses are in the check frame.
#include <pybind11/stl.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "bindings.hpp"
#include "gjk/certificate.hpp"
#include "gjk/rules/questions.hpp"
#include "gjk/rules/received_snapshot.hpp"
#include "known_snapshot.hpp"

namespace gjk::bindings {
namespace {

using Integers = Array<std::int64_t>;

std::optional<Fault> fault_from(const std::optional<std::pair<int, std::string>>& fault) {
  if (!fault) return {};
  return Fault{static_cast<Status>(fault->first), fault->second};
}

// `ids`: of the obstacles, and of the outside of the region.
KnownSnapshot known_snapshot(const py::object& scene, const py::object& footprint,
                             std::int64_t stamp, std::int64_t epoch, double horizon,
                             double safety_margin, double toi_tolerance, std::size_t max_poses,
                             const std::optional<std::pair<int, std::string>>& fault,
                             const Integers& ids,
                             std::vector<std::pair<std::size_t, std::string>> senders,
                             std::string region_source) {
  KnownSnapshot known;
  known.view.scene = scene.cast<const Scene*>();
  if (!footprint.is_none()) known.view.footprint = footprint.cast<const Shape*>();
  known.view.stamp = stamp;
  known.view.epoch = epoch;
  known.view.horizon = horizon;
  known.view.safety_margin = safety_margin;
  known.view.toi_tolerance = toi_tolerance;
  known.view.max_poses = max_poses;
  known.view.fault = fault_from(fault);
  const auto of = std::make_shared<Senders>();
  of->ids = view(ids);
  for (auto& [count, name] : senders) of->senders.push_back({std::move(name), count});
  of->region_source = std::move(region_source);
  known.view.senders = of.get();
  known.data = of;
  known.owner = py::make_tuple(scene, footprint, ids);
  return known;
}

// `is_late`: a function without arguments, or None.
Budget new_budget(const py::object& is_late, double chunk_time, std::size_t first_chunk,
                  double search_time) {
  Budget budget{{}, chunk_time, first_chunk, search_time};
  if (is_late.is_none()) return budget;
  budget.is_late = [is_late] {
    const py::gil_scoped_acquire gil;
    return is_late().cast<bool>();
  };
  return budget;
}

// Calls question() without the GIL, and refuses what it refuses.
template <class Question>
auto asked(const Question& question) {
  auto found = [&] {
    const py::gil_scoped_release release;
    return question();
  }();
  refuse(std::move(found.issue));
  return found;
}

// ---- a value of a field as a Python object; arrays are ndarrays

template <class T>
py::object object_of(const T& value) {
  return py::cast(value);
}
py::object object_of(const Vec2& value) { return xy(value); }
py::object object_of(const std::vector<std::string>& values) { return py::tuple(py::cast(values)); }
template <class T>
  requires std::is_enum_v<T> || std::is_arithmetic_v<T>
py::object object_of(const std::vector<T>& values) {
  return column(values);
}
template <std::size_t N>
py::object object_of(const std::vector<std::array<double, N>>& values) {
  return table(values);
}

template <class A>
py::dict dict_of(const A& found, const Snapshot& known = {}) {
  py::dict all;
  fields(found, known,
         [&](const char* name, auto, const auto& value) { all[name] = object_of(value); });
  return all;
}

// Verdict, status, message, id and source of the obstacle, and the fields.
template <class A>
py::tuple tuple_of(const A& found, const Snapshot& known = {}) {
  const gjk::Answer& a = found.answer;
  return py::make_tuple(static_cast<int>(a.verdict), static_cast<int>(a.status), a.message,
                        known.id_of(a.obstacle), known.source_of(a.obstacle),
                        dict_of(found, known));
}

// The fields of answers without results, by the name of the message.
py::dict no_results() {
  py::dict all;
  all["Collide"] = dict_of(CollideAnswer());
  all["Distance"] = dict_of(DistanceAnswer());
  all["CheckPoses"] = dict_of(PosesAnswer());
  all["CheckPath"] = dict_of(PathAnswer());
  all["NearestFree"] = dict_of(NearestFreeAnswer());
  all["CheckShapes"] = dict_of(ShapesAnswer());
  all["CollisionState"] = dict_of(StateAnswer());
  return all;
}

py::tuple collide_of(const KnownSnapshot& known, const PoseValues& pose, double margin,
                     double error) {
  const CollideRequest request{{pose[0], pose[1], pose[2]}, margin, error};
  warn_of_degrees_in(pose, "poses");
  return tuple_of(asked([&] { return collide(known.view, request); }), known.view);
}

py::tuple distance_of(const KnownSnapshot& known, const PoseValues& pose, std::size_t k,
                      double max_distance, double error) {
  const DistanceRequest request{{pose[0], pose[1], pose[2]}, k, max_distance, error};
  warn_of_degrees_in(pose, "poses");
  return tuple_of(asked([&] { return distance(known.view, request); }), known.view);
}

// `snapshots`: the same data with each footprint of the request.
py::tuple check_poses_of(const std::vector<std::shared_ptr<KnownSnapshot>>& snapshots,
                         const Doubles& poses, const Doubles& times, const Doubles& errors,
                         const Integers& which, const Integers& group_offsets, std::int64_t stamp,
                         double margin, int mode, bool stop_at_first, std::size_t k,
                         const Budget& budget) {
  std::vector<Snapshot> views;
  for (const std::shared_ptr<KnownSnapshot>& each : snapshots) views.push_back(each->view);
  if (views.empty()) throw py::value_error("snapshots: at least one");
  const PosesRequest request{.poses = view(poses),
                             .times = view(times),
                             .errors = view(errors),
                             .stamp = stamp,
                             .margin = margin,
                             .mode = mode,
                             .stop_at_first = stop_at_first,
                             .which = view(which),
                             .group_offsets = view(group_offsets),
                             .k = k};
  const PosesAnswer found = asked([&] { return check_poses(views, request, budget); });
  warn_of_degrees_in(view(poses), "poses");
  return tuple_of(found, views.front());
}

py::tuple check_path_of(const KnownSnapshot& known, const Doubles& poses, const Doubles& times,
                        const Doubles& errors, const Doubles& arcs, std::int64_t stamp,
                        double margin, bool swept, double tolerance, const Budget& budget) {
  const PathRequest request{.poses = view(poses),
                            .times = view(times),
                            .errors = view(errors),
                            .stamp = stamp,
                            .margin = margin,
                            .swept = swept,
                            .tolerance = tolerance,
                            .arcs = view(arcs)};
  warn_of_degrees_in(view(poses), "poses");
  return tuple_of(asked([&] { return check_path(known.view, request, budget); }), known.view);
}

py::tuple nearest_free_of(const KnownSnapshot& known, const PoseValues& pose, double max_shift,
                          double max_turn, double margin, double tolerance, double error,
                          const Budget& budget) {
  const NearestFreeRequest request{
      {pose[0], pose[1], pose[2]}, max_shift, max_turn, margin, tolerance, error};
  warn_of_degrees_in(pose, "poses");
  return tuple_of(asked([&] { return nearest_free(known.view, request, budget); }), known.view);
}

// `pose_fault`: status and message; `twist`: vx, vy, wz.
py::tuple state_of(const KnownSnapshot& known, const PoseArgument& pose,
                   const std::optional<std::pair<int, std::string>>& pose_fault,
                   const PoseArgument& twist) {
  StateRequest request;
  if (pose) request.pose = {(*pose)[0], (*pose)[1], (*pose)[2]};
  request.pose_fault = fault_from(pose_fault);
  if (twist) request.twist = Twist{(*twist)[0], (*twist)[1], (*twist)[2]};
  const StateAnswer found = [&] {
    const py::gil_scoped_release release;
    return state(known.view, request);
  }();
  return tuple_of(found, known.view);
}

// Offsets, points, kinds, radius and poses of a list of shapes.
using ShapeArrays =
    std::tuple<Array<std::uint32_t>, Doubles, Array<std::uint8_t>, Doubles, Doubles>;

ObstacleArrays arrays_of(const ShapeArrays& list) {
  const auto& [offsets, xy, kinds, radius, poses] = list;
  return {view(offsets), view(xy), view(kinds), view(radius), view(poses), {}};
}

py::tuple check_shapes_of(const ShapeArrays& a, const ShapeArrays& b, const Integers& pairs,
                          int mode, double margin, ConcavePolicy policy, std::size_t max_pairs,
                          const Budget& budget) {
  const ShapesRequest request{arrays_of(a), arrays_of(b), view(pairs), mode, margin};
  const ShapesAnswer found =
      asked([&] { return check_shapes(request, {policy, max_pairs}, budget); });
  return tuple_of(found);
}

}  // namespace

double KnownSnapshot::reach() const {
  double reach = 0.0;
  for (int k = 0; view.footprint != nullptr && k < view.footprint->parts(); ++k) {
    const Convex part = view.footprint->part(k);
    for (int i = 0; i < part.size; ++i) {
      reach = std::fmax(reach, std::fabs(part.x[i]) + std::fabs(part.y[i]));
    }
  }
  return reach;
}

void bind_rules(py::module_& module) {
  module.attr("MIN_TOLERANCE") = kMinTolerance;
  module.attr("MAX_TOLERANCE") = kMaxTolerance;
  module.attr("MODE_GRADIENT") = kModeGradient;
  module.def("reason", [](int status) { return reason(static_cast<Status>(status)); }, "status"_a);
  module.def("no_results", &no_results);
  module.def("internal_errors", [] { return internal_errors.load(); });
  module.def(
      "check_batch",
      [](const Doubles& poses, const Doubles& times, std::size_t limit) {
        refuse(check_batch(view(poses), view(times), limit));
      },
      "poses"_a, "times"_a, "limit"_a);
  module.def(
      "choose_footprint",
      [](const std::string& name, const std::vector<std::string>& names, bool is_selected) {
        bool is_named = false;
        refuse(choose_footprint(name, names, is_selected, is_named));
        return is_named;
      },
      "name"_a, "names"_a, "is_selected"_a);
  module.attr("FIRST_POSES") = kFirstPoses;
  module.attr("FIRST_PAIRS") = kFirstPairs;
  py::class_<Budget>(module, "Budget", "Time limit of a request, which is computed in chunks.")
      .def(py::init(&new_budget), "is_late"_a = py::none(), py::kw_only(),
           "chunk_time"_a = Budget().chunk_time, "first_chunk"_a = 0,
           "search_time"_a = Budget().search_time);
  py::class_<KnownSnapshot, std::shared_ptr<KnownSnapshot>>(module, "Snapshot",
                                                            "Footprint and obstacles at one time.")
      .def(py::init(&known_snapshot), py::kw_only(), "scene"_a, "footprint"_a, "stamp"_a, "epoch"_a,
           "horizon"_a, "safety_margin"_a, "toi_tolerance"_a, "max_poses"_a, "fault"_a, "ids"_a,
           "senders"_a, "region_source"_a)
      .def_property_readonly("reach", &KnownSnapshot::reach)
      .def_property_readonly("max_poses",
                             [](const KnownSnapshot& known) { return known.view.max_poses; })
      .def_property_readonly(
          "has_footprint",
          [](const KnownSnapshot& known) { return known.view.footprint != nullptr; })
      .def(
          "known_until",
          [](const KnownSnapshot& known, std::int64_t stamp) {
            return known_until(known.view, stamp);
          },
          "stamp"_a)
      .def("collide", &collide_of, "pose"_a, "margin"_a, "error"_a)
      .def("distance", &distance_of, "pose"_a, "k"_a, "max_distance"_a, "error"_a)
      .def("check_path", &check_path_of, "poses"_a, "times"_a, "errors"_a, "arcs"_a, "stamp"_a,
           "margin"_a, "swept"_a, "tolerance"_a, "budget"_a)
      .def("nearest_free", &nearest_free_of, "pose"_a, "max_shift"_a, "max_turn"_a, "margin"_a,
           "tolerance"_a, "error"_a, "budget"_a)
      .def("state", &state_of, "pose"_a, "pose_fault"_a, "twist"_a);
  module.def("check_poses", &check_poses_of, "snapshots"_a, "poses"_a, "times"_a, "errors"_a,
             "which"_a, "group_offsets"_a, "stamp"_a, "margin"_a, "mode"_a, "stop_at_first"_a,
             "k"_a, "budget"_a);
  module.def("check_shapes", &check_shapes_of, "a"_a, "b"_a, "pairs"_a, "mode"_a, "margin"_a,
             "policy"_a, "max_pairs"_a, "budget"_a);
}

}  // namespace gjk::bindings
