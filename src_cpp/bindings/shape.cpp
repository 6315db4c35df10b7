// SPDX-FileCopyrightText: gjk_collision contributors
// SPDX-License-Identifier: Apache-2.0
// Creates shapes from arrays of vertices.
#include <pybind11/stl.h>

#include <array>
#include <string>
#include <vector>

#include "bindings.hpp"

namespace gjk::bindings {
namespace {

Shape outline(const Doubles& xy, double radius, ConcavePolicy policy, const char* name,
              const std::vector<Doubles>& holes = {}) {
  std::vector<std::vector<Vec2>> rings;
  for (const Doubles& hole : holes) rings.push_back(points(view(hole)));
  Shape shape;
  refuse(make_polygon(points(view(xy)), shape, radius, policy, rings, name));
  return shape;
}

Shape hull(const Doubles& xy, double radius, const char* name) {
  Shape shape;
  refuse(make_hull(points(view(xy)), shape, radius, name));
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
    xy.attr("setflags")("write"_a = false);
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
      refuse("front, rear, left, right", Status::coord_range,
             "must not move a vertex out of the range of 1e15 m");
    }
  }
  return grown;
}

// The corners of a part: without repeated and collinear vertices.
std::vector<Vec2> corners(const Convex& part) {
  std::vector<Vec2> vertices;
  for (int i = 0; i < part.size; ++i) vertices.push_back(part.vertex(i));
  return convex_hull(vertices);
}

Shape transformed(const Shape& shape, const PoseValues& pose) {
  Shape moved = shape.transformed(checked_pose(pose.data(), "pose", -1));
  bool keeps_area = false;
  bool has_area = false;
  for (int i = 0; i < moved.parts(); ++i) {
    if (!(moved.part(i).extent <= kMaxCoordinate)) {
      refuse("pose", Status::coord_range, "must not move a vertex out of the range of 1e15 m");
    }
    has_area |= corners(shape.part(i)).size() > 2;
    keeps_area |= corners(moved.part(i)).size() > 2;
  }
  if (has_area && !keeps_area) {
    refuse("pose", Status::degenerate,
           "the shape is smaller than the rounding error of its coordinates at this pose");
  }
  return moved;
}

py::tuple bounds(const Shape& shape) {
  const Box box = shape.bounds();
  return py::make_tuple(box.low.x, box.low.y, box.high.x, box.high.y);
}

double area_of(const Shape& shape) {
  const double found = area(shape);
  if (std::isnan(found)) {
    refuse("area",
           "the parts overlap: if all are polygons without a radius, Region(shape.parts).area is "
           "that of their union");
  }
  return found;
}

// Equal for shapes with the same parts: the corners and the radius of each, in a fixed order.
py::bytes key(const Shape& shape) {
  std::vector<std::vector<double>> keys;
  for (int k = 0; k < shape.parts(); ++k) {
    const Convex part = shape.part(k);
    std::vector<double> values;
    for (const Vec2 corner : corners(part)) {
      values.push_back(corner.x + 0.0);  // no negative zeros
      values.push_back(corner.y + 0.0);
    }
    values.push_back(part.radius + 0.0);
    values.push_back(static_cast<double>(values.size()));
    keys.push_back(std::move(values));
  }
  std::sort(keys.begin(), keys.end());
  std::string all;
  for (const std::vector<double>& values : keys) {
    all.append(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(double));
  }
  return all;
}

}  // namespace

void bind_shape(py::module_& module) {
  py::class_<Shape>(module, "Shape", "Union of convex polygons, each grown by a radius.")
      .def_property_readonly("radius", &Shape::radius)
      .def_property_readonly("bounds", &bounds)
      .def_property_readonly("area", &area_of)
      .def_property_readonly("key", &key)
      .def("parts", &parts)
      .def("radii", &radii)
      .def("inflated", &inflated, "margin"_a)
      .def("transformed", &transformed, "pose"_a)
      .def("padded", &padded, "front"_a, "rear"_a, "left"_a, "right"_a);
  module.def(
      "check_coordinates",
      [](const Doubles& values, const std::string& name) {
        refuse(check_coordinates(view(values), name.c_str()));
      },
      "values"_a, "name"_a);
  module.def(
      "polygon",
      [](const Doubles& xy, double radius) {
        return outline(xy, radius, ConcavePolicy::reject, "xy");
      },
      "xy"_a, "radius"_a);
  module.def(
      "box",
      [](double length, double width, const std::array<double, 2>& center, double radius) {
        Shape shape;
        refuse(make_box(length, width, shape, {center[0], center[1]}, radius));
        return shape;
      },
      "length"_a, "width"_a, "center"_a, "radius"_a);
  module.def(
      "concave",
      [](const Doubles& xy, const std::vector<Doubles>& holes, double radius) {
        return outline(xy, radius, ConcavePolicy::decompose, "outline", holes);
      },
      "outline"_a, "holes"_a, "radius"_a);
  module.def("compound", &compound, "shapes"_a);
  module.def(
      "hull",
      [](const Doubles& xy, double radius, const std::string& name) {
        return hull(xy, radius, name.c_str());
      },
      "points"_a, "radius"_a, "name"_a);
}

}  // namespace gjk::bindings
