// SPDX-FileCopyrightText: gjk_collision contributors
// SPDX-License-Identifier: Apache-2.0
// An interval that grows.
#pragma once

#include "gjk/arithmetic.hpp"
#include "gjk/shape/vec2.hpp"

namespace gjk::detail {

// An interval, for example of a coordinate (m).
struct Extent {
  double low = kInfinity;
  double high = -kInfinity;

  void include(double value) noexcept {
    low = value < low ? value : low;
    high = larger(value, high);
  }
};

}  // namespace gjk::detail
