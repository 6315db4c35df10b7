// SPDX-FileCopyrightText: gjk_collision contributors
// SPDX-License-Identifier: Apache-2.0
// libccd: GJK and MPR. 3D, so polygons become prisms; its support function is ours to write, and
// needs no more than the polygon's own vertices.
#include <ccd/ccd.h>

#include "rows.hpp"
#include "soa.hpp"

namespace bench {
namespace {

void support(const void* object, const ccd_vec3_t* direction, ccd_vec3_t* vertex) {
  const auto& shape = *static_cast<const gjk::Convex*>(object);
  const int i = shape.gjk::Convex::support({direction->v[0], direction->v[1]});
  ccdVec3Set(vertex, shape.x[i], shape.y[i], direction->v[2] > 0.0 ? 1.0 : -1.0);
}

void centre(const void* object, ccd_vec3_t* at) {
  const auto& shape = *static_cast<const gjk::Convex*>(object);
  double x = 0.0;
  double y = 0.0;
  for (int i = 0; i < shape.size; ++i) {
    x += shape.x[i];
    y += shape.y[i];
  }
  ccdVec3Set(at, x / shape.size, y / shape.size, 0.0);
}

template <int (*Intersect)(const void*, const void*, const ccd_t*)>
struct Collide : Views<> {
  static constexpr double tolerance = kPeerTolerance;
  ccd_t ccd;

  Collide() {
    CCD_INIT(&ccd);
    ccd.support1 = ccd.support2 = support;
    ccd.center1 = ccd.center2 = centre;
    ccd.max_iterations = 100;
  }
  bool operator()(std::size_t i) const { return Intersect(&a(i), &b(i), &ccd) != 0; }
};

}  // namespace

void add_ccd_rows(std::vector<Row>& rows) {
  rows.push_back(row<Collide<ccdGJKIntersect>>("libccd GJK", CCD_VERSION, 5));
  rows.push_back(row<Collide<ccdMPRIntersect>>("libccd MPR", CCD_VERSION, 5));
}

}  // namespace bench
