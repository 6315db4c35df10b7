// SPDX-FileCopyrightText: gjk_collision contributors
// SPDX-License-Identifier: Apache-2.0
// Coal, from its PyPI wheel, which brings headers and library. 3D, so polygons become prisms.
//
// A module that is loaded with its own dependencies in front: the wheel's octomap and Debian's,
// which FCL brings, hold the same symbols.
#include <coal/collision.h>
#include <coal/distance.h>
#include <coal/shape/convex.h>

#include <memory>

#include "converted.hpp"

namespace bench {
namespace {

using Prism = coal::Convex<coal::Triangle>;

std::unique_ptr<Prism> prism(const gjk::verify::Polygon& polygon) {
  const auto n = static_cast<unsigned>(polygon.size());
  auto vertices = std::make_shared<std::vector<coal::Vec3s>>();
  for (const double z : {-1.0, 1.0}) {
    for (int i = 0; i < polygon.size(); ++i) {
      vertices->emplace_back(polygon.vertex(i).x, polygon.vertex(i).y, z);
    }
  }
  auto faces = std::make_shared<std::vector<coal::Triangle>>();
  for (unsigned i = 1; i + 1 < n; ++i) {
    faces->emplace_back(0, i + 1, i);
    faces->emplace_back(n, n + i, n + i + 1);
  }
  for (unsigned i = 0; i < n; ++i) {
    const unsigned next = (i + 1) % n;
    faces->emplace_back(i, next, n + next);
    faces->emplace_back(i, n + next, n + i);
  }
  const auto count = static_cast<unsigned>(faces->size());
  return std::make_unique<Prism>(vertices, 2 * n, faces, count);
}

class Prisms : public Converted<prism> {
 protected:
  coal::Transform3s identity_ = coal::Transform3s::Identity();
};

struct Collide : Prisms {
  bool operator()(std::size_t i) const {
    coal::CollisionRequest request;
    request.enable_contact = false;
    coal::CollisionResult result;
    return coal::collide(a_[i].get(), identity_, b_[i].get(), identity_, request, result) > 0;
  }
};

struct Distance : Prisms {
  double operator()(std::size_t i) const {
    coal::DistanceRequest request;
    request.enable_signed_distance = false;
    coal::DistanceResult result;
    const double distance =
        coal::distance(a_[i].get(), identity_, b_[i].get(), identity_, request, result);
    return std::fmax(0.0, distance);
  }
};

}  // namespace

}  // namespace bench

extern "C" void add_rows(std::vector<bench::Row>& rows) {
  rows.push_back(bench::row<bench::Collide>("Coal", COAL_VERSION, 20));
  rows.push_back(bench::row<bench::Distance>("Coal", COAL_VERSION, 20));
}
