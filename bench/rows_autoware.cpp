// SPDX-FileCopyrightText: gjk_collision contributors
// SPDX-License-Identifier: Apache-2.0
// Autoware's gjk_2d and sat_2d (autoware_utils_geometry). A module of its own.
#include <autoware_utils_geometry/gjk_2d.hpp>
#include <autoware_utils_geometry/sat_2d.hpp>

#include "converted.hpp"

namespace bench {
namespace {

using autoware_utils_geometry::Point2d;
using autoware_utils_geometry::Polygon2d;

std::vector<Point2d> points_of(const gjk::verify::Polygon& polygon) {
  std::vector<Point2d> points;
  for (int i = 0; i < polygon.size(); ++i) {
    points.emplace_back(polygon.vertex(i).x, polygon.vertex(i).y);
  }
  return points;
}

// Its polygons are clockwise and closed.
Polygon2d polygon_of(const std::vector<Point2d>& points) {
  Polygon2d polygon;
  polygon.outer().reserve(points.size() + 1);
  polygon.outer().assign(points.rbegin(), points.rend());
  polygon.outer().push_back(points.back());
  return polygon;
}

Polygon2d prepared(const gjk::verify::Polygon& polygon) { return polygon_of(points_of(polygon)); }

template <auto intersects>
struct Prepared : Converted<prepared> {
  bool operator()(std::size_t i) const { return intersects(a_[i], b_[i]); }
};

template <auto intersects>
struct FromVertices : Converted<points_of> {
  bool operator()(std::size_t i) const { return intersects(polygon_of(a_[i]), polygon_of(b_[i])); }
};

template <auto intersects>
void add(std::vector<Row>& rows, const std::string& name) {
  rows.push_back(row<Prepared<intersects>>(name, PEER_VERSION));
  rows.push_back(row<FromVertices<intersects>>(name + " from vertices", PEER_VERSION));
}

}  // namespace
}  // namespace bench

extern "C" void add_rows(std::vector<bench::Row>& rows) {
  bench::add<autoware_utils_geometry::gjk::intersects>(rows, "Autoware gjk_2d");
  bench::add<autoware_utils_geometry::sat::intersects>(rows, "Autoware sat_2d");
}
