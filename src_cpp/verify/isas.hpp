// SPDX-FileCopyrightText: gjk_collision contributors
// SPDX-License-Identifier: Apache-2.0
// The instruction sets that this processor has, by name: each must give the same answers.
#pragma once

#include <string_view>
#include <vector>

#include "gjk/simd/dispatch.hpp"

namespace gjk::verify {

inline std::string_view name_of(simd::Isa isa) {
  switch (isa) {
    case simd::Isa::avx512:
      return "avx512";
    case simd::Isa::avx2:
      return "avx2";
    default:
      return "baseline";
  }
}

// The widest first.
inline std::vector<simd::Isa> available_isas() {
  std::vector<simd::Isa> result;
  const simd::Isa widest = simd::detect_isa();
  for (const simd::Isa isa : {simd::Isa::avx512, simd::Isa::avx2, simd::Isa::baseline}) {
    if (isa <= widest) result.push_back(isa);
  }
  return result;
}

}  // namespace gjk::verify
