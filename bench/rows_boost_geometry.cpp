// SPDX-FileCopyrightText: gjk_collision contributors
// SPDX-License-Identifier: Apache-2.0
// Boost.Geometry: general polygons.
#include <boost/geometry.hpp>
#include <boost/geometry/geometries/point_xy.hpp>
#include <boost/geometry/geometries/ring.hpp>
#include <boost/version.hpp>

#include "converted.hpp"

namespace bench {
namespace {

using Point = boost::geometry::model::d2::point_xy<double>;
using Ring = boost::geometry::model::ring<Point, false>;  // counter-clockwise

Ring ring(const gjk::verify::Polygon& polygon) {
  Ring result;
  for (int i = 0; i <= polygon.size(); ++i) {
    const gjk::Vec2 v = polygon.vertex(i % polygon.size());
    result.emplace_back(v.x, v.y);
  }
  return result;
}

using Rings = Converted<ring>;

struct Collide : Rings {
  bool operator()(std::size_t i) const { return boost::geometry::intersects(a_[i], b_[i]); }
};

struct Distance : Rings {
  double operator()(std::size_t i) const { return boost::geometry::distance(a_[i], b_[i]); }
};

}  // namespace

void add_boost_geometry_rows(std::vector<Row>& rows) {
  rows.push_back(row<Collide>("Boost.Geometry", BOOST_LIB_VERSION, 20));
  rows.push_back(row<Distance>("Boost.Geometry", BOOST_LIB_VERSION, 20));
}

}  // namespace bench
