// SPDX-FileCopyrightText: gjk_collision contributors
// SPDX-License-Identifier: Apache-2.0
// Creates shapes from arrays of vertices.
#include <pybind11/stl.h>

#include "bindings.hpp"

namespace gjk::bindings {
namespace {

// The vertices of an (n, 2) array. Refuses vertices that are not finite or out of range.
std::vector<Vec2> checked_points(const Doubles& xy, const char* name) {
  refuse(per_vertex(check_coordinates(view(xy), name)));
  return points(view(xy));
}

Shape outline(const Doubles& xy, double radius, ConcavePolicy policy, const char* name) {
  const std::vector<Vec2> ring = checked_points(xy, name);
  checked_radius(radius, "radius");
  std::vector<std::vector<Vec2>> parts;
  refuse(outline_parts(ring, policy, name, parts));
  Shape shape;
  for (const std::vector<Vec2>& part : parts) shape.add_part(part, radius);
  return shape;
}

Shape hull(const Doubles& xy, double radius, const char* name) {
  const std::vector<Vec2> given = checked_points(xy, name);
  checked_radius(radius, "radius");
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

Shape compound(const std::vector<const Shape*>& shapes) {
  Shape all;
  for (const Shape* shape : shapes) all.add(*shape);
  return all;
}

std::vector<double> radii(const Shape& shape) {
  std::vector<double> result;
  for (int k = 0; k < shape.parts(); ++k) result.push_back(shape.part(k).radius);
  return result;
}

Shape inflated(const Shape& shape, double margin) {
  Shape grown = shape.inflated(checked_radius(margin, "margin"));
  refuse(check_radius(grown.radius(), "margin"));
  return grown;
}

Shape padded(const Shape& shape, double front, double rear, double left, double right) {
  Shape grown = shape.padded(checked_radius(front, "front"), checked_radius(rear, "rear"),
                             checked_radius(left, "left"), checked_radius(right, "right"));
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
  py::class_<Shape>(module, "Shape", "Union of convex polygons, each grown by a radius.")
      .def_property_readonly("radius", &Shape::radius)
      .def("parts", &parts)
      .def("radii", &radii)
      .def("inflated", &inflated, py::arg("margin"))
      .def("padded", &padded, py::arg("front"), py::arg("rear"), py::arg("left"), py::arg("right"));
  module.def(
      "check_coordinates",
      [](const Doubles& values, const std::string& name) {
        refuse(check_coordinates(view(values), name.c_str()));
      },
      py::arg("values"), py::arg("name"));
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
  module.def("compound", &compound, py::arg("shapes"));
  module.def(
      "hull",
      [](const Doubles& xy, double radius, const std::string& name) {
        return hull(xy, radius, name.c_str());
      },
      py::arg("points"), py::arg("radius"), py::arg("name"));
}

}  // namespace gjk::bindings
