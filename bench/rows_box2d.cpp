// SPDX-FileCopyrightText: gjk_collision contributors
// SPDX-License-Identifier: Apache-2.0
// Box2D 2.4 (Debian): the yardstick of every ratio. Computes in float.
#include <box2d/b2_distance.h>

#include <limits>

#include "posed.hpp"
#include "rows.hpp"

namespace bench {
namespace {

// b2PolygonShape holds 8 vertices; a b2DistanceProxy any number. With transforms, or in world
// coordinates.
template <bool kAtPoses>
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
      set(input.proxyA, input.transformA, c->a);
      set(input.proxyB, input.transformB, c->b);
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
  void set(b2DistanceProxy& proxy, b2Transform& transform, const gjk::verify::Polygon& world) {
    transform.SetIdentity();
    if constexpr (kAtPoses) {
      const Posed shape = posed(world);
      transform.p.Set(static_cast<float>(shape.at.t.x), static_cast<float>(shape.at.t.y));
      transform.q.s = static_cast<float>(shape.at.sin);
      transform.q.c = static_cast<float>(shape.at.cos);
      proxy.Set(copy(shape.local), shape.local.size(), 0.0f);
    } else {
      proxy.Set(copy(world), world.size(), 0.0f);
    }
  }

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

// The proxies are made in the timed loop. They refer to the vertices.
class FromVertices {
 public:
  static constexpr double tolerance = kPeerTolerance;

  void load(std::span<const Case* const> cases) {
    vertices_.clear();
    n_ = cases.front()->a.size();
    for (const Case* c : cases) {
      for (const auto* polygon : {&c->a, &c->b}) {
        for (int k = 0; k < n_; ++k) {
          const gjk::Vec2 v = polygon->vertex(k);
          vertices_.emplace_back(static_cast<float>(v.x), static_cast<float>(v.y));
        }
      }
    }
  }

 protected:
  float query(std::size_t i) const {
    const b2Vec2* first = vertices_.data() + 2 * i * static_cast<std::size_t>(n_);
    b2DistanceInput input;
    input.proxyA.Set(first, n_, 0.0f);
    input.proxyB.Set(first + n_, n_, 0.0f);
    input.transformA.SetIdentity();
    input.transformB.SetIdentity();
    input.useRadii = false;
    b2SimplexCache cache;
    cache.count = 0;
    b2DistanceOutput output;
    b2Distance(&output, &cache, &input);
    return output.distance;
  }

 private:
  std::vector<b2Vec2> vertices_;
  int n_ = 0;
};

template <class Queries>
struct Collide : Queries {
  // As b2TestOverlap judges.
  bool operator()(std::size_t i) const {
    return this->query(i) < 10.0f * std::numeric_limits<float>::epsilon();
  }
};

template <class Queries>
struct Distance : Queries {
  double operator()(std::size_t i) const { return static_cast<double>(this->query(i)); }
};

}  // namespace

void add_box2d_rows(std::vector<Row>& rows) {
  rows.push_back(row<Collide<Proxies<false>>>("Box2D", BOX2D_VERSION));
  rows.push_back(row<Collide<Proxies<true>>>("Box2D at poses", BOX2D_VERSION));
  rows.push_back(row<Collide<FromVertices>>("Box2D from vertices", BOX2D_VERSION));
  rows.push_back(row<Distance<Proxies<false>>>("Box2D", BOX2D_VERSION));
  rows.push_back(row<Distance<Proxies<true>>>("Box2D at poses", BOX2D_VERSION));
  rows.push_back(row<Distance<FromVertices>>("Box2D from vertices", BOX2D_VERSION));
}

}  // namespace bench
