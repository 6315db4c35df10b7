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
#include <utility>

#include "peer.hpp"

namespace bench {
namespace {

using Prism = coal::Convex<coal::Triangle>;

std::unique_ptr<Prism> prism(const gjk::Vec2* outline, int size) {
  const auto n = static_cast<unsigned>(size);
  auto vertices = std::make_shared<std::vector<coal::Vec3s>>();
  for (const double z : {-1.0, 1.0}) {
    for (unsigned i = 0; i < n; ++i) vertices->emplace_back(outline[i].x, outline[i].y, z);
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

struct Coal : OfVertices {
  using Pair = std::pair<std::unique_ptr<Prism>, std::unique_ptr<Prism>>;

  static Pair pair(const Input* a, const Input* b, int n) { return {prism(a, n), prism(b, n)}; }
  static bool collide(const Pair& of) {
    coal::CollisionRequest request;
    request.enable_contact = false;
    coal::CollisionResult result;
    return coal::collide(of.first.get(), kHere, of.second.get(), kHere, request, result) > 0;
  }
  static double distance(const Pair& of) {
    coal::DistanceRequest request;
    request.enable_signed_distance = false;
    coal::DistanceResult result;
    return std::fmax(
        0.0, coal::distance(of.first.get(), kHere, of.second.get(), kHere, request, result));
  }

 private:
  inline static const coal::Transform3s kHere = coal::Transform3s::Identity();
};

}  // namespace
}  // namespace bench

extern "C" void add_rows(std::vector<bench::Row>& rows) {
  bench::add<bench::Coal, bench::Prepared<bench::Coal>>(rows, "Coal", COAL_VERSION, 20);
}
