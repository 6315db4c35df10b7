// SPDX-FileCopyrightText: gjk_collision contributors
// SPDX-License-Identifier: Apache-2.0
// Vectorised loops over the vertices and edges of convex shapes.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>

#include "gjk/narrow/edge_tests.hpp"
#include "gjk/narrow/extremes.hpp"
#include "gjk/shape/convex.hpp"
#include "gjk/shape/expansion.hpp"
#include "gjk/shape/orientation.hpp"
#include "gjk/shape/vec2.hpp"
#include "gjk/simd/lanes.hpp"

namespace gjk {

// A convex shape whose loops use this instruction set; see view.inc.
template <class Set>
struct ViewOf;

}  // namespace gjk

#define GJK_SIMD_FILE "gjk/narrow/view.inc"
#include "gjk/simd/each_set.hpp"

namespace gjk {

// Calls query(p, q) with views of two shapes in the widest instruction set of this processor.
template <class Query>
auto on_views(const Convex& p, const Convex& q, const Query& query) noexcept {
  return simd::on_widest([&](auto set) {
    using View = typename ViewOf<decltype(set)>::Type;
    return query(View{p}, View{q});
  });
}

// The same in the instruction set that every processor has, for queries that need not be fast.
template <class Query>
auto on_plain_views(const Convex& p, const Convex& q, const Query& query) noexcept {
  using View = typename ViewOf<simd::baseline::Set>::Type;
  return query(View{p}, View{q});
}

}  // namespace gjk
