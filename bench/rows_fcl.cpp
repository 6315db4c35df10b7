// SPDX-FileCopyrightText: gjk_collision contributors
// SPDX-License-Identifier: Apache-2.0
// FCL through its public functions, with both of its GJK solvers. 3D, so polygons become prisms.
#include <fcl/geometry/shape/convex.h>
#include <fcl/narrowphase/collision.h>
#include <fcl/narrowphase/distance.h>

#include <memory>
#include <utility>

#include "peer.hpp"

namespace bench {
namespace {

using Prism = fcl::Convex<double>;

std::unique_ptr<Prism> prism(const gjk::Vec2* outline, int n) {
  auto vertices = std::make_shared<std::vector<fcl::Vector3d>>();
  for (const double z : {-1.0, 1.0}) {
    for (int i = 0; i < n; ++i) vertices->emplace_back(outline[i].x, outline[i].y, z);
  }
  // Each face: its number of vertices, then they, counter-clockwise from outside.
  auto faces = std::make_shared<std::vector<int>>();
  faces->push_back(n);
  for (int i = n - 1; i >= 0; --i) faces->push_back(i);
  faces->push_back(n);
  for (int i = 0; i < n; ++i) faces->push_back(n + i);
  for (int i = 0; i < n; ++i) {
    const int next = (i + 1) % n;
    for (const int index : {4, i, next, n + next, n + i}) faces->push_back(index);
  }
  return std::make_unique<Prism>(vertices, n + 2, faces);
}

template <fcl::GJKSolverType solver>
struct Fcl : OfVertices {
  using Pair = std::pair<std::unique_ptr<Prism>, std::unique_ptr<Prism>>;

  static Pair pair(const Input* a, const Input* b, int n) { return {prism(a, n), prism(b, n)}; }
  static bool collide(const Pair& of) {
    fcl::CollisionRequestd request;
    request.gjk_solver_type = solver;
    fcl::CollisionResultd result;
    return fcl::collide(of.first.get(), kHere, of.second.get(), kHere, request, result) > 0;
  }
  static double distance(const Pair& of) {
    fcl::DistanceRequestd request;
    request.gjk_solver_type = solver;
    fcl::DistanceResultd result;
    fcl::distance(of.first.get(), kHere, of.second.get(), kHere, request, result);
    return std::fmax(0.0, result.min_distance);  // -1 where they overlap
  }

 private:
  inline static const fcl::Transform3d kHere = fcl::Transform3d::Identity();
};

template <fcl::GJKSolverType solver>
void add_solver(std::vector<Row>& rows, const char* name) {
  add<Fcl<solver>, Prepared<Fcl<solver>>>(rows, name, FCL_VERSION, 20);
}

}  // namespace

void add_fcl_rows(std::vector<Row>& rows) {
  add_solver<fcl::GST_LIBCCD>(rows, "FCL libccd");
  add_solver<fcl::GST_INDEP>(rows, "FCL indep");
}

}  // namespace bench
