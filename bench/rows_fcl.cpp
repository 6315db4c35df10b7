// SPDX-FileCopyrightText: gjk_collision contributors
// SPDX-License-Identifier: Apache-2.0
// FCL through its public functions, with both of its GJK solvers. 3D, so polygons become prisms.
#include <fcl/geometry/shape/convex.h>
#include <fcl/narrowphase/collision.h>
#include <fcl/narrowphase/distance.h>

#include <memory>

#include "converted.hpp"

namespace bench {
namespace {

using Prism = fcl::Convex<double>;

std::unique_ptr<Prism> prism(const gjk::verify::Polygon& polygon) {
  const int n = polygon.size();
  auto vertices = std::make_shared<std::vector<fcl::Vector3d>>();
  for (const double z : {-1.0, 1.0}) {
    for (int i = 0; i < n; ++i) vertices->emplace_back(polygon.vertex(i).x, polygon.vertex(i).y, z);
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

class Prisms : public Converted<prism> {
 protected:
  fcl::Transform3d identity_ = fcl::Transform3d::Identity();
};

template <fcl::GJKSolverType Solver>
struct Collide : Prisms {
  bool operator()(std::size_t i) const {
    fcl::CollisionRequestd request;
    request.gjk_solver_type = Solver;
    fcl::CollisionResultd result;
    return fcl::collide(a_[i].get(), identity_, b_[i].get(), identity_, request, result) > 0;
  }
};

template <fcl::GJKSolverType Solver>
struct Distance : Prisms {
  double operator()(std::size_t i) const {
    fcl::DistanceRequestd request;
    request.gjk_solver_type = Solver;
    fcl::DistanceResultd result;
    fcl::distance(a_[i].get(), identity_, b_[i].get(), identity_, request, result);
    return std::fmax(0.0, result.min_distance);  // -1 where they overlap
  }
};

}  // namespace

void add_fcl_rows(std::vector<Row>& rows) {
  rows.push_back(row<Collide<fcl::GST_LIBCCD>>("FCL libccd", FCL_VERSION, 20));
  rows.push_back(row<Collide<fcl::GST_INDEP>>("FCL indep", FCL_VERSION, 20));
  rows.push_back(row<Distance<fcl::GST_LIBCCD>>("FCL libccd", FCL_VERSION, 20));
  rows.push_back(row<Distance<fcl::GST_INDEP>>("FCL indep", FCL_VERSION, 20));
}

}  // namespace bench
