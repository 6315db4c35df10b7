// SPDX-FileCopyrightText: gjk_collision contributors
// SPDX-License-Identifier: Apache-2.0
#include "gjk/shape/grid.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

#include "gjk/shape/convex.hpp"

namespace gjk::grid_test {
namespace {

TEST(Grid, rectangles_cover_the_cells_and_no_others) {
  std::mt19937 generator(1);
  const auto in = [&](int low, int high) {
    return static_cast<std::size_t>(std::uniform_int_distribution<int>(low, high)(generator));
  };
  for (int n = 0; n < 500; ++n) {
    const std::size_t rows = in(1, 20), columns = in(1, 200);
    const std::size_t share = in(0, 10);
    std::vector<std::uint8_t> cells(rows * columns);
    for (std::uint8_t& cell : cells) cell = in(0, 9) < share ? 1 : 0;
    std::vector<std::uint8_t> covered(cells.size());
    for (const CellRectangle& r : cover_cells(cells, columns)) {
      ASSERT_LT(r.row, r.row_end);
      ASSERT_LT(r.column, r.column_end);
      ASSERT_LE(r.row_end, rows);
      ASSERT_LE(r.column_end, columns);
      for (std::size_t row = r.row; row < r.row_end; ++row) {
        for (std::size_t c = r.column; c < r.column_end; ++c) covered[row * columns + c] = 1;
      }
    }
    EXPECT_EQ(covered, cells);
  }
}

TEST(Grid, more_rectangles_than_the_limit_are_not_searched) {
  const std::vector<std::uint8_t> cells = {1, 0, 1, 0, 1};
  EXPECT_EQ(cover_cells(cells, 5, 3).size(), 3U);
  EXPECT_EQ(cover_cells(cells, 5, 2).size(), 3U);
  EXPECT_EQ(cover_cells(cells, 5, 1).size(), 2U);
}

TEST(Grid, corners_are_convex_and_counter_clockwise) {
  for (const double yaw : {0.0, 0.3, 1.5707963267948966, -3.0}) {
    for (const double x : {0.0, 1e6, -1e11, 1e14}) {
      const GridFrame frame(1000, 300, 0.05, {x, 7.0, yaw});
      EXPECT_EQ(frame.is_resolved(), x < 1e14) << x;
      if (!frame.is_resolved()) continue;
      for (const CellRectangle& r : {CellRectangle{0, 0, 1, 1}, CellRectangle{3, 5, 4, 300},
                                     CellRectangle{0, 299, 1000, 300}}) {
        Vec2 at[4];
        frame.corners(r, at);
        double xs[4], ys[4];
        for (int k = 0; k < 4; ++k) {
          xs[k] = at[k].x;
          ys[k] = at[k].y;
        }
        const Convex part = Convex::view(xs, ys, 4);
        EXPECT_TRUE(in_domain(part, part));
        EXPECT_GT(cross(at[1] - at[0], at[2] - at[0]), 0.0);
      }
    }
  }
}

TEST(Grid, bad_frames_are_not_resolved) {
  EXPECT_TRUE(GridFrame(10, 10, 0.1, {}).is_resolved());
  EXPECT_FALSE(GridFrame(10, 10, 0.0, {}).is_resolved());
  EXPECT_FALSE(GridFrame(10, 10, -0.1, {}).is_resolved());
  EXPECT_FALSE(GridFrame(10, 10, std::nan(""), {}).is_resolved());
  EXPECT_FALSE(GridFrame(10, 10, 1e15, {}).is_resolved());
  EXPECT_FALSE(GridFrame(10, 10, 0.1, {0.0, std::nan(""), 0.0}).is_resolved());
  EXPECT_FALSE(GridFrame(10, 10, 0.1, {0.0, 0.0, 2e6}).is_resolved());
}

}  // namespace
}  // namespace gjk::grid_test
