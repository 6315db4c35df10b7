// SPDX-FileCopyrightText: gjk_collision contributors
// SPDX-License-Identifier: Apache-2.0
// Box2D 2.4 (Debian): the yardstick of every ratio. Computes in float.
#include <box2d/b2_distance.h>

#include <limits>

#include "rows.hpp"

namespace bench {
namespace {

// b2PolygonShape holds 8 vertices; a b2DistanceProxy any number.
class Proxies {
 public:
  static constexpr double tolerance = kPeerTolerance;

  void load(std::span<const Case* const> cases) {
    vertices_.clear();
    inputs_.clear();
    std::size_t total = 0;
    for (const Case* c : cases) total += c->a.x.size() + c->b.x.size();
    vertices_.reserve(total);
    for (const Case* c : cases) {
      b2DistanceInput input;
      input.proxyA.Set(copy(c->a), c->a.size(), 0.0f);
      input.proxyB.Set(copy(c->b), c->b.size(), 0.0f);
      input.transformA.SetIdentity();
      input.transformB.SetIdentity();
      input.useRadii = false;
      inputs_.push_back(input);
    }
  }

 protected:
  float query(std::size_t i) const {
    b2SimplexCache cache;
    cache.count = 0;
    b2DistanceOutput output;
    b2Distance(&output, &cache, &inputs_[i]);
    return output.distance;
  }

 private:
  const b2Vec2* copy(const gjk::verify::Polygon& polygon) {
    const b2Vec2* first = vertices_.data() + vertices_.size();
    for (int i = 0; i < polygon.size(); ++i) {
      const gjk::Vec2 v = polygon.vertex(i);
      vertices_.emplace_back(static_cast<float>(v.x), static_cast<float>(v.y));
    }
    return first;
  }

  std::vector<b2Vec2> vertices_;
  std::vector<b2DistanceInput> inputs_;
};

struct Collide : Proxies {
  // As b2TestOverlap judges.
  bool operator()(std::size_t i) const {
    return query(i) < 10.0f * std::numeric_limits<float>::epsilon();
  }
};

struct Distance : Proxies {
  double operator()(std::size_t i) const { return static_cast<double>(query(i)); }
};

}  // namespace

void add_box2d_rows(std::vector<Row>& rows) {
  rows.push_back(row<Collide>("Box2D", BOX2D_VERSION));
  rows.push_back(row<Distance>("Box2D", BOX2D_VERSION));
}

}  // namespace bench
