// SPDX-FileCopyrightText: gjk_collision contributors
// SPDX-License-Identifier: Apache-2.0
// openGJK, scalar, in double precision. Only its public function is called. A module of its own.
#include <openGJK/openGJK.h>

#include <array>

#include "rows.hpp"

namespace bench {
namespace {

static_assert(sizeof(gkFloat) == sizeof(double), "openGJK must be built in double precision");

// Its polytopes refer to rows of three coordinates, by an array of pointers.
class Polytopes {
 public:
  static constexpr double tolerance = kPeerTolerance;

  void load(std::span<const Case* const> cases) {
    points_.clear();
    n_ = cases.front()->a.size();
    for (const Case* c : cases) {
      for (const auto* polygon : {&c->a, &c->b}) {
        for (int k = 0; k < n_; ++k) {
          points_.push_back({polygon->x[static_cast<std::size_t>(k)],
                             polygon->y[static_cast<std::size_t>(k)], 0.0});
        }
      }
    }
    rows_.resize(points_.size());
  }

 protected:
  // Sets the pointers of a polygon.
  gkPolytope polytope(std::size_t polygon) const {
    const std::size_t first = polygon * static_cast<std::size_t>(n_);
    for (std::size_t k = first; k < first + static_cast<std::size_t>(n_); ++k) {
      rows_[k] = points_[k].data();
    }
    gkPolytope result{};
    result.numpoints = n_;
    result.coord = rows_.data() + first;
    return result;
  }

  static double distance(const gkPolytope& a, const gkPolytope& b) {
    gkSimplex simplex;
    simplex.nvrtx = 0;
    return compute_minimum_distance(a, b, &simplex);
  }

 private:
  mutable std::vector<std::array<gkFloat, 3>> points_;
  mutable std::vector<gkFloat*> rows_;
  int n_ = 0;
};

struct Prepared : Polytopes {
  void load(std::span<const Case* const> cases) {
    Polytopes::load(cases);
    made_.clear();
    for (std::size_t i = 0; i < 2 * cases.size(); ++i) made_.push_back(polytope(i));
  }

 protected:
  double query(std::size_t i) const { return distance(made_[2 * i], made_[2 * i + 1]); }

 private:
  std::vector<gkPolytope> made_;
};

struct FromVertices : Polytopes {
 protected:
  double query(std::size_t i) const { return distance(polytope(2 * i), polytope(2 * i + 1)); }
};

// It documents 0 for shapes that intersect or touch.
template <class Queries>
struct Collide : Queries {
  bool operator()(std::size_t i) const { return this->query(i) == 0.0; }
};

template <class Queries>
struct Distance : Queries {
  double operator()(std::size_t i) const { return this->query(i); }
};

}  // namespace
}  // namespace bench

extern "C" void add_rows(std::vector<bench::Row>& rows) {
  using namespace bench;
  rows.push_back(row<Collide<Prepared>>("openGJK", PEER_VERSION));
  rows.push_back(row<Collide<FromVertices>>("openGJK from vertices", PEER_VERSION));
  rows.push_back(row<Distance<Prepared>>("openGJK", PEER_VERSION));
  rows.push_back(row<Distance<FromVertices>>("openGJK from vertices", PEER_VERSION));
}
