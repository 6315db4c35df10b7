// SPDX-FileCopyrightText: gjk_collision contributors
// SPDX-License-Identifier: Apache-2.0
// Box2D 3. Computes in float. Its proxies hold B2_MAX_POLYGON_VERTICES vertices, which is 8 unless
// the checkout was changed. A module of its own, because its names are those of Box2D 2.4.
#include <box2d/collision.h>

#include <cfloat>

#include "peer.hpp"

namespace bench {
namespace {

// 3.0 and 3.1 have a transform per shape, 3.2 the relative one.
template <class Input>
void set_identity(Input& input) {
  if constexpr (requires { input.transformA; }) {
    input.transformA = input.transformB = b2Transform_identity;
  } else {
    input.transform = b2Transform_identity;
  }
}

// Proxies copy the vertices.
struct Box2d {
  using Input = b2Vec2;

  static void add(std::vector<Input>& vertices, const gjk::verify::Polygon& polygon) {
    for (int i = 0; i < polygon.size(); ++i) {
      const gjk::Vec2 v = polygon.vertex(i);
      vertices.push_back({static_cast<float>(v.x), static_cast<float>(v.y)});
    }
  }
  static b2DistanceInput pair(const Input* a, const Input* b, int n) {
    b2DistanceInput input;
    input.proxyA = b2MakeProxy(a, n, 0.0f);
    input.proxyB = b2MakeProxy(b, n, 0.0f);
    set_identity(input);
    input.useRadii = false;
    return input;
  }
  // As its sensors judge.
  static bool collide(const b2DistanceInput& input) { return query(input) < 10.0f * FLT_EPSILON; }
  static double distance(const b2DistanceInput& input) { return query(input); }

 private:
  static float query(const b2DistanceInput& input) {
    b2SimplexCache cache{};
    return b2ShapeDistance(&input, &cache, nullptr, 0).distance;
  }
};

}  // namespace
}  // namespace bench

extern "C" void add_rows(std::vector<bench::Row>& rows) {
  bench::add_both<bench::Box2d>(rows, "Box2D v3", PEER_VERSION);
  for (bench::Row& row : rows) {
    if (row.name.starts_with("Box2D v3")) row.most = B2_MAX_POLYGON_VERTICES;
  }
}
