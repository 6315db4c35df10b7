// SPDX-FileCopyrightText: gjk_collision contributors
// SPDX-License-Identifier: Apache-2.0
// Queries on two shapes, each at a pose.
#include <pybind11/stl.h>

#include <algorithm>

#include "bindings.hpp"

namespace gjk::bindings {
namespace {

// Refuses the pose that moves its shape out of the domain. Requires that one of them does.
[[noreturn]] void refuse_domain(const Shape& a, const Transform& at_a, Rooms& rooms) {
  bool is_a = false;
  for (int i = 0; i < a.parts(); ++i) {
    const Convex& placed = rooms.p.place(a.part(i), at_a);
    is_a |= !in_domain(placed, placed);
  }
  refuse(Status::coord_range, is_a ? "pose_a" : "pose_b", -1,
         "must not move the shape out of the range of 1e15 m");
}

int most_vertices(const Shape& shape) {
  int most = 0;
  for (int i = 0; i < shape.parts(); ++i) most = std::max(most, shape.part(i).size);
  return most;
}

// Whether any part of a collides with any part of b. If none does, all must be in the domain.
bool collide_shapes(const Shape& a, const Shape& b, const PoseArgument& pose_a,
                    const PoseArgument& pose_b) {
  const Transform at_a = Transform::from_pose(checked_pose(pose_a, "pose_a"));
  const Transform at_b = Transform::from_pose(checked_pose(pose_b, "pose_b"));
  Rooms rooms{Room(most_vertices(a)), Room(most_vertices(b))};
  bool is_known = true;
  for (int i = 0; i < a.parts(); ++i) {
    for (int j = 0; j < b.parts(); ++j) {
      const Verdict verdict = collide(a.part(i), at_a, b.part(j), at_b, rooms);
      if (verdict == Verdict::collision) return true;
      is_known &= is_free(verdict);
    }
  }
  if (!is_known) refuse_domain(a, at_a, rooms);
  return false;
}

struct ClosestShapes {
  Transform at_a;
  Transform at_b;
  Closest closest;
  int part_a = 0;
  int part_b = 0;
};

// The nearest pair of parts. If shapes with several parts overlap, this is the deepest pair. Its
// depth is a lower bound on the length of the translation that separates the whole shapes.
ClosestShapes closest_shapes(const Shape& a, const Shape& b, const PoseArgument& pose_a,
                             const PoseArgument& pose_b) {
  ClosestShapes best;
  best.at_a = Transform::from_pose(checked_pose(pose_a, "pose_a"));
  best.at_b = Transform::from_pose(checked_pose(pose_b, "pose_b"));
  Rooms rooms{Room(most_vertices(a)), Room(most_vertices(b))};
  for (int i = 0; i < a.parts(); ++i) {
    const Convex& p = rooms.p.place(a.part(i), best.at_a);
    for (int j = 0; j < b.parts(); ++j) {
      const Closest pair = closest(p, rooms.q.place(b.part(j), best.at_b));
      if (pair.status != Status::success) refuse_domain(a, best.at_a, rooms);
      const bool first = best.closest.status == Status::undefined;
      const double lower =
          first ? pair.lower_bound : std::fmin(best.closest.lower_bound, pair.lower_bound);
      if (first || pair.distance < best.closest.distance) {
        best.closest = pair;
        best.part_a = i;
        best.part_b = j;
      }
      best.closest.lower_bound = lower;
    }
  }
  return best;
}

}  // namespace

void bind_pairs(py::module_& module) {
  module.def(
      "is_pose",
      [](const py::object& pose) {
        PoseValues values;
        return pose.is_none() || load_pose(pose.ptr(), values);
      },
      py::arg("pose"));
  module.def("collide", &collide_shapes, py::arg("a"), py::arg("b"), py::arg("pose_a"),
             py::arg("pose_b"));
  module.def(
      "distance",
      [](const Shape& a, const Shape& b, const PoseArgument& pose_a, const PoseArgument& pose_b) {
        return closest_shapes(a, b, pose_a, pose_b).closest.distance;
      },
      py::arg("a"), py::arg("b"), py::arg("pose_a"), py::arg("pose_b"));
  module.def(
      "closest",
      [](const Shape& a, const Shape& b, const PoseArgument& pose_a, const PoseArgument& pose_b) {
        const ClosestShapes found = closest_shapes(a, b, pose_a, pose_b);
        const Closest& c = found.closest;
        const Convex p = a.part(found.part_a);
        const Convex q = b.part(found.part_b);
        Rooms rooms{Room(p.size), Room(q.size)};
        const int iterations =
            iterations_of(rooms.p.place(p, found.at_a), rooms.q.place(q, found.at_b));
        return py::make_tuple(c.distance, c.lower_bound, xy(c.point_a), xy(c.point_b),
                              xy(c.direction),
                              py::make_tuple(found.part_a, c.feature_a.first, c.feature_a.second),
                              py::make_tuple(found.part_b, c.feature_b.first, c.feature_b.second),
                              iterations, static_cast<int>(c.status));
      },
      py::arg("a"), py::arg("b"), py::arg("pose_a"), py::arg("pose_b"));
}

}  // namespace gjk::bindings
