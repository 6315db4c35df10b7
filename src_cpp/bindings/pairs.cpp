// SPDX-FileCopyrightText: gjk_collision contributors
// SPDX-License-Identifier: Apache-2.0
// Queries on two shapes, each at a pose.
#include <pybind11/stl.h>

#include "bindings.hpp"
#include "gjk/narrow/trace.hpp"

namespace gjk::bindings {
namespace {

struct Poses {
  Poses(const PoseArgument& pose_a, const PoseArgument& pose_b)
      : a(checked_pose(pose_a, "pose_a")), b(checked_pose(pose_b, "pose_b")) {}

  Pose a;
  Pose b;
};

ClosestShapes closest_shapes(const Shape& a, const Shape& b, const Poses& at) {
  const ClosestShapes found = closest(a, b, at.a, at.b);
  if (found.closest.status != Status::success) refuse(explain_pair(a, b, at.a, at.b));
  return found;
}

}  // namespace

void bind_pairs(py::module_& module) {
  module.def(
      "is_pose",
      [](const py::object& pose) {
        PoseValues values;
        return pose.is_none() || load_pose(pose.ptr(), values);
      },
      "pose"_a);
  module.def(
      "collide",
      [](const Shape& a, const Shape& b, const PoseArgument& pose_a, const PoseArgument& pose_b) {
        const Poses at(pose_a, pose_b);
        const Verdict verdict = collide(a, b, at.a, at.b);
        if (verdict == Verdict::unknown) refuse(explain_pair(a, b, at.a, at.b));
        return !is_free(verdict);
      },
      "a"_a, "b"_a, "pose_a"_a, "pose_b"_a);
  module.def(
      "distance",
      [](const Shape& a, const Shape& b, const PoseArgument& pose_a, const PoseArgument& pose_b) {
        return closest_shapes(a, b, {pose_a, pose_b}).closest.distance;
      },
      "a"_a, "b"_a, "pose_a"_a, "pose_b"_a);
  module.def(
      "closest",
      [](const Shape& a, const Shape& b, const PoseArgument& pose_a, const PoseArgument& pose_b) {
        const Poses at(pose_a, pose_b);
        const ClosestShapes found = closest_shapes(a, b, at);
        const Closest& c = found.closest;
        const Convex p = a.part(found.part_a);
        const Convex q = b.part(found.part_b);
        Rooms rooms{Room(p.size), Room(q.size)};
        const int iterations = iterations_of(rooms.p.place(p, Transform::from_pose(at.a)),
                                             rooms.q.place(q, Transform::from_pose(at.b)));
        return py::make_tuple(c.distance, c.lower_bound, xy(c.point_a), xy(c.point_b),
                              xy(c.direction),
                              py::make_tuple(found.part_a, c.feature_a.first, c.feature_a.second),
                              py::make_tuple(found.part_b, c.feature_b.first, c.feature_b.second),
                              iterations, static_cast<int>(c.status));
      },
      "a"_a, "b"_a, "pose_a"_a, "pose_b"_a);
}

}  // namespace gjk::bindings
