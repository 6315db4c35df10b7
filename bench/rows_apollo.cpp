// SPDX-FileCopyrightText: gjk_collision contributors
// SPDX-License-Identifier: Apache-2.0
// Apollo's Polygon2d and Box2d (modules/common/math). A module of its own.
#include <cmath>

#include "modules/common/math/box2d.h"
#include "modules/common/math/polygon2d.h"
#include "rows.hpp"

namespace bench {
namespace {

using apollo::common::math::Box2d;
using apollo::common::math::Polygon2d;
using apollo::common::math::Vec2d;

struct OfPolygon {
  using Shape = Polygon2d;
  using Raw = std::vector<Vec2d>;

  static Raw raw(const gjk::verify::Polygon& polygon) {
    Raw points;
    for (int i = 0; i < polygon.size(); ++i) {
      points.emplace_back(polygon.vertex(i).x, polygon.vertex(i).y);
    }
    return points;
  }
  static Shape make(const Raw& points) { return Polygon2d(points); }
};

// What its user has of a box is not its vertices but its centre, heading and size.
struct OfBox {
  using Shape = Box2d;
  struct Raw {
    Vec2d centre;
    double heading;
    double length;
    double width;
  };

  static Raw raw(const gjk::verify::Polygon& polygon) {
    const gjk::Vec2 from = polygon.vertex(0);
    const gjk::Vec2 along = polygon.vertex(1) - from;
    const gjk::Vec2 across = polygon.vertex(3) - from;
    const gjk::Vec2 centre = 0.5 * (from + polygon.vertex(2));
    return {Vec2d(centre.x, centre.y), std::atan2(along.y, along.x), gjk::norm(along),
            gjk::norm(across)};
  }
  static Shape make(const Raw& box) {
    return Box2d(box.centre, box.heading, box.length, box.width);
  }
};

template <class Of>
class Prepared {
 public:
  static constexpr double tolerance = kPeerTolerance;

  void load(std::span<const Case* const> cases) {
    a_.clear();
    b_.clear();
    for (const Case* c : cases) {
      a_.push_back(Of::make(Of::raw(c->a)));
      b_.push_back(Of::make(Of::raw(c->b)));
    }
  }

 protected:
  const auto& a(std::size_t i) const { return a_[i]; }
  const auto& b(std::size_t i) const { return b_[i]; }

 private:
  std::vector<typename Of::Shape> a_;
  std::vector<typename Of::Shape> b_;
};

template <class Of>
class FromRaw {
 public:
  static constexpr double tolerance = kPeerTolerance;

  void load(std::span<const Case* const> cases) {
    a_.clear();
    b_.clear();
    for (const Case* c : cases) {
      a_.push_back(Of::raw(c->a));
      b_.push_back(Of::raw(c->b));
    }
  }

 protected:
  auto a(std::size_t i) const { return Of::make(a_[i]); }
  auto b(std::size_t i) const { return Of::make(b_[i]); }

 private:
  std::vector<typename Of::Raw> a_;
  std::vector<typename Of::Raw> b_;
};

template <class Queries>
struct Collide : Queries {
  bool operator()(std::size_t i) const { return this->a(i).HasOverlap(this->b(i)); }
};

template <class Queries>
struct Distance : Queries {
  double operator()(std::size_t i) const { return this->a(i).DistanceTo(this->b(i)); }
};

template <template <class> class Query, class Of>
void add(std::vector<Row>& rows, const std::string& name, int stride) {
  for (Row added : {row<Query<Prepared<Of>>>(name, PEER_VERSION, stride),
                    row<Query<FromRaw<Of>>>(name + " from vertices", PEER_VERSION, stride)}) {
    added.only_boxes = std::is_same_v<Of, OfBox>;
    rows.push_back(added);
  }
}

}  // namespace
}  // namespace bench

extern "C" void add_rows(std::vector<bench::Row>& rows) {
  using namespace bench;
  add<Collide, OfPolygon>(rows, "Apollo Polygon2d", 20);
  add<Collide, OfBox>(rows, "Apollo Box2d", 1);
  add<Distance, OfPolygon>(rows, "Apollo Polygon2d", 20);
  add<Distance, OfBox>(rows, "Apollo Box2d", 1);
}
