// SPDX-FileCopyrightText: gjk_collision contributors
// SPDX-License-Identifier: Apache-2.0
// GEOS through its C interface, plain and with a prepared geometry.
#include <geos_c.h>

#include <memory>

#include "peer.hpp"

namespace bench {
namespace {

const GEOSContextHandle_t kGeos = GEOS_init_r();

struct Free {
  void operator()(GEOSGeometry* g) const { GEOSGeom_destroy_r(kGeos, g); }
  void operator()(const GEOSPreparedGeometry* g) const { GEOSPreparedGeom_destroy_r(kGeos, g); }
};

using Geometry = std::unique_ptr<GEOSGeometry, Free>;

Geometry polygon(const gjk::Vec2* vertices, int size) {
  const auto n = static_cast<unsigned>(size);
  GEOSCoordSequence* points = GEOSCoordSeq_create_r(kGeos, n + 1, 2);
  for (unsigned i = 0; i <= n; ++i) {
    GEOSCoordSeq_setXY_r(kGeos, points, i, vertices[i % n].x, vertices[i % n].y);
  }
  return Geometry(
      GEOSGeom_createPolygon_r(kGeos, GEOSGeom_createLinearRing_r(kGeos, points), nullptr, 0));
}

struct Geos : OfVertices {
  struct Pair {
    Geometry a;
    Geometry b;
  };

  static Pair pair(const Input* a, const Input* b, int n) { return {polygon(a, n), polygon(b, n)}; }
  static bool collide(const Pair& of) {
    return GEOSIntersects_r(kGeos, of.a.get(), of.b.get()) == 1;
  }
  static double distance(const Pair& of) {
    double distance = 0.0;
    GEOSDistance_r(kGeos, of.a.get(), of.b.get(), &distance);
    return distance;
  }
};

struct GeosPrepared : Geos {
  struct Pair : Geos::Pair {
    std::unique_ptr<const GEOSPreparedGeometry, Free> prepared;  // of a
  };

  // Its indexes are built by the first query, which is not timed: preparing pays for many queries.
  static Pair pair(const Input* a, const Input* b, int n) {
    Pair result{Geos::pair(a, b, n), nullptr};
    result.prepared.reset(GEOSPrepare_r(kGeos, result.a.get()));
    collide(result);
    distance(result);
    return result;
  }
  static bool collide(const Pair& of) {
    return GEOSPreparedIntersects_r(kGeos, of.prepared.get(), of.b.get()) == 1;
  }
  static double distance(const Pair& of) {
    double distance = 0.0;
    GEOSPreparedDistance_r(kGeos, of.prepared.get(), of.b.get(), &distance);
    return distance;
  }
};

}  // namespace

void add_geos_rows(std::vector<Row>& rows) {
  add<Geos, Prepared<Geos>>(rows, "GEOS", GEOS_VERSION, 20);
  add<GeosPrepared, Prepared<GeosPrepared>>(rows, "GEOS prepared", GEOS_VERSION, 20);
}

}  // namespace bench
