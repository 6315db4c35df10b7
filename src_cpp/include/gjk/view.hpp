// SPDX-FileCopyrightText: gjk_collision contributors
// SPDX-License-Identifier: Apache-2.0
// The one door to SIMD: which instruction set this processor has, and the loops that profit from
// it.
//
// The loops stand once, in lanes.inc, in terms of the compilers' vector types, and are compiled
// once per instruction set; a query chooses at run time. Every set computes the same doubles: the
// lanes are independent, and what is reduced over them (a maximum, a first index) does not depend
// on their number.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>

#include "gjk/cap.hpp"
#include "gjk/convex.hpp"
#include "gjk/expansion.hpp"
#include "gjk/orientation.hpp"
#include "gjk/vec2.hpp"

#if defined(__x86_64__) && !defined(GJK_SCALAR_ONLY)
#define GJK_X86_DISPATCH 1
#include <immintrin.h>
#endif

namespace gjk {

// Shorter vectors, squared (m^2), are not told of: their squares may underflow. Those of exact
// shapes are longer.
inline constexpr double kLeastSquare = 1e-200;
// The relative gap that rounding leaves where coordinates are not much larger than the distance.
inline constexpr double kUsualGap = 1e-12;

}  // namespace gjk

namespace gjk::simd {

// Bit i: point i, or edge i, is certainly on that side; on neither: its rounding decides.
struct Sides {
  std::uint64_t left = 0;
  std::uint64_t right = 0;
};

// Edges of P as separating lines between P and Q. Bit i: edge i.
struct EdgeTest {
  std::uint64_t separates = 0;  // it does, certainly
  std::uint64_t unsure = 0;     // it may, or it does: else it does not, certainly
};

// Those of each of two shapes against the other.
struct EdgeTests {
  EdgeTest of_p;
  EdgeTest of_q;
};

// The first n bits, 0 < n <= 64.
inline std::uint64_t low_bits(int n) noexcept { return ~std::uint64_t{0} >> (64 - n); }

// At most n bits counted from vertex `first` as bits counted from 0, in a ring of n < 64.
inline std::uint64_t turned(std::uint64_t bits, int first, int n) noexcept {
  return (bits << first | bits >> (n - first)) & low_bits(n);
}

// Of four edges at a vertex w of P - Q, a bit each.
struct Leads {
  unsigned away = 0;     // it leads away from O, certainly
  unsigned towards = 0;  // it leads towards O, up to rounding
};

// So many vertices at most have an index that replaces the last bits of a double.
inline constexpr int kMostTagged = 64;
inline constexpr std::int64_t kVertexTag = kMostTagged - 1;

// So many pairs are looked at together: each is a bit of a word, and of twice as many the shapes
// would leave the cache nearest the processor between two steps.
inline constexpr int kBlock = 32;

// A vertex w of P - Q for each pair and its neighbours: those after and before that of P, then
// those of Q.
struct Corners {
  double p_x[kBlock] = {};
  double p_y[kBlock] = {};
  double q_x[kBlock] = {};
  double q_y[kBlock] = {};
  double beside_x[4][kBlock] = {};
  double beside_y[4][kBlock] = {};
  int p[kBlock + 3];  // the vertex's index; written four at a time
  int q[kBlock + 3];
};

// What neighbourhood() tells of a pair.
struct Surrounding {
  bool settled = false;
  bool beyond = false;
  bool next = false;   // the edge that faces O leads counter-clockwise
  bool of_p = false;   // and is P's
  double lower = 0.0;  // bounds on the distance, where settled
  double upper = 0.0;
};

// The same of many. Bit k: pair k.
struct Surroundings {
  std::uint64_t settled = 0;
  std::uint64_t beyond = 0;
  std::uint64_t next = 0;
  std::uint64_t of_p = 0;
  double lower[kBlock];
  double upper[kBlock];
};

// How far vertices reach along a direction n, seen from a point.
struct Span {
  double most = -std::numeric_limits<double>::infinity();  // largest n.(v - from), rounded
  double size = 0.0;                                       // no |v - from|_1 is larger, as rounded
};

// No |v - from|_1 is larger, as rounded: differences and sums are rounded to the same side.
inline double size_from(const Convex& p, Vec2 from) noexcept {
  const auto larger = [](double a, double b) noexcept { return a > b ? a : b; };
  return larger(std::fabs(p.extreme_x[0] - from.x), std::fabs(p.extreme_x[2] - from.x)) +
         larger(std::fabs(p.extreme_y[1] - from.y), std::fabs(p.extreme_y[3] - from.y));
}
template <class P>
double size_from(const P& p, Vec2 from) noexcept {
  double largest = 0.0;
  for (int i = 0; i < p.size; ++i) {
    const double size = norm1(p.vertex(i) - from);
    largest = size > largest ? size : largest;
  }
  return largest;
}

// Of any shape, vertex by vertex.
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

// The compilers' vector types; spelt out, since the attribute takes no template parameter in GCC.
template <int Width>
struct VectorOf;
#define GJK_VECTOR_OF(width)                                               \
  template <>                                                              \
  struct VectorOf<width> {                                                 \
    typedef double Doubles __attribute__((vector_size(8 * (width))));      \
    typedef std::int64_t Truths __attribute__((vector_size(8 * (width)))); \
  };
GJK_VECTOR_OF(2)
GJK_VECTOR_OF(4)
GJK_VECTOR_OF(8)
#undef GJK_VECTOR_OF

inline Leads scalar_leads(Vec2 w, const Vec2 (&edge)[4]) noexcept {
  Leads leads;
  for (unsigned k = 0; k < 4; ++k) {
    const double x = w.x * edge[k].x;
    const double y = w.y * edge[k].y;
    const double bound = kFilterBound * (std::fabs(x) + std::fabs(y));
    leads.away |= unsigned{x + y > bound} << k;
    leads.towards |= unsigned{x + y < 0.0} << k;
  }
  return leads;
}

}  // namespace gjk::simd

#define GJK_LANES_NAMESPACE baseline
#define GJK_LANES_TARGET
#define GJK_LANES_WIDTH 2
#include "gjk/simd/lanes.inc"

#ifdef GJK_X86_DISPATCH
#define GJK_LANES_NAMESPACE avx2
#define GJK_LANES_TARGET __attribute__((target("avx2,fma")))
#define GJK_LANES_WIDTH 4
#include "gjk/simd/lanes.inc"

#define GJK_LANES_NAMESPACE avx512
#define GJK_LANES_TARGET __attribute__((target("avx512f,avx512dq,avx512vl,fma")))
#define GJK_LANES_WIDTH 8
#include "gjk/simd/lanes.inc"
#endif

namespace gjk::simd {

enum class Isa : std::uint8_t { baseline, avx2, avx512 };

inline Isa detect_isa() noexcept {
#ifdef GJK_X86_DISPATCH
  __builtin_cpu_init();
  if (!__builtin_cpu_supports("fma")) return Isa::baseline;
  if (__builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl")) {
    return Isa::avx512;
  }
  if (__builtin_cpu_supports("avx2")) return Isa::avx2;
#endif
  return Isa::baseline;
}

// Tests set it to compare the sets; a program leaves it alone.
inline Isa isa = detect_isa();

template <class Set, class View, class Query, class... Shape>
auto run(const Query& query, const Shape&... shape) noexcept {
  if constexpr (sizeof...(shape) == 0) {
    return query(Set{});
  } else {
    return query(View{shape}...);
  }
}

#ifdef GJK_X86_DISPATCH
// Sanitised code is not meant to be fast, and one function of all it calls takes minutes to build.
#ifdef __SANITIZE_ADDRESS__
#define GJK_FLATTEN
#else
#define GJK_FLATTEN flatten
#endif

template <class Query>
__attribute__((target("avx2,fma"), GJK_FLATTEN)) auto on_avx2(const Query& query,
                                                              const auto&... shape) noexcept {
  return run<avx2::Set, avx2::View>(query, shape...);
}
template <class Query>
__attribute__((target("avx512f,avx512dq,avx512vl,fma"), GJK_FLATTEN)) auto on_avx512(
    const Query& query, const auto&... shape) noexcept {
  return run<avx512::Set, avx512::View>(query, shape...);
}
#endif

// Runs a query on shapes with the loops of the widest set that this processor has, or without
// shapes, for many pairs: query(view...) or query(set). The query's code is compiled once per set
// (flatten), so that the loops are inlined where they are called.
template <class Query>
auto on_widest(const Query& query, const auto&... shape) noexcept {
  switch (isa) {
#ifdef GJK_X86_DISPATCH
    case Isa::avx512:
      return on_avx512(query, shape...);
    case Isa::avx2:
      return on_avx2(query, shape...);
#endif
    default:
      return run<baseline::Set, baseline::View>(query, shape...);
  }
}

}  // namespace gjk::simd
