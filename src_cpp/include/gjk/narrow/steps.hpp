// SPDX-FileCopyrightText: gjk_collision contributors
// SPDX-License-Identifier: Apache-2.0
// The steps of a query by name. The benchmark leaves one out to measure what it is worth.
#pragma once

// -DGJK_WITHOUT=axes, for example; all programs but the benchmark take every step.
#ifndef GJK_WITHOUT
#define GJK_WITHOUT none
#endif

namespace gjk::detail {

enum class Step {
  none,
  boxes,
  extremes,
  axes,
  caps,  // the axes of shapes of more than a few vertices
  features,
  quadrilaterals,  // their features by enumeration
  turned_boxes,    // before shapes are placed at their poses
  overlap,         // before all vertices are placed
  contact,         // proposals where the cascade stops, before all pairs of features
  ahead,           // search of a scene's tree for several poses together
};

constexpr bool takes(Step step) noexcept { return step != Step::GJK_WITHOUT; }

}  // namespace gjk::detail
