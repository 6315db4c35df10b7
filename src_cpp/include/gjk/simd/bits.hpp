// SPDX-FileCopyrightText: gjk_collision contributors
// SPDX-License-Identifier: Apache-2.0
// Sets of elements as bits. Apart from lanes.hpp, which takes long to compile.
#pragma once

#include <cstdint>

namespace gjk::simd {

// Maximum number of elements whose index Lanes::tagged() stores in the last bits of a value.
inline constexpr int kMostTagged = 64;

// The first n bits, 0 < n <= 64.
inline std::uint64_t low_bits(int n) noexcept { return ~std::uint64_t{0} >> (64 - n); }

}  // namespace gjk::simd
