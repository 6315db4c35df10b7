// SPDX-FileCopyrightText: gjk_collision contributors
// SPDX-License-Identifier: Apache-2.0
// The iterations of GJK.
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

}  // namespace

void bind_trace(py::module_& module) {
  module.def("trace", &trace_parts, py::arg("a"), py::arg("b"), py::arg("pose_a"),
             py::arg("pose_b"), py::arg("part_a"), py::arg("part_b"));
}

}  // namespace gjk::bindings
