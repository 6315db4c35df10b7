// SPDX-FileCopyrightText: gjk_collision contributors
// SPDX-License-Identifier: Apache-2.0
// The iterations of GJK, and the step of the cascade that decides.
#include "gjk/narrow/trace.hpp"

#include <pybind11/stl.h>

#include "bindings.hpp"

namespace gjk::bindings {
namespace {

py::tuple vertex_tuple(const SimplexVertex& v) { return py::make_tuple(xy(v.point), v.p, v.q); }

py::tuple step_tuple(const TraceStep& step) {
  py::list simplex;
  for (int i = 0; i < step.simplex.size; ++i) simplex.append(vertex_tuple(step.simplex.vertex[i]));
  return py::make_tuple(simplex, xy(step.direction), vertex_tuple(step.support), step.bounds.lower,
                        step.bounds.upper, step.barycode);
}

py::tuple trace_parts(const Shape& a, const Shape& b, const PoseArgument& pose_a,
                      const PoseArgument& pose_b, int part_a, int part_b) {
  const Convex p = a.part(part_a);
  const Convex q = b.part(part_b);
  Rooms rooms{Room(p.size), Room(q.size)};
  const Trace trace =
      gjk::trace(rooms.p.place(p, Transform::from_pose(checked_pose(pose_a, "pose_a"))),
                 rooms.q.place(q, Transform::from_pose(checked_pose(pose_b, "pose_b"))));
  py::list steps;
  for (int i = 0; i < trace.size; ++i) steps.append(step_tuple(trace.step[i]));
  return py::make_tuple(steps, trace.is_settled);
}

const char* name_of(detail::Step step) {
  switch (step) {
    case detail::Step::turned_boxes:
      return "turned boxes";
    case detail::Step::overlap:
      return "overlap";
    case detail::Step::boxes:
      return "boxes";
    case detail::Step::extremes:
      return "extremes";
    case detail::Step::axes:
      return "axes";
    case detail::Step::gjk:
      return "GJK";
    case detail::Step::exact:
      return "exact";
    default:
      return "";
  }
}

// The verdict of collide() on two parts for a margin, the name of the step that decided it, and
// the distance above which a lower bound decides without these steps.
py::tuple deciding_step(const Shape& a, const Shape& b, const PoseArgument& pose_a,
                        const PoseArgument& pose_b, int part_a, int part_b, double margin) {
  const Convex p = a.part(part_a);
  const Convex q = b.part(part_b);
  const Transform at_p = Transform::from_pose(checked_pose(pose_a, "pose_a"));
  const Transform at_q = Transform::from_pose(checked_pose(pose_b, "pose_b"));
  Rooms rooms{Room(p.size), Room(q.size)};
  const Deciding found = deciding_step(p, at_p, q, at_q, rooms, margin);
  const double certain = free_above(rooms.p.place(p, at_p), rooms.q.place(q, at_q), margin);
  return py::make_tuple(static_cast<int>(found.verdict), name_of(found.step), certain);
}

}  // namespace

void bind_trace(py::module_& module) {
  module.def("trace", &trace_parts, "a"_a, "b"_a, "pose_a"_a, "pose_b"_a, "part_a"_a, "part_b"_a);
  module.def("deciding_step", &deciding_step, "a"_a, "b"_a, "pose_a"_a, "pose_b"_a, "part_a"_a,
             "part_b"_a, "margin"_a);
}

}  // namespace gjk::bindings
