// SPDX-FileCopyrightText: gjk_collision contributors
// SPDX-License-Identifier: Apache-2.0
// Bullet, in double precision: both of its GJK detectors. 3D, so polygons become prisms; the
// shape's support looks at the polygon's own vertices only.
#include <BulletCollision/CollisionShapes/btConvexInternalShape.h>
#include <BulletCollision/NarrowPhaseCollision/btGjkEpa2.h>
#include <BulletCollision/NarrowPhaseCollision/btGjkPairDetector.h>
#include <BulletCollision/NarrowPhaseCollision/btPointCollector.h>
#include <BulletCollision/NarrowPhaseCollision/btVoronoiSimplexSolver.h>

#include <deque>

#include "rows.hpp"
#include "soa.hpp"

namespace bench {
namespace {

class Prism : public btConvexInternalShape {
 public:
  explicit Prism(const gjk::Convex& shape) : shape_(shape) {
    m_shapeType = CUSTOM_CONVEX_SHAPE_TYPE;
    setMargin(0.0);
  }
  btVector3 localGetSupportingVertexWithoutMargin(const btVector3& d) const override {
    const int i = shape_.support({d.x(), d.y()});
    return {shape_.x[i], shape_.y[i], d.z() > 0.0 ? 1.0 : -1.0};
  }
  btVector3 localGetSupportingVertex(const btVector3& d) const override {
    return localGetSupportingVertexWithoutMargin(d);
  }
  void batchedUnitVectorGetSupportingVertexWithoutMargin(const btVector3* d, btVector3* out,
                                                         int count) const override {
    for (int i = 0; i < count; ++i) out[i] = localGetSupportingVertexWithoutMargin(d[i]);
  }
  void calculateLocalInertia(btScalar, btVector3& inertia) const override { inertia.setZero(); }
  const char* getName() const override { return "Prism"; }

 private:
  gjk::Convex shape_;
};

class Prisms {
 public:
  static constexpr double tolerance = kPeerTolerance;

  void load(std::span<const Case* const> cases) {
    views_.load(cases);
    a_.clear();
    b_.clear();
    for (std::size_t i = 0; i < cases.size(); ++i) {
      a_.emplace_back(views_.a(i));
      b_.emplace_back(views_.b(i));
    }
  }

 protected:
  std::deque<Prism> a_;  // a Prism cannot be moved
  std::deque<Prism> b_;

 private:
  Views<> views_;
};

// Its default pair: the detector with the Voronoi simplex solver. No result: they overlap.
struct Voronoi : Prisms {
  double query(std::size_t i) {
    btPointCollector output;
    btGjkPairDetector detector(&a_[i], &b_[i], &solver_, nullptr);
    btGjkPairDetector::ClosestPointInput input;
    input.m_transformA.setIdentity();
    input.m_transformB.setIdentity();
    detector.getClosestPoints(input, output, nullptr);
    return output.m_hasResult ? output.m_distance : 0.0;
  }

 private:
  btVoronoiSimplexSolver solver_;
};

struct Gjk : Prisms {
  double query(std::size_t i) {
    const btTransform identity = btTransform::getIdentity();
    btGjkEpaSolver2::sResults results;
    const bool apart =
        btGjkEpaSolver2::Distance(&a_[i], identity, &b_[i], identity, {1.0, 0.0, 0.0}, results);
    return apart ? results.distance : 0.0;
  }
};

template <class Detector>
struct Collide : Detector {
  bool operator()(std::size_t i) { return this->query(i) <= 0.0; }
};

template <class Detector>
struct Distance : Detector {
  double operator()(std::size_t i) { return this->query(i); }
};

}  // namespace

void add_bullet_rows(std::vector<Row>& rows) {
  const std::string version =
      std::to_string(BT_BULLET_VERSION / 100) + "." + std::to_string(BT_BULLET_VERSION % 100);
  rows.push_back(row<Collide<Voronoi>>("Bullet Voronoi", version, 10));
  rows.push_back(row<Collide<Gjk>>("Bullet GJK", version, 10));
  rows.push_back(row<Distance<Voronoi>>("Bullet Voronoi", version, 10));
  rows.push_back(row<Distance<Gjk>>("Bullet GJK", version, 10));
}

}  // namespace bench
