// SPDX-FileCopyrightText: gjk_collision contributors
// SPDX-License-Identifier: Apache-2.0
// Names of the steps of a query.
#pragma once

namespace gjk::detail {

enum class Step {
  none,
  boxes,
  extremes,
  axes,
  turned_boxes,  // box test before shapes are placed at their poses
  overlap,       // overlap test before all vertices are placed
  gjk,
  exact,
};

// A query calls begin(step) when a step begins. The last step that began has decided. This default
// does nothing; the compiler removes its calls.
struct Unreported {
  constexpr void operator()(Step) const noexcept {}
};

}  // namespace gjk::detail
