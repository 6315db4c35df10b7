// SPDX-FileCopyrightText: gjk_collision contributors
// SPDX-License-Identifier: Apache-2.0
// openGJK, scalar, in double precision. Only its public function is called. A module of its own.
#include <openGJK/openGJK.h>

#include <array>
#include <utility>

#include "peer.hpp"

namespace bench {
namespace {

static_assert(sizeof(gkFloat) == sizeof(double), "openGJK must be built in double precision");

using Pair = std::pair<gkPolytope, gkPolytope>;

struct OpenGjk {
  // It documents 0 for shapes that intersect or touch.
  static bool collide(const Pair& of) { return distance(of) == 0.0; }
  static double distance(const Pair& of) {
    gkSimplex simplex;
    simplex.nvrtx = 0;
    return compute_minimum_distance(of.first, of.second, &simplex);
  }
};

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
          points_.push_back({polygon->vertex(k).x, polygon->vertex(k).y, 0.0});
        }
      }
    }
    rows_.resize(points_.size());
  }

 protected:
  Pair pair(std::size_t i) const { return {polytope(2 * i), polytope(2 * i + 1)}; }

 private:
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

  mutable std::vector<std::array<gkFloat, 3>> points_;
  mutable std::vector<gkFloat*> rows_;
  int n_ = 0;
};

class PreparedPolytopes : public Polytopes {
 public:
  void load(std::span<const Case* const> cases) {
    Polytopes::load(cases);
    pairs_.clear();
    for (std::size_t i = 0; i < cases.size(); ++i) pairs_.push_back(Polytopes::pair(i));
  }

 protected:
  const Pair& pair(std::size_t i) const { return pairs_[i]; }

 private:
  std::vector<Pair> pairs_;
};

}  // namespace
}  // namespace bench

extern "C" void add_rows(std::vector<bench::Row>& rows) {
  using namespace bench;
  add<OpenGjk, PreparedPolytopes>(rows, "openGJK", PEER_VERSION);
  add<OpenGjk, Polytopes>(rows, "openGJK from vertices", PEER_VERSION);
}
