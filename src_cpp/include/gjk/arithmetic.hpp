// SPDX-FileCopyrightText: gjk_collision contributors
// SPDX-License-Identifier: Apache-2.0
// The arithmetic that the certificates assume: IEEE 754 binary64, evaluated as written. Flags that
// change it are refused. And where the queries are compiled.
#pragma once

#if __cplusplus < 201709L
#error "gjk: compile with -std=c++20 or later"
#endif

#if defined(__FAST_MATH__) || __FINITE_MATH_ONLY__ || (defined(__GCC_IEC_559) && __GCC_IEC_559 == 0)
#error \
    "gjk: -ffast-math, or one of its parts, removes the NaN checks and the error bounds that \
verdicts rest on. Compile with -fno-fast-math, or link the CMake target gjk_collision::gjk"
#endif

// Compilers have no macro that shows whether they may fuse a product into a sum. GCC does so by
// default.
#ifndef GJK_FP_CONTRACT_OFF
#error \
    "gjk: compile with -ffp-contract=off -DGJK_FP_CONTRACT_OFF, or link the CMake target \
gjk_collision::gjk. Otherwise the last bits of bounds depend on the compiler's flags"
#endif

#if __FLT_EVAL_METHOD__ == 2 || __FLT_EVAL_METHOD__ < 0
#error \
    "gjk: double is evaluated with more precision than it has. On 32-bit x86, compile with -msse2 -mfpmath=sse"
#endif

// A header declares its queries first. The code behind them, and the includes that it needs, are
// between #ifdef GJK_KERNEL and #endif. Users of the compiled library (the CMake target
// gjk_collision::kernel) see only the declarations; GJK_COMPILED is defined for them.
#ifndef GJK_COMPILED
#define GJK_KERNEL inline
#elif defined(GJK_KERNEL_SOURCE)  // a source of the library, which has a copy of each
#define GJK_KERNEL [[gnu::used]] inline
#endif

#include <limits>

namespace gjk {

inline constexpr double kInfinity = std::numeric_limits<double>::infinity();
inline constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

}  // namespace gjk
