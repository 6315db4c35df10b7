// SPDX-FileCopyrightText: gjk_collision contributors
// SPDX-License-Identifier: Apache-2.0
// Separating axes, as a careful programmer would write them: the baselines that need no library.
#include "rows.hpp"
#include "soa.hpp"

namespace bench {
namespace {

using gjk::Convex;

struct Range {
  double low;
  double high;
};

Range project(const Convex& p, double nx, double ny) {
  double low = p.x[0] * nx + p.y[0] * ny;
  double high = low;
  for (int i = 1; i < p.size; ++i) {
    const double along = p.x[i] * nx + p.y[i] * ny;
    low = along < low ? along : low;
    high = along > high ? along : high;
  }
  return {low, high};
}

// Both shapes are projected onto the normal of every edge.
struct Plain : Views<> {
  static constexpr double tolerance = kPeerTolerance;

  static bool separates(const Convex& p, const Convex& q) {
    for (int i = p.size - 1, j = 0; j < p.size; i = j++) {
      const double nx = p.y[j] - p.y[i];
      const double ny = p.x[i] - p.x[j];
      const Range of_p = project(p, nx, ny);
      const Range of_q = project(q, nx, ny);
      if (of_p.high < of_q.low || of_q.high < of_p.low) return true;
    }
    return false;
  }
  bool operator()(std::size_t i) const { return !separates(a(i), b(i)) && !separates(b(i), a(i)); }
};

// Counter-clockwise polygons: an edge separates when all of the other shape lies outside it, and
// the first vertex that does not ends the search.
struct OneSided : Views<> {
  static constexpr double tolerance = kPeerTolerance;

  static bool separates(const Convex& p, const Convex& q) {
    for (int i = p.size - 1, j = 0; j < p.size; i = j++) {
      const double nx = p.y[j] - p.y[i];
      const double ny = p.x[i] - p.x[j];
      const double edge = p.x[i] * nx + p.y[i] * ny;
      int k = 0;
      while (k < q.size && q.x[k] * nx + q.y[k] * ny > edge) ++k;
      if (k == q.size) return true;
    }
    return false;
  }
  bool operator()(std::size_t i) const { return !separates(a(i), b(i)) && !separates(b(i), a(i)); }
};

}  // namespace

void add_sat_rows(std::vector<Row>& rows) {
  rows.push_back(row<Plain>("SAT"));
  rows.push_back(row<OneSided>("SAT one-sided"));
}

}  // namespace bench
