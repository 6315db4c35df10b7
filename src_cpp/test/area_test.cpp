// SPDX-FileCopyrightText: gjk_collision contributors
// SPDX-License-Identifier: Apache-2.0
// The area of shapes whose parts touch or overlap, against closed forms.
#include "gjk/shape/area.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <vector>

#include "gjk/shape/shape.hpp"

namespace gjk::area_test {
namespace {

constexpr double kPi = std::numbers::pi;

void add_box(Shape& shape, double x, double y, double length, double width, double radius = 0.0) {
  const std::vector<Vec2> corners{{x, y}, {x + length, y}, {x + length, y + width}, {x, y + width}};
  shape.add_part(corners, radius);
}

TEST(Area, OfOnePart) {
  Shape box;
  add_box(box, 1e6, 0.0, 4.0, 2.0, 0.5);
  EXPECT_DOUBLE_EQ(area(box), 8.0 + 12.0 * 0.5 + 0.25 * kPi);
  Shape capsule;
  capsule.add_part(std::vector<Vec2>{{0.0, 0.0}, {3.0, 4.0}}, 2.0);
  EXPECT_DOUBLE_EQ(area(capsule), 20.0 + 4.0 * kPi);
}

TEST(Area, OfPartsThatTouch) {
  Shape boxes;
  add_box(boxes, 0.0, 0.0, 4.0, 2.0);
  add_box(boxes, 4.0, 1.0, 4.0, 2.0);
  EXPECT_EQ(area(boxes), 16.0);
}

TEST(Area, OfPartsThatOverlapIsNone) {
  Shape boxes;
  add_box(boxes, 0.0, 0.0, 4.0, 2.0);
  add_box(boxes, 3.0, 1.0, 4.0, 2.0);
  EXPECT_TRUE(std::isnan(area(boxes)));
  Shape discs;
  discs.add_part(std::vector<Vec2>{{0.0, 0.0}}, 1.0);
  discs.add_part(std::vector<Vec2>{{1.2, 1.6}}, 1.0);  // they touch
  EXPECT_NEAR(area(discs), 2.0 * kPi, 1e-14);
  discs.add_part(std::vector<Vec2>{{1.2, -1.6 + 1e-9}}, 1.0);
  EXPECT_TRUE(std::isnan(area(discs)));
  Shape same;
  for (int i = 0; i < 3; ++i) add_box(same, 0.0, 0.0, 4.0, 2.0, 0.5);
  EXPECT_TRUE(std::isnan(area(same)));
}

}  // namespace
}  // namespace gjk::area_test
