// SPDX-FileCopyrightText: gjk_collision contributors
// SPDX-License-Identifier: Apache-2.0
// Box2D 2.4 (Debian): the yardstick of every ratio. Computes in float.
#include <box2d/b2_distance.h>

#include <limits>

#include "peer.hpp"
#include "posed.hpp"

namespace bench {
namespace {

b2Vec2 in_float(gjk::Vec2 v) { return {static_cast<float>(v.x), static_cast<float>(v.y)}; }

// b2PolygonShape holds 8 vertices; a b2DistanceProxy, which refers to them, any number.
struct Box2d {
  using Input = b2Vec2;

  static void add(std::vector<Input>& vertices, const gjk::verify::Polygon& polygon) {
    for (int i = 0; i < polygon.size(); ++i) vertices.push_back(in_float(polygon.vertex(i)));
  }
  static b2DistanceInput pair(const Input* a, const Input* b, int n) {
    b2DistanceInput input;
    input.proxyA.Set(a, n, 0.0f);
    input.proxyB.Set(b, n, 0.0f);
    input.transformA.SetIdentity();
    input.transformB.SetIdentity();
    input.useRadii = false;
    return input;
  }
  // As b2TestOverlap judges.
  static bool collide(const b2DistanceInput& input) {
    return query(input) < 10.0f * std::numeric_limits<float>::epsilon();
  }
  static double distance(const b2DistanceInput& input) { return query(input); }

 private:
  static float query(const b2DistanceInput& input) {
    b2SimplexCache cache;
    cache.count = 0;
    b2DistanceOutput output;
    b2Distance(&output, &cache, &input);
    return output.distance;
  }
};

class AtPoses {
 public:
  static constexpr double tolerance = kPeerTolerance;

  void load(std::span<const Case* const> cases) {
    vertices_.clear();
    inputs_.clear();
    std::size_t total = 0;
    for (const Case* c : cases) total += c->a.x.size() + c->b.x.size();
    vertices_.reserve(total);  // so that proxies stay valid
    for (const Case* c : cases) {
      b2DistanceInput& input = inputs_.emplace_back();
      set(input.proxyA, input.transformA, posed(c->a));
      set(input.proxyB, input.transformB, posed(c->b));
      input.useRadii = false;
    }
  }

 protected:
  const b2DistanceInput& pair(std::size_t i) const { return inputs_[i]; }

 private:
  void set(b2DistanceProxy& proxy, b2Transform& transform, const Posed& shape) {
    transform.p = in_float(shape.at.t);
    transform.q.s = static_cast<float>(shape.at.sin);
    transform.q.c = static_cast<float>(shape.at.cos);
    const b2Vec2* first = vertices_.data() + vertices_.size();
    Box2d::add(vertices_, shape.local);
    proxy.Set(first, shape.local.size(), 0.0f);
  }

  std::vector<b2Vec2> vertices_;
  std::vector<b2DistanceInput> inputs_;
};

}  // namespace

void add_box2d_rows(std::vector<Row>& rows) {
  add_both<Box2d>(rows, "Box2D", BOX2D_VERSION);
  add<Box2d, AtPoses>(rows, "Box2D at poses", BOX2D_VERSION);
}

}  // namespace bench
