// SPDX-FileCopyrightText: gjk_collision contributors
// SPDX-License-Identifier: Apache-2.0
// Results of loops over the vertices and edges of convex shapes; the loops are in view.hpp.
#pragma once

#include <cmath>
#include <cstdint>

#include "gjk/arithmetic.hpp"
#include "gjk/shape/convex.hpp"
#include "gjk/shape/vec2.hpp"

namespace gjk {

// m^2. Vectors with a smaller squared length are not used, because their squares may underflow.
// Vectors between vertices of exact shapes are longer.
inline constexpr double kLeastSquare = 1e-200;
// Relative gap of bounds due to rounding, if coordinates are not much larger than the distance.
inline constexpr double kUsualGap = 1e-12;

// Bit i: point i is certainly on that side. If it is set in neither, the point is within the
// rounding error of the line.
struct Sides {
  std::uint64_t left = 0;
  std::uint64_t right = 0;
};

// Result of testing edges of P as separating lines between P and Q. Bit i: edge i.
struct EdgeTest {
  std::uint64_t separates = 0;  // certainly separates
  std::uint64_t unsure = 0;     // may separate or certainly does; all others certainly do not
};

// The edges of each of two shapes tested against the other.
struct EdgeTests {
  EdgeTest of_p;
  EdgeTest of_q;

  bool is_separated() const noexcept { return (of_p.separates | of_q.separates) != 0; }
  bool is_unsure() const noexcept { return (of_p.unsure | of_q.unsure) != 0; }
};

// Extent of vertices along a direction n, relative to a point `from`.
struct Span {
  double most = -kInfinity;  // largest n.(v - from), rounded
  double size = 0.0;         // upper bound on the computed |v - from|_1
};

// Upper bound on the computed |v - from|_1 of all vertices v. It holds because rounding is
// monotonic.
inline double size_from(const Convex& p, Vec2 from) noexcept {
  const auto larger = [](double a, double b) noexcept { return a > b ? a : b; };
  return larger(std::fabs(p.extreme_x[0] - from.x), std::fabs(p.extreme_x[2] - from.x)) +
         larger(std::fabs(p.extreme_y[1] - from.y), std::fabs(p.extreme_y[3] - from.y));
}
// Vertex by vertex, for any shape.
template <class P>
Span scalar_span(const P& p, Vec2 n, Vec2 from) noexcept {
  Span span;
  span.size = size_from(p, from);
  for (int i = 0; i < p.size; ++i) {
    const double along = dot(p.vertex(i) - from, n);
    span.most = along > span.most ? along : span.most;
  }
  return span;
}

}  // namespace gjk
