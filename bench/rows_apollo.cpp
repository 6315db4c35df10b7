// SPDX-FileCopyrightText: gjk_collision contributors
// SPDX-License-Identifier: Apache-2.0
// Apollo's Polygon2d and Box2d (modules/common/math). A module of its own.
#include <cmath>
#include <utility>

#include "modules/common/math/box2d.h"
#include "modules/common/math/polygon2d.h"
#include "peer.hpp"

namespace bench {
namespace {

using apollo::common::math::Box2d;
using apollo::common::math::Polygon2d;
using apollo::common::math::Vec2d;

template <class Shape>
struct Answers {
  using Pair = std::pair<Shape, Shape>;
  static bool collide(const Pair& of) { return of.first.HasOverlap(of.second); }
  static double distance(const Pair& of) { return of.first.DistanceTo(of.second); }
};

struct OfPolygon : Answers<Polygon2d> {
  using Input = Vec2d;

  static void add(std::vector<Input>& vertices, const gjk::verify::Polygon& polygon) {
    for (int i = 0; i < polygon.size(); ++i) {
      vertices.emplace_back(polygon.vertex(i).x, polygon.vertex(i).y);
    }
  }
  static Pair pair(const Input* a, const Input* b, int n) {
    return {Polygon2d(std::vector<Vec2d>(a, a + n)), Polygon2d(std::vector<Vec2d>(b, b + n))};
  }
};

// What its user has of a box is not its vertices but its centre, heading and size.
struct OfBox : Answers<Box2d> {
  struct Input {
    Vec2d centre;
    double heading;
    double length;
    double width;

    Box2d box() const { return Box2d(centre, heading, length, width); }
  };

  static void add(std::vector<Input>& boxes, const gjk::verify::Polygon& polygon) {
    const gjk::Vec2 from = polygon.vertex(0);
    const gjk::Vec2 along = polygon.vertex(1) - from;
    const gjk::Vec2 across = polygon.vertex(3) - from;
    const gjk::Vec2 centre = 0.5 * (from + polygon.vertex(2));
    boxes.push_back({Vec2d(centre.x, centre.y), std::atan2(along.y, along.x), gjk::norm(along),
                     gjk::norm(across)});
  }
  static Pair pair(const Input* a, const Input* b, int) { return {a->box(), b->box()}; }
};

}  // namespace
}  // namespace bench

extern "C" void add_rows(std::vector<bench::Row>& rows) {
  bench::add_both<bench::OfPolygon>(rows, "Apollo Polygon2d", PEER_VERSION, 20);
  bench::add_both<bench::OfBox>(rows, "Apollo Box2d", PEER_VERSION);
  for (bench::Row& row : rows) row.only_boxes |= row.name.starts_with("Apollo Box2d");
}
