// SPDX-FileCopyrightText: gjk_collision contributors
// SPDX-License-Identifier: Apache-2.0
// GEOS through its C interface, plain and with a prepared geometry.
#include <geos_c.h>

#include "rows.hpp"

namespace bench {
namespace {

class Polygons {
 public:
  static constexpr double tolerance = kPeerTolerance;

  Polygons() : geos_(GEOS_init_r()) {}
  Polygons(const Polygons&) = delete;
  ~Polygons() {
    clear();
    GEOS_finish_r(geos_);
  }

  void load(std::span<const Case* const> cases) {
    clear();
    for (const Case* c : cases) {
      a_.push_back(polygon(c->a));
      b_.push_back(polygon(c->b));
      prepared_.push_back(GEOSPrepare_r(geos_, a_.back()));
    }
  }

 protected:
  GEOSContextHandle_t geos_;
  std::vector<GEOSGeometry*> a_;
  std::vector<GEOSGeometry*> b_;
  std::vector<const GEOSPreparedGeometry*> prepared_;  // of a

 private:
  void clear() {
    for (const auto* p : prepared_) GEOSPreparedGeom_destroy_r(geos_, p);
    for (auto* g : a_) GEOSGeom_destroy_r(geos_, g);
    for (auto* g : b_) GEOSGeom_destroy_r(geos_, g);
    prepared_.clear();
    a_.clear();
    b_.clear();
  }
  GEOSGeometry* polygon(const gjk::verify::Polygon& polygon) {
    const auto n = static_cast<unsigned>(polygon.size());
    GEOSCoordSequence* points = GEOSCoordSeq_create_r(geos_, n + 1, 2);
    for (unsigned i = 0; i <= n; ++i) {
      const gjk::Vec2 v = polygon.vertex(static_cast<int>(i % n));
      GEOSCoordSeq_setXY_r(geos_, points, i, v.x, v.y);
    }
    return GEOSGeom_createPolygon_r(geos_, GEOSGeom_createLinearRing_r(geos_, points), nullptr, 0);
  }
};

struct Collide : Polygons {
  bool operator()(std::size_t i) const { return GEOSIntersects_r(geos_, a_[i], b_[i]) == 1; }
};

struct Distance : Polygons {
  double operator()(std::size_t i) const {
    double distance = 0.0;
    GEOSDistance_r(geos_, a_[i], b_[i], &distance);
    return distance;
  }
};

// Its indexes are built by the first query, which is not timed: preparing pays for many queries.
template <class Query>
struct Prepared : Polygons {
  void load(std::span<const Case* const> cases) {
    Polygons::load(cases);
    for (std::size_t i = 0; i < cases.size(); ++i) (*this)(i);
  }
  auto operator()(std::size_t i) const { return Query::ask(geos_, prepared_[i], b_[i]); }
};

struct AskCollide {
  static bool ask(GEOSContextHandle_t geos, const GEOSPreparedGeometry* a, const GEOSGeometry* b) {
    return GEOSPreparedIntersects_r(geos, a, b) == 1;
  }
};

struct AskDistance {
  static double ask(GEOSContextHandle_t geos, const GEOSPreparedGeometry* a,
                    const GEOSGeometry* b) {
    double distance = 0.0;
    GEOSPreparedDistance_r(geos, a, b, &distance);
    return distance;
  }
};

}  // namespace

void add_geos_rows(std::vector<Row>& rows) {
  rows.push_back(row<Collide>("GEOS", GEOS_VERSION, 20));
  rows.push_back(row<Prepared<AskCollide>>("GEOS prepared", GEOS_VERSION, 20));
  rows.push_back(row<Distance>("GEOS", GEOS_VERSION, 20));
  rows.push_back(row<Prepared<AskDistance>>("GEOS prepared", GEOS_VERSION, 20));
}

}  // namespace bench
