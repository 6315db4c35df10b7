// SPDX-FileCopyrightText: gjk_collision contributors
// SPDX-License-Identifier: Apache-2.0
// The cases that every competitor answers, and the truth about them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "polygons.hpp"

namespace bench {

enum class Kind { distant, overlap, touch };
enum class Outlines { polygons, boxes };

std::string_view name_of(Kind kind);

// Two polygons in world coordinates (m), each with the same number of vertices.
struct Case {
  gjk::verify::Polygon a;
  gjk::verify::Polygon b;
  bool collides = false;  // by integer arithmetic on the doubles as they are
  double distance = 0.0;  // m, correctly rounded but for an ulp or two; 0 where they collide
};

struct Dataset {
  Kind kind = Kind::distant;
  int n = 0;
  std::vector<Case> cases;
  Outlines outlines = Outlines::polygons;
};

// New random convex polygons in every case: Valtr's, 1-5 m by 1-3 m, at any heading, within 50 m of
// the origin. Distant: 1.5 to 26 m apart. Overlap: at least 1 cm deep. Touch: a distant pair, one
// of them moved by the separating vector; rounding leaves gaps and depths of about 1e-14 m. Boxes
// are rectangles of these sizes (n = 4).
Dataset make_dataset(Kind kind, int n, int cases, std::uint64_t seed,
                     Outlines outlines = Outlines::polygons);

}  // namespace bench
