// SPDX-FileCopyrightText: gjk_collision contributors
// SPDX-License-Identifier: Apache-2.0
// Box2D 3. Computes in float. Its proxies hold B2_MAX_POLYGON_VERTICES vertices, which is 8 unless
// the checkout was changed. A module of its own, because its names are those of Box2D 2.4.
#include <box2d/collision.h>

#include <cfloat>

#include "rows.hpp"

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

float distance(const b2DistanceInput& input) {
  b2SimplexCache cache{};
  return b2ShapeDistance(&input, &cache, nullptr, 0).distance;
}

class Vertices {
 public:
  static constexpr double tolerance = kPeerTolerance;

  void load(std::span<const Case* const> cases) {
    vertices_.clear();
    n_ = cases.front()->a.size();
    for (const Case* c : cases) {
      for (const auto* polygon : {&c->a, &c->b}) {
        for (int k = 0; k < n_; ++k) {
          const gjk::Vec2 v = polygon->vertex(k);
          vertices_.push_back({static_cast<float>(v.x), static_cast<float>(v.y)});
        }
      }
    }
  }

 protected:
  b2DistanceInput input(std::size_t i) const {
    const b2Vec2* first = vertices_.data() + 2 * i * static_cast<std::size_t>(n_);
    b2DistanceInput result;
    result.proxyA = b2MakeProxy(first, n_, 0.0f);
    result.proxyB = b2MakeProxy(first + n_, n_, 0.0f);
    set_identity(result);
    result.useRadii = false;
    return result;
  }

 private:
  std::vector<b2Vec2> vertices_;
  int n_ = 0;
};

// Proxies copy the vertices.
struct Prepared : Vertices {
  void load(std::span<const Case* const> cases) {
    Vertices::load(cases);
    inputs_.clear();
    for (std::size_t i = 0; i < cases.size(); ++i) inputs_.push_back(input(i));
  }

 protected:
  float query(std::size_t i) const { return distance(inputs_[i]); }

 private:
  std::vector<b2DistanceInput> inputs_;
};

struct FromVertices : Vertices {
 protected:
  float query(std::size_t i) const { return distance(input(i)); }
};

// As its sensors judge.
template <class Queries>
struct Collide : Queries {
  bool operator()(std::size_t i) const { return this->query(i) < 10.0f * FLT_EPSILON; }
};

template <class Queries>
struct Distance : Queries {
  double operator()(std::size_t i) const { return static_cast<double>(this->query(i)); }
};

template <class Engine>
Row limited(std::string name) {
  Row result = row<Engine>(std::move(name), PEER_VERSION);
  result.most = B2_MAX_POLYGON_VERTICES;
  return result;
}

}  // namespace
}  // namespace bench

extern "C" void add_rows(std::vector<bench::Row>& rows) {
  using namespace bench;
  rows.push_back(limited<Collide<Prepared>>("Box2D v3"));
  rows.push_back(limited<Collide<FromVertices>>("Box2D v3 from vertices"));
  rows.push_back(limited<Distance<Prepared>>("Box2D v3"));
  rows.push_back(limited<Distance<FromVertices>>("Box2D v3 from vertices"));
}
