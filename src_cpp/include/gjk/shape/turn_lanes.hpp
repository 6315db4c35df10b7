// SPDX-FileCopyrightText: gjk_collision contributors
// SPDX-License-Identifier: Apache-2.0
// Sine and cosine of several angles, as sin_cos() computes them.
#pragma once

#include "gjk/shape/pose.hpp"
#include "gjk/simd/lanes.hpp"

#define GJK_SIMD_FILE "gjk/shape/turn.inc"
#include "gjk/simd/each_set.hpp"
