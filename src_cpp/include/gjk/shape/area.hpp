// SPDX-FileCopyrightText: gjk_collision contributors
// SPDX-License-Identifier: Apache-2.0
// Area of a shape whose parts do not overlap: the sum of those of its parts. The area of a convex
// part is that of its polygon, plus perimeter * r + pi * r^2 (Steiner).
#pragma once

#include "gjk/arithmetic.hpp"
#include "gjk/shape/shape.hpp"

namespace gjk {

// m2, up to a few rounding errors of the square of the size. NaN: two parts overlap.
double area(const Shape& shape);

}  // namespace gjk

#ifdef GJK_KERNEL
#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

#include "gjk/query.hpp"
#include "gjk/shape/box.hpp"
#include "gjk/shape/convex.hpp"
#include "gjk/shape/vec2.hpp"

namespace gjk {

namespace detail {

inline double convex_area(const Convex& part) noexcept {
  double twice = 0.0;
  double perimeter = 0.0;
  for (int i = 0; i < part.size; ++i) {
    const Vec2 next = part.vertex(after(i, part.size));
    twice += cross(part.vertex(i) - part.vertex(0), next - part.vertex(0));
    perimeter += norm(next - part.vertex(i));
  }
  const double r = part.radius;
  return std::fmax(0.0, 0.5 * twice) + r * (perimeter + std::numbers::pi * r);
}

}  // namespace detail

GJK_KERNEL double area(const Shape& shape) {
  struct Placed {
    Convex part;
    Box box;
    double area = 0.0;  // m2
  };
  std::vector<Placed> placed;
  for (int k = 0; k < shape.parts(); ++k) {
    const Convex part = shape.part(k);
    const double area = detail::convex_area(part);
    if (area > 0.0) placed.push_back({part, part.box().grown(part.radius), area});
  }
  std::sort(placed.begin(), placed.end(),
            [](const Placed& a, const Placed& b) { return a.box.low.x < b.box.low.x; });
  double sum = 0.0;
  std::vector<const Placed*> active;  // parts whose boxes reach the left side of this one
  for (const Placed& own : placed) {
    std::erase_if(active, [&](const Placed* p) { return p->box.high.x < own.box.low.x; });
    for (const Placed* other : active) {
      if (own.box.gap(other->box).y > 0.0) continue;
      // Parts that share an edge may overlap by the rounding errors of their vertices.
      const double size =
          norm1(own.box.high - own.box.low) + norm1(other->box.high - other->box.low);
      if (closest(own.part, other->part).distance < -64.0 * kUnitRoundoff * size) {
        return kNaN;
      }
    }
    active.push_back(&own);
    sum += own.area;
  }
  return sum;
}

}  // namespace gjk
#endif
