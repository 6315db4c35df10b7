// SPDX-FileCopyrightText: gjk_collision contributors
// SPDX-License-Identifier: Apache-2.0
// Proofs that two shapes at poses overlap, before all their vertices are placed.
//
// They use the rounded vertices without an error bound: if the true gap is smaller than the
// rounding error, the verdict is COLLISION anyway.
#pragma once

#include "gjk/narrow/axes.hpp"
#include "gjk/narrow/gjk.hpp"
#include "gjk/narrow/view.hpp"
#include "gjk/shape/convex.hpp"
#include "gjk/shape/placing.hpp"
#include "gjk/shape/pose.hpp"
#include "gjk/shape/vec2.hpp"

namespace gjk::detail {

// A polygon with few vertices inside a shape at a pose: the shape itself, or the quadrilateral of
// its extremes.
class InnerPolygon {
 public:
  template <class Set>
  InnerPolygon(const Convex& shape, const Transform& at, Set) noexcept {
    Convex local = shape;
    if (local.size > Axes::kFew) {
      local.x = shape.extreme_x;
      local.y = shape.extreme_y;
      local.size = 4;
    }
    PlacingOf<Set>::Type::place(local, at, x_, y_);
    placed_.x = x_;
    placed_.y = y_;
    placed_.size = local.size;
    placed_.extent = placed_extent(shape, at);
  }
  InnerPolygon(const InnerPolygon&) = delete;
  InnerPolygon& operator=(const InnerPolygon&) = delete;

  const Convex& placed() const noexcept { return placed_; }

 private:
  double x_[Axes::kFew];
  double y_[Axes::kFew];
  Convex placed_;
};

// A shape at a pose for GJK; only the vertices that GJK visits are placed.
template <class View>
struct Turned {
  const View local;
  const Transform& at;
  const double extent = placed_extent(local.shape, at);

  Vec2 vertex(int i) const noexcept { return at.apply(local.vertex(i)); }
  int support(Vec2 d) const noexcept { return local.near_support(at.rotate_back(d)); }
};

inline bool is_proven_overlap(const Convex& p, const Transform& at_p, const Convex& q,
                              const Transform& at_q) noexcept {
  if (p.size < 3 || q.size < 3) return false;
  if (!(placed_extent(p, at_p) <= kMaxCoordinate && placed_extent(q, at_q) <= kMaxCoordinate)) {
    return false;
  }
  return simd::on_widest([&](auto set) {
    using View = typename ViewOf<decltype(set)>::Type;
    const InnerPolygon inner_p(p, at_p, set);
    const InnerPolygon inner_q(q, at_q, set);
    const View a{inner_p.placed()};
    const View b{inner_q.placed()};
    const EdgeTests test = a.separating_either(b, support_rounding(a, b));
    if (!test.is_separated() && !test.is_unsure()) return true;
    if (Axes::have_few_vertices(p, q)) return false;
    const Turned<View> turned_p{View{p}, at_p};
    const Turned<View> turned_q{View{q}, at_q};
    const auto is_apart = [](const Simplex&, Vec2, const SimplexVertex&, double along) noexcept {
      return along > 0.0;
    };
    return gjk_loop(turned_p, turned_q, first_vertices(turned_p, turned_q), is_apart).end ==
           GjkLoop::End::overlapping;
  });
}

}  // namespace gjk::detail
