// SPDX-FileCopyrightText: gjk_collision contributors
// SPDX-License-Identifier: Apache-2.0
// Eight floats, in as many vectors as the instruction set needs.
#pragma once

#include <cstdint>
#include <cstring>

#include "gjk/simd/dispatch.hpp"

namespace gjk::simd {

inline constexpr int kFloatLanes = 8;

template <int Width>
struct FloatsOf;
#define GJK_FLOATS_OF(width)                                               \
  template <>                                                              \
  struct FloatsOf<width> {                                                 \
    typedef float Floats __attribute__((vector_size(4 * (width))));        \
    typedef std::int32_t Truths __attribute__((vector_size(4 * (width)))); \
  };
GJK_FLOATS_OF(4)
GJK_FLOATS_OF(8)
#undef GJK_FLOATS_OF

}  // namespace gjk::simd

#define GJK_SIMD_FILE "gjk/simd/float_lanes.inc"
#include "gjk/simd/each_set.hpp"
