// SPDX-FileCopyrightText: gjk_collision contributors
// SPDX-License-Identifier: Apache-2.0
// The separating axis test. It tests all edges, or those of the caps that may contain O; see
// extremes.hpp. It runs in floating point. Exact arithmetic decides the few edges within the
// rounding error.
#pragma once

#include <cstdint>

#include "gjk/certificate.hpp"
#include "gjk/narrow/exact.hpp"
#include "gjk/narrow/extremes.hpp"
#include "gjk/narrow/steps.hpp"
#include "gjk/narrow/view.hpp"
#include "gjk/shape/convex.hpp"
#include "gjk/shape/vec2.hpp"
#include "gjk/verdict.hpp"

namespace gjk::detail {

// The computed minimum of d.w over P - Q exceeds the true minimum by at most this times |d|_1. The
// errors are those of two dot products that choose the vertex, a subtraction and another dot
// product. It also bounds the error of an edge test. Proof: axes.support.gappa, axes.edge.gappa.
template <class P, class Q>
double support_rounding(const P& p, const Q& q) noexcept {
  return 8.0 * kUnitRoundoff * (p.extent + q.extent);
}

// Which edges of two shapes decide whether they overlap.
struct Axes {
  bool decide = false;  // false: no set of edges is known to decide, GJK is needed
  bool all = false;     // true: test all edges; false: those of the caps
  Caps caps;

  // Up to this number of vertices, testing all edges is faster than selecting those of the caps.
  static constexpr int kFew = 8;
  template <class P, class Q>
  static bool have_few_vertices(const P& p, const Q& q) noexcept {
    return p.size >= 3 && p.size <= kFew && q.size >= 3 && q.size <= kFew;
  }

  // `inner`: the result of inner_sides() for the shapes.
  static Axes deciding(const Convex& p, const Convex& q, unsigned inner) noexcept {
    const auto fits = [](const Convex& shape) {
      return shape.has_chains && shape.size >= 3 && shape.size < 64;
    };
    if (have_few_vertices(p, q)) return {true, true, {}};
    const Caps caps = open_caps(inner);
    return {caps.count > 0 && fits(p) && fits(q), false, caps};
  }
};

// Tests the polygons without their radii.
template <class P, class Q>
EdgeTests test_axes(const P& p, const Q& q, const Axes& axes) noexcept {
  const double relative = support_rounding(p, q);
  if (axes.all) return p.separating_either(q, relative);
  const Convex::Chain of_p = p.shape.chain(axes.caps.first, axes.caps.count);
  const Convex::Chain of_q = q.shape.chain(axes.caps.first ^ 2, axes.caps.count);
  return {p.separating_from(q, of_p, of_q, relative), q.separating_from(p, of_q, of_p, relative)};
}

// Whether an exact test of the unsure edges decides. It does not decide for shapes with an error.
// Nor does it decide if all edges are unsure, because both shapes may then be flat and on one line.
template <class P, class Q>
bool edges_decide(const P& p, const Q& q, const EdgeTests& test) noexcept {
  const bool all_unsure =
      test.of_p.unsure == simd::low_bits(p.size) && test.of_q.unsure == simd::low_bits(q.size);
  return p.error + q.error == 0.0 && !all_unsure;
}

// Whether two exact shapes with few vertices share a vertex, which proves that they touch. Most
// touching polygons of a map or a mesh share a vertex. Faster than the exact test of an edge.
template <class View>
bool few_share_vertex(const View& p, const View& q) noexcept {
  return Axes::have_few_vertices(p, q) && p.error + q.error == 0.0 && p.shares_vertex_with(q);
}

// For shapes with errors: the best bound along the normals of the edges that separate.
[[gnu::noinline]] inline Certificate along_edges(const Convex& p, const Convex& q,
                                                 const EdgeTests& test) noexcept {
  return on_views(p, q, [&test](const auto& of_p, const auto& of_q) {
    Certificate best;
    const auto test_normals = [&best](const auto& own, const auto& other, std::uint64_t edges) {
      for (; edges != 0 && !best.proves(0.0); edges &= edges - 1) {
        const int i = __builtin_ctzll(edges);
        const Vec2 from = own.vertex(i);
        const Vec2 outward = -perpendicular(own.vertex(after(i, own.size)) - from);
        best = stronger(best, Certificate::along(own, other, outward, from));
      }
    };
    test_normals(of_p, of_q, test.of_p.separates);
    test_normals(of_q, of_p, test.of_q.separates);
    return best;
  });
}

// Start of the search for the nearest features. Takes the first unsure edge. Returns the vertex of
// the other shape that is farthest inwards, and the end of the edge that is nearer to this vertex.
template <class View>
exact::Contact facing_pair(const View& p, const View& q, const EdgeTests& test) noexcept {
  const bool is_of_p = test.of_p.unsure != 0;
  const View& with_edge = is_of_p ? p : q;
  const View& other = is_of_p ? q : p;
  const int first = __builtin_ctzll(is_of_p ? test.of_p.unsure : test.of_q.unsure);
  const int second = after(first, with_edge.size);
  const Vec2 from = with_edge.vertex(first);
  const Vec2 to = with_edge.vertex(second);
  const int vertex = other.near_support(perpendicular(to - from));
  const Vec2 at = other.vertex(vertex);
  const int end = norm1(at - from) < norm1(at - to) ? first : second;
  return is_of_p ? exact::Contact{end, vertex, false} : exact::Contact{vertex, end, true};
}

// What exact arithmetic says of the unsure edges, if no edge separates certainly; UNKNOWN if they
// do not decide.
[[gnu::noinline, gnu::cold]] inline Verdict verdict_of_unsure(const Convex& p, const Convex& q,
                                                              const EdgeTests& test) noexcept {
  if (!edges_decide(p, q, test)) return Verdict::unknown;
  return on_views(p, q, [&test](const auto& a, const auto& b) {
    return Certificate::unsure_edges(a, b, test).beyond(0.0, Verdict::collision);
  });
}

template <class View, class Begin = Unreported>
Verdict verdict_of(const View& p, const View& q, const EdgeTests& test, Begin begin = {}) noexcept {
  if (test.is_separated()) {
    const bool is_exact = p.error + q.error == 0.0;
    const Certificate certificate = is_exact ? Certificate::edges(test) : along_edges(p, q, test);
    if (certificate.proves(0.0)) return certificate.beyond(0.0, Verdict::unknown);
  } else if (!test.is_unsure() || few_share_vertex(p, q)) {
    return Verdict::collision;
  } else {
    const Verdict verdict = verdict_of_unsure(p, q, test);
    if (verdict != Verdict::unknown) return verdict;
  }
  begin(Step::exact);
  return exact::collide(p, q, 0.0, facing_pair(p, q, test));
}

// Whether the test proves an overlap. Uses exact arithmetic only for unsure edges. If nothing is
// proven, `facing` is the start of the search for the nearest features.
template <class View>
bool is_overlap(const View& p, const View& q, const EdgeTests& test,
                exact::Contact& facing) noexcept {
  if (!test.is_unsure() || few_share_vertex(p, q)) return true;
  if (!test.is_separated() && verdict_of_unsure(p, q, test) == Verdict::collision) return true;
  facing = facing_pair(p, q, test);
  return false;
}

}  // namespace gjk::detail
