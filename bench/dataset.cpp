// SPDX-FileCopyrightText: gjk_collision contributors
// SPDX-License-Identifier: Apache-2.0
#include "dataset.hpp"

#include <cmath>
#include <limits>

#include "oracle.hpp"

namespace bench {
namespace {

using gjk::Vec2;
using namespace gjk::verify;

// All coordinates are put on this grid, an ulp of 32 to 64 m, so that 128-bit integers hold the
// truth.
constexpr int kGridExponent = -47;

void snap(Polygon& polygon) {
  const double ulp = std::ldexp(1.0, kGridExponent);
  for (auto* values : {&polygon.x, &polygon.y}) {
    for (double& v : *values) v = std::nearbyint(v / ulp) * ulp;
  }
}

struct Nearest {
  long double distance = std::numeric_limits<long double>::infinity();
  Vec2 separation;  // from the nearest point of a to that of b
};

// By every vertex and edge; the cross product, which cancels, is exact.
Nearest nearest(const Ring<Int128>& a, const Ring<Int128>& b) {
  const long double unit = std::ldexp(1.0L, kGridExponent);
  Nearest best;
  const auto visit = [&](const Point<Int128>& from, const Point<Int128>& to, const Point<Int128>& v,
                         long double sense) {
    const Int128 ex = to.x - from.x, ey = to.y - from.y, fx = v.x - from.x, fy = v.y - from.y;
    const Int128 along = ex * fx + ey * fy;
    const Int128 length_squared = ex * ex + ey * ey;
    long double dx, dy, distance;  // from the segment to v
    if (along <= 0 || along >= length_squared) {
      dx = static_cast<long double>(along <= 0 ? fx : v.x - to.x);
      dy = static_cast<long double>(along <= 0 ? fy : v.y - to.y);
      distance = std::sqrt(dx * dx + dy * dy);
    } else {
      const auto twice_area = static_cast<long double>(ex * fy - ey * fx);
      const auto squared = static_cast<long double>(length_squared);
      dx = -static_cast<long double>(ey) * twice_area / squared;
      dy = static_cast<long double>(ex) * twice_area / squared;
      distance = std::fabs(twice_area) / std::sqrt(squared);
    }
    if (distance * unit < best.distance) {
      best = {distance * unit,
              {static_cast<double>(sense * dx * unit), static_cast<double>(sense * dy * unit)}};
    }
  };
  for (std::size_t i = 0; i < a.size(); ++i) {
    for (const auto& v : b) visit(a[i], a[(i + 1) % a.size()], v, 1.0L);
  }
  for (std::size_t i = 0; i < b.size(); ++i) {
    for (const auto& v : a) visit(b[i], b[(i + 1) % b.size()], v, -1.0L);
  }
  return best;
}

// The smallest overlap of the projections on the edges' normals, m; negative when apart.
double depth(const Polygon& a, const Polygon& b) {
  double least = std::numeric_limits<double>::infinity();
  const auto over_edges_of = [&](const Polygon& p, const Polygon& q) {
    for (int i = 0; i < p.size(); ++i) {
      const Vec2 from = p.vertex(i);
      const Vec2 edge = p.vertex((i + 1) % p.size()) - from;
      double deepest = -std::numeric_limits<double>::infinity();
      for (int j = 0; j < q.size(); ++j) {
        deepest = std::fmax(deepest, gjk::cross(edge, q.vertex(j) - from));
      }
      least = std::fmin(least, deepest / gjk::norm(edge));
    }
  };
  over_edges_of(a, b);
  over_edges_of(b, a);
  return least;
}

Polygon box(double width, double height) {
  Polygon shape;
  for (const Vec2 v : {Vec2{0.0, 0.0}, {width, 0.0}, {width, height}, {0.0, height}}) shape.add(v);
  return shape;
}

Polygon polygon_at(Outlines outlines, int n, Vec2 centre, Random& random) {
  const double width = random.uniform(1.0, 5.0);
  const double height = random.uniform(1.0, 3.0);
  Polygon shape =
      outlines == Outlines::boxes ? box(width, height) : valtr(n, width, height, random);
  for (double& x : shape.x) x -= 0.5 * width;
  for (double& y : shape.y) y -= 0.5 * height;
  return placed(shape, random.direction(), centre);
}

// Fills c.a and c.b; false where the draw is not of the kind.
bool draw(Kind kind, Outlines outlines, int n, Random& random, Case& c) {
  const Vec2 centre{random.uniform(-47.0, 47.0), random.uniform(-47.0, 47.0)};
  // Centres of overlapping pairs are less than the sum of the largest half diagonals apart.
  const double apart =
      kind == Kind::overlap ? 5.9 * std::sqrt(random.uniform()) : random.uniform(1.5, 32.0);
  const Vec2 other = centre + apart * random.direction();
  if (std::fabs(other.x) > 47.0 || std::fabs(other.y) > 47.0) return false;
  c.a = polygon_at(outlines, n, centre, random);
  c.b = polygon_at(outlines, n, other, random);
  snap(c.a);
  snap(c.b);
  if (kind == Kind::overlap) return depth(c.a, c.b) >= 0.01;

  const auto a = to_ring<Int128>(c.a, kGridExponent);
  const auto b = to_ring<Int128>(c.b, kGridExponent);
  if (meet<Int128>(a, b)) return false;
  const Nearest gap = nearest(a, b);
  if (gap.distance < 1.5L || gap.distance > 26.0L) return false;
  if (kind == Kind::touch) {
    for (double& x : c.b.x) x -= gap.separation.x;
    for (double& y : c.b.y) y -= gap.separation.y;
    snap(c.b);
  }
  return true;
}

}  // namespace

std::string_view name_of(Kind kind) {
  return kind == Kind::distant ? "distant" : (kind == Kind::overlap ? "overlap" : "touch");
}

Dataset make_dataset(Kind kind, int n, int cases, std::uint64_t seed, Outlines outlines) {
  Random random(seed * 1000003 + static_cast<std::uint64_t>(n) * 10 +
                static_cast<std::uint64_t>(kind));
  Dataset dataset{kind, n, {}, outlines};
  while (static_cast<int>(dataset.cases.size()) < cases) {
    Case c;
    if (!draw(kind, outlines, n, random, c)) continue;
    const auto a = to_ring<Int128>(c.a, kGridExponent);
    const auto b = to_ring<Int128>(c.b, kGridExponent);
    if (!is_convex<Int128>(a) || !is_convex<Int128>(b))
      continue;  // rounding may dent a flat corner
    c.collides = meet<Int128>(a, b);
    c.distance = c.collides ? 0.0 : static_cast<double>(nearest(a, b).distance);
    dataset.cases.push_back(std::move(c));
  }
  return dataset;
}

}  // namespace bench
