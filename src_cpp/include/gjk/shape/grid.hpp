// SPDX-FileCopyrightText: gjk_collision contributors
// SPDX-License-Identifier: Apache-2.0
// The occupied cells of a grid as few rectangles.
#pragma once

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
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
// Here a cell is a bit; each row begins with a word of its own.
class GridCover {
 public:
  GridCover(std::span<const std::uint8_t> cells, std::size_t columns)
      : rows_(columns > 0 ? cells.size() / columns : 0),
        columns_(columns),
        words_((columns + kBits - 1) / kBits),
        occupied_(rows_ * words_) {
    for (std::size_t at = 0; at < cells.size(); ++at) {
      if (cells[at] == 0) continue;
      const std::size_t column = at % columns;
      occupied_[at / columns * words_ + column / kBits] |= std::uint64_t{1} << column % kBits;
    }
    open_ = occupied_;
  }

  // Greedy: at the first occupied cell that is not covered, the better of two maximal rectangles.
  // Stops after `limit` + 1 rectangles.
  std::vector<CellRectangle> find(std::size_t limit) {
    std::vector<CellRectangle> found;
    for (std::size_t at = 0; at < open_.size(); ++at) {
      while (open_[at] != 0 && found.size() <= limit) {
        const std::size_t bit = static_cast<std::size_t>(std::countr_zero(open_[at]));
        const std::size_t row = at / words_, column = at % words_ * kBits + bit;
        const CellRectangle wide = maximal(row, column, true), tall = maximal(row, column, false);
        found.push_back(gain(wide) >= gain(tall) ? wide : tall);
        cover(found.back());
      }
    }
    return found;
  }

 private:
  static constexpr std::size_t kBits = 64;

  // Calls visit(word, bits) for the words with cells of a rectangle.
  template <typename Visit>
  void each_word(const CellRectangle& of, const Visit& visit) const noexcept {
    const std::size_t last = (of.column_end - 1) / kBits;
    for (std::size_t row = of.row; row < of.row_end; ++row) {
      std::uint64_t bits = ~std::uint64_t{0} << of.column % kBits;
      for (std::size_t at = of.column / kBits; at <= last; ++at, bits = ~std::uint64_t{0}) {
        if (at == last) bits &= ~std::uint64_t{0} >> (kBits - 1 - (of.column_end - 1) % kBits);
        visit(row * words_ + at, bits);
      }
    }
  }
  bool has_row(std::size_t row, const CellRectangle& of) const noexcept {
    std::uint64_t missing = 0;
    each_word({row, of.column, row + 1, of.column_end},
              [&](std::size_t at, std::uint64_t bits) { missing |= bits & ~occupied_[at]; });
    return missing == 0;
  }
  // The columns of a word that are occupied in all rows of a rectangle.
  std::uint64_t common(std::size_t at, const CellRectangle& of) const noexcept {
    std::uint64_t bits = ~std::uint64_t{0};
    for (std::size_t row = of.row; row < of.row_end && bits != 0; ++row) {
      bits &= occupied_[row * words_ + at];
    }
    return bits;
  }
  void widen(CellRectangle& r) const noexcept {
    for (std::size_t at = r.column_end; at == r.column_end && at < columns_;
         at += kBits - at % kBits) {
      r.column_end +=
          static_cast<std::size_t>(std::countr_one(common(at / kBits, r) >> at % kBits));
    }
    for (std::size_t at = r.column; at == r.column && at > 0; at -= (at - 1) % kBits + 1) {
      const std::uint64_t left = common((at - 1) / kBits, r) << (kBits - 1 - (at - 1) % kBits);
      r.column -= static_cast<std::size_t>(std::countl_one(left));
    }
  }
  void heighten(CellRectangle& r) const noexcept {
    while (r.row_end < rows_ && has_row(r.row_end, r)) ++r.row_end;
    while (r.row > 0 && has_row(r.row - 1, r)) --r.row;
  }
  // The cell's row first, then as many rows as possible; or the other way round.
  CellRectangle maximal(std::size_t row, std::size_t column, bool is_wide) const noexcept {
    CellRectangle r{row, column, row + 1, column + 1};
    if (is_wide) widen(r);
    heighten(r);
    widen(r);
    return r;
  }

  // Number of cells that are not covered yet.
  std::int64_t gain(const CellRectangle& r) const noexcept {
    std::int64_t count = 0;
    each_word(
        r, [&](std::size_t at, std::uint64_t bits) { count += std::popcount(bits & open_[at]); });
    return count;
  }
  void cover(const CellRectangle& r) noexcept {
    each_word(r, [&](std::size_t at, std::uint64_t bits) { open_[at] &= ~bits; });
  }

  std::size_t rows_;
  std::size_t columns_;
  std::size_t words_;  // per row
  std::vector<std::uint64_t> occupied_;
  std::vector<std::uint64_t> open_;  // occupied and not covered
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
