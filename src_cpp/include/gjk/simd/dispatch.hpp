// SPDX-FileCopyrightText: gjk_collision contributors
// SPDX-License-Identifier: Apache-2.0
// Detects the processor's instruction set and runs queries with it.
//
// Vector code is written once, compiled once per instruction set, and selected at run time. Every
// set computes the same doubles: lanes are independent, and the result of a reduction over them (a
// maximum, a first index) does not depend on their number.
#pragma once

#include <cstdint>

#include "gjk/arithmetic.hpp"

#if defined(__x86_64__) && !defined(GJK_SCALAR_ONLY)
#define GJK_X86_DISPATCH 1
#include <immintrin.h>

#define GJK_SIMD_AVX2 "avx2,fma"
#define GJK_SIMD_AVX512 "avx512f,avx512dq,avx512vl,fma"

// Functions between GJK_SIMD_BEGIN and GJK_SIMD_END are compiled for the named instructions,
// including lambdas and templates, but not friends defined in a class template (GCC 12).
#define GJK_SIMD_PRAGMA(text) _Pragma(#text)
#ifdef __clang__
#define GJK_SIMD_BEGIN(target_list) \
  GJK_SIMD_PRAGMA(clang attribute push(__attribute__((target(target_list))), apply_to = function))
#define GJK_SIMD_END GJK_SIMD_PRAGMA(clang attribute pop)
#else
#define GJK_SIMD_BEGIN(target_list) \
  GJK_SIMD_PRAGMA(GCC push_options) GJK_SIMD_PRAGMA(GCC target(target_list))
#define GJK_SIMD_END GJK_SIMD_PRAGMA(GCC pop_options)
#endif
#endif

namespace gjk::simd {

// Tags that select the code of one set at compile time.
namespace baseline {
struct Set {};
}  // namespace baseline
namespace avx2 {
struct Set {};
}  // namespace avx2
namespace avx512 {
struct Set {};
}  // namespace avx512

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

// Assigned only by tests, which compare the instruction sets.
inline Isa isa = detect_isa();

#ifdef GJK_X86_DISPATCH
// Sanitizer builds are not flattened: speed does not matter, and compiling would take minutes.
#ifdef __SANITIZE_ADDRESS__
#define GJK_FLATTEN
#else
#define GJK_FLATTEN flatten
#endif

template <class Query>
__attribute__((target(GJK_SIMD_AVX2), GJK_FLATTEN)) auto on_avx2(const Query& query) noexcept {
  return query(avx2::Set{});
}
template <class Query>
__attribute__((target(GJK_SIMD_AVX512), GJK_FLATTEN)) auto on_avx512(const Query& query) noexcept {
  return query(avx512::Set{});
}
#endif

// Calls query(set) for the widest set of this processor. The query is compiled once per set
// (flatten), so that vector code is inlined into it.
template <class Query>
auto on_widest(const Query& query) noexcept {
  switch (isa) {
#ifdef GJK_X86_DISPATCH
    case Isa::avx512:
      return on_avx512(query);
    case Isa::avx2:
      return on_avx2(query);
#endif
    default:
      return query(baseline::Set{});
  }
}

}  // namespace gjk::simd
