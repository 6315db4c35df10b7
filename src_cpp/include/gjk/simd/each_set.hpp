// SPDX-FileCopyrightText: gjk_collision contributors
// SPDX-License-Identifier: Apache-2.0
// Includes the file GJK_SIMD_FILE once per instruction set. Has no include guard: each file with
// vector code comes through here.
//
// The file finds the set's name in GJK_SIMD_SET, which is also the name of its namespace, and the
// number of doubles in the widest vector in GJK_SIMD_WIDTH. All functions in it are compiled for
// that set. Their signatures are safe to call from other code as long as they name no vector.

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
