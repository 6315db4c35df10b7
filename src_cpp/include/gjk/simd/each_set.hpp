// SPDX-FileCopyrightText: gjk_collision contributors
// SPDX-License-Identifier: Apache-2.0
// Includes the file GJK_SIMD_FILE once per instruction set. It has no include guard, because each
// file with vector code uses it.
//
// For that file, GJK_SIMD_SET is the name of the set and of its namespace, and GJK_SIMD_WIDTH is
// the number of doubles in the widest vector. All functions in the file are compiled for that set.
// Other code may call them if their signatures contain no vector type.

#define GJK_SIMD_SET baseline
#define GJK_SIMD_WIDTH 2
#include GJK_SIMD_FILE
#undef GJK_SIMD_SET
#undef GJK_SIMD_WIDTH

#ifdef GJK_X86_DISPATCH
#define GJK_SIMD_SET avx2
#define GJK_SIMD_WIDTH 4
GJK_SIMD_BEGIN(GJK_SIMD_AVX2)
#include GJK_SIMD_FILE
GJK_SIMD_END
#undef GJK_SIMD_SET
#undef GJK_SIMD_WIDTH

#define GJK_SIMD_SET avx512
#define GJK_SIMD_WIDTH 8
GJK_SIMD_BEGIN(GJK_SIMD_AVX512)
#include GJK_SIMD_FILE
GJK_SIMD_END
#undef GJK_SIMD_SET
#undef GJK_SIMD_WIDTH
#endif

#undef GJK_SIMD_FILE
