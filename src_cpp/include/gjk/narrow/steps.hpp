// SPDX-FileCopyrightText: gjk_collision contributors
// SPDX-License-Identifier: Apache-2.0
// Names of the steps of a query. The benchmark leaves one out to measure its value.
#pragma once

// For example -DGJK_WITHOUT=axes. All programs except the benchmark use every step.
#ifndef GJK_WITHOUT
#define GJK_WITHOUT none
#endif

namespace gjk::detail {

enum class Step {
  none,
  boxes,
  extremes,
  axes,
  caps,  // only the axes of the caps, for shapes with more than a few vertices
  features,
  quadrilaterals,  // features of quadrilaterals by enumeration
  turned_boxes,    // box test before shapes are placed at their poses
  overlap,         // overlap test before all vertices are placed
  contact,         // bounds at the contact, before all pairs of features
  ahead,           // tree search for several poses of a scene query together
  lanes,           // several poses of a scene query against one part together
  gjk,
  exact,
};

constexpr bool takes(Step step) noexcept { return step != Step::GJK_WITHOUT; }

// A query calls begin(step) when a step begins. The last step that began has decided. This default
// does nothing; the compiler removes its calls.
struct Unreported {
  constexpr void operator()(Step) const noexcept {}
};

}  // namespace gjk::detail
