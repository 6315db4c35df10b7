// SPDX-FileCopyrightText: gjk_collision contributors
// SPDX-License-Identifier: Apache-2.0
// A pair as text, to ask about it again.
#pragma once

#include <cstdio>
#include <string>

#include "pair.hpp"

namespace gjk::verify {

inline std::string number(double v) {
  char text[40];
  std::snprintf(text, sizeof text, "%.17g", v);
  return text;
}

// As Python reads it; C++ does with braces for the brackets.
inline std::string literal(const Pair& pair) {
  const auto shape = [&](const char* name, const Polygon& polygon, double radius,
                         const Pose& pose) {
    std::string text = std::string("  ") + name + " = [";
    for (int i = 0; i < polygon.size(); ++i) {
      const Vec2 v = polygon.vertex(i);
      text += (i > 0 ? ", (" : "(") + number(v.x) + ", " + number(v.y) + ")";
    }
    text += "]; " + std::string(name) + "_radius = " + number(radius);
    if (pair.has_poses) {
      text += "; " + std::string(name) + "_pose = (" + number(pose.x) + ", " + number(pose.y) +
              ", " + number(pose.yaw) + ")";
    }
    return text + "\n";
  };
  return shape("p", pair.p, pair.p_radius, pair.p_pose) +
         shape("q", pair.q, pair.q_radius, pair.q_pose) + "  margin = " + number(pair.margin) +
         "\n";
}

}  // namespace gjk::verify
