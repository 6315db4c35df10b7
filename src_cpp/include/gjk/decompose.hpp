// SPDX-FileCopyrightText: gjk_collision contributors
// SPDX-License-Identifier: Apache-2.0
// A concave outline into convex parts whose union is the outline, exactly: no new vertices are made.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <utility>
#include <vector>

#include "gjk/exact.hpp"
#include "gjk/hull.hpp"
#include "gjk/vec2.hpp"

namespace gjk {

// Two closed segments have a point in common.
inline bool segments_meet(Vec2 a, Vec2 b, Vec2 c, Vec2 d) noexcept {
  const double x[4] = {a.x, b.x, c.x, d.x};
  const double y[4] = {a.y, b.y, c.y, d.y};
  return !exact::disjoint(Convex::view(x, y, 2), Convex::view(x + 2, y + 2, 2));
}

// Indices of the first vertices of two edges that cross, touch or overlap; -1: the outline is simple.
struct Crossing {
  long first = -1;
  long second = -1;
};

inline Crossing first_crossing(std::span<const Vec2> outline) {
  const std::size_t n = outline.size();
  const auto at = [&](std::size_t i) { return outline[i % n]; };
  for (std::size_t i = 0; i < n; ++i) {
    // The next edge shares a vertex; it may only not fold back over this one.
    const bool folds = exact::orientation(at(i), at(i + 1), at(i + 2)) == 0 &&
                       exact::exact_dot(at(i + 1), at(i), at(i + 2)).sign() > 0;
    if (folds) return {static_cast<long>(i), static_cast<long>((i + 1) % n)};
    for (std::size_t j = i + 2; j < n && j < i + n - 1; ++j) {
      if (segments_meet(at(i), at(i + 1), at(j), at(j + 1))) {
        return {static_cast<long>(i), static_cast<long>(j)};
      }
    }
  }
  return {};
}

namespace detail {

using Loop = std::vector<std::size_t>;  // vertex indices, counter-clockwise

// Is the corner before-tip-after an ear: a left turn whose closed triangle holds no other vertex?
inline bool is_ear(std::span<const Vec2> outline, const Loop& loop, std::size_t k) {
  const std::size_t n = loop.size();
  const std::size_t before = loop[(k + n - 1) % n];
  const std::size_t tip = loop[k];
  const std::size_t after = loop[(k + 1) % n];
  const Vec2 a = outline[before];
  const Vec2 b = outline[tip];
  const Vec2 c = outline[after];
  if (exact::orientation(a, b, c) <= 0) return false;
  return std::none_of(loop.begin(), loop.end(), [&](std::size_t i) {
    if (i == before || i == tip || i == after) return false;
    return exact::orientation(a, b, outline[i]) >= 0 && exact::orientation(b, c, outline[i]) >= 0 &&
           exact::orientation(c, a, outline[i]) >= 0;
  });
}

// Position of the edge first -> second in the loop, or its size.
inline std::size_t find_edge(const Loop& loop, std::size_t first, std::size_t second) {
  for (std::size_t k = 0; k < loop.size(); ++k) {
    if (loop[k] == first && loop[(k + 1) % loop.size()] == second) return k;
  }
  return loop.size();
}

inline std::vector<Vec2> vertices_of(std::span<const Vec2> outline, const Loop& loop) {
  std::vector<Vec2> vertices;
  for (const std::size_t i : loop) vertices.push_back(outline[i]);
  return vertices;
}

}  // namespace detail

// Convex parts of a simple counter-clockwise outline: ears are clipped (Meisters' two ears theorem),
// then diagonals are taken out again where the union stays convex (Hertel and Mehlhorn: at most four
// times the fewest parts). Empty when the outline is not simple.
inline std::vector<std::vector<Vec2>> decompose(std::span<const Vec2> outline) {
  using detail::Loop;
  Loop rest;
  for (std::size_t i = 0; i < outline.size(); ++i) rest.push_back(i);
  std::vector<Loop> parts;
  std::vector<std::pair<std::size_t, std::size_t>> diagonals;
  while (rest.size() > 3) {
    const std::size_t n = rest.size();
    std::size_t k = 0;
    while (k < n && !detail::is_ear(outline, rest, k)) ++k;
    if (k == n) {  // only flat corners are in the way, or the outline is not simple
      k = 0;
      while (k < n && exact::orientation(outline[rest[(k + n - 1) % n]], outline[rest[k]],
                                         outline[rest[(k + 1) % n]]) != 0) {
        ++k;
      }
      if (k == n) return {};
    } else {
      parts.push_back({rest[(k + n - 1) % n], rest[k], rest[(k + 1) % n]});
      diagonals.emplace_back(rest[(k + n - 1) % n], rest[(k + 1) % n]);
    }
    rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(k));
  }
  if (exact::orientation(outline[rest[0]], outline[rest[1]], outline[rest[2]]) > 0) {
    parts.push_back(rest);
  }

  for (const auto& [first, second] : diagonals) {
    const auto edge_of = [&](std::size_t from, std::size_t to) {
      return std::find_if(parts.begin(), parts.end(), [&](const Loop& part) {
        return detail::find_edge(part, from, to) < part.size();
      });
    };
    const auto left = edge_of(first, second);
    const auto right = edge_of(second, first);
    if (left == parts.end() || right == parts.end() || left == right) continue;
    Loop joined;
    const std::size_t l = detail::find_edge(*left, first, second);
    const std::size_t r = detail::find_edge(*right, second, first);
    for (std::size_t k = 1; k <= left->size(); ++k) joined.push_back((*left)[(l + k) % left->size()]);
    for (std::size_t k = 2; k < right->size(); ++k) {
      joined.push_back((*right)[(r + k) % right->size()]);
    }
    if (first_reflex_vertex(detail::vertices_of(outline, joined)) >= 0) continue;
    *left = joined;
    parts.erase(right);
  }

  std::vector<std::vector<Vec2>> polygons;
  for (const Loop& part : parts) polygons.push_back(detail::vertices_of(outline, part));
  return polygons;
}

}  // namespace gjk
