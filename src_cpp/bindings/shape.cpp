// SPDX-FileCopyrightText: gjk_collision contributors
// SPDX-License-Identifier: Apache-2.0
// Creates shapes from arrays of vertices.
#include <pybind11/stl.h>

#include "bindings.hpp"

namespace gjk::bindings {
namespace {

// The vertices of an (n, 2) array. Refuses vertices that are not finite or out of range.
std::vector<Vec2> checked_points(const Doubles& xy, const char* name) {
  if (xy.ndim() != 2 || xy.shape(1) != 2) {
    refuse(Status::array_mismatch, name, -1, "must have shape (n, 2)");
  }
  refuse(per_vertex(check_coordinates(view(xy), name)));
  return points(view(xy));
}

Shape outline(const Doubles& xy, double radius, ConcavePolicy policy, const char* name) {
  const std::vector<Vec2> ring = checked_points(xy, name);
  refuse(check_radius(radius, "radius"));
  std::vector<std::vector<Vec2>> parts;
  refuse(outline_parts(ring, policy, name, parts));
  Shape shape;
  for (const std::vector<Vec2>& part : parts) shape.add_part(part, radius);
  return shape;
}

Shape hull(const Doubles& xy, double radius, const char* name) {
  const std::vector<Vec2> given = checked_points(xy, name);
  refuse(check_radius(radius, "radius"));
  if (given.empty()) refuse(Status::too_few_points, name, -1, "must hold at least 1 point");
  Shape shape;
  shape.add_part(convex_hull(given), radius);
  return shape;
}

py::list parts(const Shape& shape) {
  py::list result;
  for (int k = 0; k < shape.parts(); ++k) {
    const Convex part = shape.part(k);
    py::array_t<double> xy({part.size, 2});
    auto out = xy.mutable_unchecked<2>();
    for (int i = 0; i < part.size; ++i) {
      out(i, 0) = part.x[i];
      out(i, 1) = part.y[i];
    }
    xy.attr("setflags")(py::arg("write") = false);
    result.append(xy);
  }
  return result;
}

Shape inflated(const Shape& shape, double margin) {
  refuse(check_radius(margin, "margin"));
  Shape grown = shape.inflated(margin);
  refuse(check_radius(grown.radius(), "margin"));
  return grown;
}

Shape padded(const Shape& shape, double front, double rear, double left, double right) {
  refuse(check_radius(front, "front"));
  refuse(check_radius(rear, "rear"));
  refuse(check_radius(left, "left"));
  refuse(check_radius(right, "right"));
  Shape grown = shape.padded(front, rear, left, right);
  for (int i = 0; i < grown.parts(); ++i) {
    if (!(grown.part(i).extent <= kMaxCoordinate)) {
      refuse(Status::coord_range, "front, rear, left, right", -1,
             "must not move a vertex out of the range of 1e15 m");
    }
  }
  return grown;
}

}  // namespace

void bind_shape(py::module_& module) {
  py::class_<Shape>(module, "Shape", "Union of convex polygons, grown by one radius.")
      .def_property_readonly("radius", &Shape::radius)
      .def("parts", &parts)
      .def("inflated", &inflated, py::arg("margin"))
      .def("padded", &padded, py::arg("front"), py::arg("rear"), py::arg("left"), py::arg("right"));
  module.def(
      "polygon",
      [](const Doubles& xy, double radius) {
        return outline(xy, radius, ConcavePolicy::reject, "xy");
      },
      py::arg("xy"), py::arg("radius"));
  module.def(
      "concave",
      [](const Doubles& xy, double radius) {
        return outline(xy, radius, ConcavePolicy::decompose, "outline");
      },
      py::arg("outline"), py::arg("radius"));
  module.def(
      "hull",
      [](const Doubles& xy, double radius, const std::string& name) {
        return hull(xy, radius, name.c_str());
      },
      py::arg("points"), py::arg("radius"), py::arg("name"));
}

}  // namespace gjk::bindings
