// SPDX-FileCopyrightText: gjk_collision contributors
// SPDX-License-Identifier: Apache-2.0
// Autoware's gjk_2d and sat_2d (autoware_utils_geometry). A module of its own.
#include <autoware_utils_geometry/gjk_2d.hpp>
#include <autoware_utils_geometry/sat_2d.hpp>
#include <iterator>
#include <utility>

#include "peer.hpp"

namespace bench {
namespace {

using autoware_utils_geometry::Point2d;
using autoware_utils_geometry::Polygon2d;

// Its polygons are clockwise and closed.
Polygon2d polygon_of(const Point2d* points, int n) {
  Polygon2d polygon;
  polygon.outer().reserve(static_cast<std::size_t>(n) + 1);
  polygon.outer().assign(std::reverse_iterator(points + n), std::reverse_iterator(points));
  polygon.outer().push_back(points[n - 1]);
  return polygon;
}

template <auto intersects>
struct Autoware {
  using Input = Point2d;
  using Pair = std::pair<Polygon2d, Polygon2d>;

  static void add(std::vector<Input>& points, const gjk::verify::Polygon& polygon) {
    for (int i = 0; i < polygon.size(); ++i) {
      points.emplace_back(polygon.vertex(i).x, polygon.vertex(i).y);
    }
  }
  static Pair pair(const Input* a, const Input* b, int n) {
    return {polygon_of(a, n), polygon_of(b, n)};
  }
  static bool collide(const Pair& of) { return intersects(of.first, of.second); }
};

}  // namespace
}  // namespace bench

extern "C" void add_rows(std::vector<bench::Row>& rows) {
  using bench::Autoware, bench::add_both;
  namespace peer = autoware_utils_geometry;
  add_both<Autoware<peer::gjk::intersects>>(rows, "Autoware gjk_2d", PEER_VERSION);
  add_both<Autoware<peer::sat::intersects>>(rows, "Autoware sat_2d", PEER_VERSION);
}
