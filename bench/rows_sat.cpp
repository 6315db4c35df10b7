// SPDX-FileCopyrightText: gjk_collision contributors
// SPDX-License-Identifier: Apache-2.0
// Separating axes, as a careful programmer would write them: the baselines that need no library.
#include <algorithm>
#include <experimental/simd>

#include "gjk/narrow/exact.hpp"
#include "rows.hpp"
#include "soa.hpp"

namespace bench {
namespace {

using gjk::Convex;

// Outward normal of the edge from vertex i to vertex j.
gjk::Vec2 normal(const Convex& p, int i, int j) { return {p.y[j] - p.y[i], p.x[i] - p.x[j]}; }

struct Range {
  double low;
  double high;
};

using Lanes = std::experimental::native_simd<double>;

Range project(const Convex& p, gjk::Vec2 n) {
  constexpr int kLanes = static_cast<int>(Lanes::size());
  const auto along = [&](int i) {
    return Lanes(p.x + i, std::experimental::element_aligned) * n.x +
           Lanes(p.y + i, std::experimental::element_aligned) * n.y;
  };
  if (p.size < kLanes) {
    const double first = p.x[0] * n.x + p.y[0] * n.y;
    Range range{first, first};
    for (int i = 1; i < p.size; ++i) {
      const double v = p.x[i] * n.x + p.y[i] * n.y;
      range = {std::min(range.low, v), std::max(range.high, v)};
    }
    return range;
  }
  Lanes low = along(p.size - kLanes);  // the last lanes may overlap those before
  Lanes high = low;
  for (int i = 0; i + kLanes < p.size; i += kLanes) {
    const Lanes v = along(i);
    low = std::experimental::min(low, v);
    high = std::experimental::max(high, v);
  }
  return {std::experimental::hmin(low), std::experimental::hmax(high)};
}

// Both shapes are projected onto the normal of every edge.
struct Plain {
  static bool separates(const Convex& p, const Convex& q) {
    for (int i = p.size - 1, j = 0; j < p.size; i = j++) {
      const gjk::Vec2 n = normal(p, i, j);
      const Range of_p = project(p, n);
      const Range of_q = project(q, n);
      if (of_p.high < of_q.low || of_q.high < of_p.low) return true;
    }
    return false;
  }
};

using Four = std::experimental::fixed_size_simd<double, 4>;

// Counter-clockwise polygons: an edge separates when all of the other shape lies outside it. Is
// some vertex of q not? Four at a time; the first four of which one is not end it.
bool some_inside(const Convex& q, gjk::Vec2 n, double edge) {
  int k = 0;
  for (; k + 4 <= q.size; k += 4) {
    const Four along = Four(q.x + k, std::experimental::element_aligned) * n.x +
                       Four(q.y + k, std::experimental::element_aligned) * n.y;
    if (std::experimental::any_of(along <= edge)) return true;
  }
  for (; k < q.size; ++k) {
    if (q.x[k] * n.x + q.y[k] * n.y <= edge) return true;
  }
  return false;
}

struct OneSided {
  static bool separates(const Convex& p, const Convex& q) {
    for (int i = p.size - 1, j = 0; j < p.size; i = j++) {
      const gjk::Vec2 n = normal(p, i, j);
      if (!some_inside(q, n, p.x[i] * n.x + p.y[i] * n.y)) return true;
    }
    return false;
  }
};

// The same, right at contact too: an edge that no vertex is inside of by more than the rounding is
// asked again with the kernel's exact predicate.
struct OneSidedExact {
  static bool separates(const Convex& p, const Convex& q) {
    for (int i = p.size - 1, j = 0; j < p.size; i = j++) {
      const gjk::Vec2 n = normal(p, i, j);
      const double rounding = 16.0 * gjk::kUnitRoundoff * (p.extent + q.extent) * gjk::norm1(n);
      if (some_inside(q, n, p.x[i] * n.x + p.y[i] * n.y - rounding)) continue;
      int k = 0;
      while (k < q.size && gjk::exact::orientation(p.vertex(i), p.vertex(j), q.vertex(k)) < 0) ++k;
      if (k == q.size) return true;
    }
    return false;
  }
};

template <class Sat>
struct Collide : Views<> {
  static constexpr double tolerance = kPeerTolerance;
  bool operator()(std::size_t i) const {
    return !Sat::separates(a(i), b(i)) && !Sat::separates(b(i), a(i));
  }
};

}  // namespace

void add_sat_rows(std::vector<Row>& rows) {
  rows.push_back(row<Collide<Plain>>("SAT"));
  rows.push_back(row<Collide<OneSided>>("SAT one-sided"));
  rows.push_back(row<Collide<OneSidedExact>>("SAT one-sided, exact"));
}

}  // namespace bench
