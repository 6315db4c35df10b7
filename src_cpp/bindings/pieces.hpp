// SPDX-FileCopyrightText: gjk_collision contributors
// SPDX-License-Identifier: Apache-2.0
// The pieces of a motion as rows of an array, and back, for pickle.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <initializer_list>
#include <tuple>
#include <vector>

#include "bindings.hpp"
#include "gjk/motion/motion.hpp"

namespace gjk::bindings {

using PieceRow = std::array<double, 15>;

// The members of a piece, in the order of a row.
template <class P>
auto members_of(P& p) noexcept {
  return std::tie(p.begin, p.end, p.start, p.duration, p.from.x, p.from.y, p.from.yaw, p.change.x,
                  p.change.y, p.change.yaw, p.yaw_error, p.time_error, p.is_arc, p.from_shift,
                  p.from_turn);
}

inline PieceRow row_of(const Piece& p) noexcept {
  return std::apply([](auto... value) { return PieceRow{static_cast<double>(value)...}; },
                    members_of(p));
}

inline Piece piece_of(const double* row) noexcept {
  Piece p;
  const auto read = [&row](auto& member) {
    member = static_cast<std::remove_reference_t<decltype(member)>>(*row++);
  };
  std::apply([&read](auto&... member) { (read(member), ...); }, members_of(p));
  return p;
}

// Whether a motion can have this piece. The errors that it was computed with are not negative.
inline bool is_sound(const Piece& p) noexcept {
  const auto finite = [](std::initializer_list<double> values) noexcept {
    return std::all_of(values.begin(), values.end(), [](double v) { return std::isfinite(v); });
  };
  const auto bounds = [&](std::initializer_list<double> errors) noexcept {
    return finite(errors) && std::min(errors) >= 0.0;
  };
  return p.begin <= p.end && p.duration > 0.0 && is_in_domain(p.from) &&
         finite({p.start, p.duration, p.change.x, p.change.y, p.change.yaw}) &&
         bounds({p.yaw_error, p.time_error, p.from_shift, p.from_turn});
}

inline std::vector<Piece> pieces_of(const Doubles& rows) {
  constexpr std::size_t kColumns = std::tuple_size_v<PieceRow>;
  if (length(rows) % kColumns != 0) throw py::value_error("pieces: rows of 15 values");
  std::vector<Piece> pieces;
  for (std::size_t i = 0; i < length(rows); i += kColumns) {
    pieces.push_back(piece_of(rows.data() + i));
    if (!is_sound(pieces.back())) throw py::value_error("the state is damaged");
  }
  return pieces;
}

}  // namespace gjk::bindings
