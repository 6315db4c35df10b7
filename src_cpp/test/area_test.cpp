// SPDX-FileCopyrightText: gjk_collision contributors
// SPDX-License-Identifier: Apache-2.0
// The area of shapes whose parts touch, coincide or overlap, against closed forms.
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

TEST(Area, OfPartsThatOverlap) {
  Shape boxes;
  add_box(boxes, 0.0, 0.0, 4.0, 2.0);
  add_box(boxes, 3.0, 1.0, 4.0, 2.0);
  EXPECT_DOUBLE_EQ(area(boxes), 15.0);
  // Two unit discs whose centres are at the distance 1.
  Shape discs;
  discs.add_part(std::vector<Vec2>{{0.0, 0.0}}, 1.0);
  discs.add_part(std::vector<Vec2>{{0.6, 0.8}}, 1.0);
  EXPECT_NEAR(area(discs), 4.0 * kPi / 3.0 + std::sqrt(3.0) / 2.0, 1e-13);
  // Capsules in a row, whose discs and edges coincide.
  Shape row;
  row.add_part(std::vector<Vec2>{{0.0, 0.0}, {1.0, 0.0}}, 0.5);
  row.add_part(std::vector<Vec2>{{1.0, 0.0}, {7.0, 0.0}}, 0.5);
  EXPECT_NEAR(area(row), 7.0 + 0.25 * kPi, 1e-13);
}

TEST(Area, OfManyPartsThatAllOverlap) {
  // Unit discs on a line that is not along an axis. Each pair crosses at two points of its own. The
  // union is all discs without the lens of each disc and the next one.
  constexpr int kCount = 400;
  constexpr double kStep = 0.001;
  Shape discs;
  for (int i = 0; i < kCount; ++i) {
    discs.add_part(std::vector<Vec2>{{0.6 * kStep * i, 0.8 * kStep * i}}, 1.0);
  }
  const double half = 0.5 * kStep;
  const double lens = 2.0 * std::acos(half) - 2.0 * half * std::sqrt(1.0 - half * half);
  EXPECT_NEAR(area(discs), kCount * kPi - (kCount - 1) * lens, 1e-9);
}

TEST(Area, CrossingsInsideOfAnotherPartBeginNoStrip) {
  Shape boxes;
  add_box(boxes, 0.0, 0.0, 4.0, 2.0);
  const Convex box = boxes.part(0);
  EXPECT_TRUE(detail::is_deep_in(box, {2.0, 1.0}, 0.5));
  EXPECT_FALSE(detail::is_deep_in(box, {2.0, 1.75}, 0.5));
  EXPECT_FALSE(detail::is_deep_in(box, {2.0, 2.0}, 1e-9));
  EXPECT_FALSE(detail::is_deep_in(box, {5.0, 1.0}, 1e-9));
  Shape round;
  round.add_part(std::vector<Vec2>{{0.0, 0.0}, {3.0, 4.0}}, 2.0);
  const Convex capsule = round.part(0);
  EXPECT_TRUE(detail::is_deep_in(capsule, {1.5, 2.0}, 1.9));
  EXPECT_TRUE(detail::is_deep_in(capsule, {-1.0, 0.0}, 0.9));
  EXPECT_FALSE(detail::is_deep_in(capsule, {-1.0, 0.0}, 1.1));
  EXPECT_FALSE(detail::is_deep_in(capsule, {-3.0, 0.0}, 1e-9));
}

TEST(Area, HasALimit) {
  // 150 bars across 150 others: the union has 90 000 corners, and each strip has 300 bars.
  Shape bars;
  for (int i = 0; i < 150; ++i) {
    const double at = 2.0 * i;
    const auto turned = [](double x, double y) {
      return Vec2{0.8 * x - 0.6 * y, 0.6 * x + 0.8 * y};
    };
    bars.add_part(std::vector<Vec2>{turned(0.0, at), turned(299.0, at), turned(299.0, at + 1.0),
                                    turned(0.0, at + 1.0)},
                  0.0);
    bars.add_part(std::vector<Vec2>{turned(at, 0.0), turned(at + 1.0, 0.0), turned(at + 1.0, 299.0),
                                    turned(at, 299.0)},
                  0.0);
  }
  EXPECT_TRUE(std::isnan(area(bars)));
}

TEST(Area, OfEqualParts) {
  Shape same;
  for (int i = 0; i < 3; ++i) add_box(same, 0.0, 0.0, 4.0, 2.0, 0.5);
  EXPECT_NEAR(area(same), 14.0 + 0.25 * kPi, 1e-13);
}

}  // namespace
}  // namespace gjk::area_test
