// SPDX-FileCopyrightText: gjk_collision contributors
// SPDX-License-Identifier: Apache-2.0
// Boost.Geometry: general polygons.
#include <boost/geometry.hpp>
#include <boost/geometry/geometries/point_xy.hpp>
#include <boost/geometry/geometries/ring.hpp>
#include <boost/version.hpp>

#include "rows.hpp"

namespace bench {
namespace {

class Rings {
 public:
  static constexpr double tolerance = kPeerTolerance;

  void load(std::span<const Case* const> cases) {
    a_.clear();
    b_.clear();
    for (const Case* c : cases) {
      a_.push_back(ring(c->a));
      b_.push_back(ring(c->b));
    }
  }

 protected:
  using Point = boost::geometry::model::d2::point_xy<double>;
  using Ring = boost::geometry::model::ring<Point, false>;  // counter-clockwise
  std::vector<Ring> a_;
  std::vector<Ring> b_;

 private:
  static Ring ring(const gjk::verify::Polygon& polygon) {
    Ring result;
    for (int i = 0; i <= polygon.size(); ++i) {
      const gjk::Vec2 v = polygon.vertex(i % polygon.size());
      result.emplace_back(v.x, v.y);
    }
    return result;
  }
};

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
