// SPDX-FileCopyrightText: gjk_collision contributors
// SPDX-License-Identifier: Apache-2.0
// The occupied cells of a grid as few rectangles.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <span>
#include <vector>

#include "gjk/shape/convex.hpp"
#include "gjk/shape/pose.hpp"
#include "gjk/shape/vec2.hpp"

namespace gjk {

// The cells of rows [row, row_end) and columns [column, column_end).
struct CellRectangle {
  std::size_t row = 0;
  std::size_t column = 0;
  std::size_t row_end = 0;
  std::size_t column_end = 0;
};

namespace detail {

// Finds maximal rectangles of occupied cells. The grid is stored row by row; nonzero: occupied.
class GridCover {
 public:
  GridCover(std::span<const std::uint8_t> cells, std::size_t columns)
      : cells_(cells.data()),
        rows_(columns > 0 ? cells.size() / columns : 0),
        columns_(columns),
        open_(cells.begin(), cells.end()) {}

  // Greedy: at the first occupied cell that is not covered, the better of two maximal rectangles.
  // Stops after `limit` + 1 rectangles.
  std::vector<CellRectangle> find(std::size_t limit) {
    std::vector<CellRectangle> found;
    for (std::size_t at = 0; at < open_.size() && found.size() <= limit; ++at) {
      at = next_open(at);
      if (at == open_.size()) break;
      const CellRectangle wide = widest(at / columns_, at % columns_);
      const CellRectangle tall = tallest(at / columns_, at % columns_);
      const bool is_wide = gain(wide) >= gain(tall);
      found.push_back(is_wide ? wide : tall);
      cover(found.back());
    }
    return found;
  }

 private:
  std::size_t next_open(std::size_t at) const noexcept {
    constexpr std::size_t kWord = sizeof(std::uint64_t);
    for (; at + kWord <= open_.size(); at += kWord) {
      std::uint64_t word = 0;
      std::memcpy(&word, open_.data() + at, kWord);
      if (word != 0) break;
    }
    while (at < open_.size() && open_[at] == 0) ++at;
    return at;
  }

  bool is_occupied(std::size_t row, std::size_t column) const noexcept {
    return cells_[row * columns_ + column] != 0;
  }
  bool has_row(std::size_t row, const CellRectangle& of) const noexcept {
    const std::uint8_t* const begin = cells_ + row * columns_ + of.column;
    return std::memchr(begin, 0, of.column_end - of.column) == nullptr;
  }
  bool has_column(std::size_t column, const CellRectangle& of) const noexcept {
    std::size_t row = of.row;
    while (row < of.row_end && is_occupied(row, column)) ++row;
    return row == of.row_end;
  }
  void widen(CellRectangle& r) const noexcept {
    while (r.column_end < columns_ && has_column(r.column_end, r)) ++r.column_end;
    while (r.column > 0 && has_column(r.column - 1, r)) --r.column;
  }
  void heighten(CellRectangle& r) const noexcept {
    while (r.row_end < rows_ && has_row(r.row_end, r)) ++r.row_end;
    while (r.row > 0 && has_row(r.row - 1, r)) --r.row;
  }
  // The cell's row first, then as many rows as possible; and the other way round.
  CellRectangle widest(std::size_t row, std::size_t column) const noexcept {
    CellRectangle r{row, column, row + 1, column + 1};
    widen(r);
    heighten(r);
    return r;
  }
  CellRectangle tallest(std::size_t row, std::size_t column) const noexcept {
    CellRectangle r{row, column, row + 1, column + 1};
    heighten(r);
    widen(r);
    return r;
  }

  // Number of cells that are not covered yet.
  std::size_t gain(const CellRectangle& r) const noexcept {
    std::size_t count = 0;
    for (std::size_t row = r.row; row < r.row_end; ++row) {
      const std::uint8_t* const cells = open_.data() + row * columns_;
      for (std::size_t c = r.column; c < r.column_end; ++c) {
        count += static_cast<std::size_t>(cells[c] != 0);
      }
    }
    return count;
  }
  void cover(const CellRectangle& r) noexcept {
    for (std::size_t row = r.row; row < r.row_end; ++row) {
      std::memset(open_.data() + row * columns_ + r.column, 0, r.column_end - r.column);
    }
  }

  const std::uint8_t* cells_;
  std::size_t rows_;
  std::size_t columns_;
  std::vector<std::uint8_t> open_;  // occupied and not covered
};

}  // namespace detail

// Maximal rectangles whose union is the set of the occupied (nonzero) cells. They may overlap. If
// there are more than `limit`, the result has `limit` + 1 of them.
inline std::vector<CellRectangle> cover_cells(
    std::span<const std::uint8_t> cells, std::size_t columns,
    std::size_t limit = std::numeric_limits<std::size_t>::max()) {
  return detail::GridCover(cells, columns).find(limit);
}

// The positions of the cells of a grid: cell (0, 0) has its corner at the pose, columns follow its
// x axis and rows its y axis.
class GridFrame {
 public:
  GridFrame(std::size_t rows, std::size_t columns, double resolution, const Pose& pose) noexcept
      : resolution_(resolution), at_(Transform::from_pose(pose)) {
    const auto most = static_cast<double>(rows > columns ? rows : columns);
    const double size = most * resolution;
    // Rounding moves a corner by less than Transform::error(), and by 2 u size for its position in
    // the grid. Twice as much covers the growth itself.
    if (at_.is_rotated()) grow_ = 2.0 * (at_.error(size) + 2.0 * kUnitRoundoff * size);
    const double largest = size + std::fmax(std::fabs(pose.x), std::fabs(pose.y));
    is_resolved_ = is_in_domain(pose) && largest <= kMaxCoordinate &&
                   resolution > kMinExactCoordinate &&
                   resolution > 16.0 * (grow_ + kUnitRoundoff * largest);
  }

  // Whether the coordinates are in the domain and doubles tell the corners of each cell apart.
  bool is_resolved() const noexcept { return is_resolved_; }

  // The corners, counter-clockwise. Without a rotation, rectangles that share a line of the grid
  // share its coordinate. With one, the corners are rounded, and rectangles side by side might
  // leave a gap: each is grown by more than the rounding error, so that it contains its cells.
  void corners(const CellRectangle& r, Vec2 (&at)[4]) const noexcept {
    const auto line = [this](std::size_t index, double by) noexcept {
      return static_cast<double>(index) * resolution_ + by;
    };
    const double left = line(r.column, -grow_), right = line(r.column_end, grow_);
    const double bottom = line(r.row, -grow_), top = line(r.row_end, grow_);
    const Vec2 local[4] = {{left, bottom}, {right, bottom}, {right, top}, {left, top}};
    for (int k = 0; k < 4; ++k) at[k] = at_.is_rotated() ? at_.apply(local[k]) : local[k] + at_.t;
  }

 private:
  double resolution_;
  Transform at_;
  double grow_ = 0.0;  // m
  bool is_resolved_ = false;
};

}  // namespace gjk
