// SPDX-FileCopyrightText: gjk_collision contributors
// SPDX-License-Identifier: Apache-2.0
// The truth in integers, sharing neither code nor method with the kernel.
//
// Doubles are integers times a power of two, so every pair of shapes is moved to integers without
// loss:
// __int128 where they are short, GMP where not. Polygons meet where their closed boundaries cross
// or one holds a vertex of the other; the kernel reasons by separation instead.
#pragma once

#include <gmpxx.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <initializer_list>
#include <utility>
#include <vector>

#include "polygons.hpp"

namespace gjk::verify {

__extension__ typedef __int128 Int128;  // a typedef, since only it can carry __extension__

// The largest e such that every value is an integer times 2^e, and how many bits those integers
// have.
struct Grid {
  int exponent = 0;
  int bits = 0;

  static Grid of(std::initializer_list<const std::vector<double>*> values) {
    bool any = false;
    int low = 0;
    int high = 0;
    for (const auto* list : values) {
      for (const double value : *list) {
        if (value == 0.0) continue;
        int e = 0;
        auto mantissa = static_cast<std::int64_t>(std::ldexp(std::frexp(value, &e), 53));
        const int top = e;
        e -= 53;
        while ((mantissa & 1) == 0) {
          mantissa >>= 1;
          ++e;
        }
        low = any ? std::min(low, e) : e;
        high = any ? std::max(high, top) : top;
        any = true;
      }
    }
    return {low, high - low};
  }
};

template <class Int>
Int to_integer(double value, int exponent) {
  if constexpr (std::is_same_v<Int, Int128>) {
    return static_cast<Int128>(std::ldexp(value, -exponent));
  } else {
    if (value == 0.0) return mpz_class(0);
    int e = 0;
    const mpz_class result(std::ldexp(std::frexp(value, &e), 53));
    const int shift = e - 53 - exponent;  // to the right it is exact: on the grid
    const auto by = static_cast<mp_bitcnt_t>(std::abs(shift));
    return shift >= 0 ? mpz_class(result << by) : mpz_class(result >> by);
  }
}

template <class Int>
int sign(const Int& v) {
  return v > 0 ? 1 : (v < 0 ? -1 : 0);
}

template <class Int>
struct Point {
  Int x;
  Int y;
  friend bool operator==(const Point& a, const Point& b) { return a.x == b.x && a.y == b.y; }
};

template <class Int>
using Ring = std::vector<Point<Int>>;

template <class Int>
Ring<Int> to_ring(const Polygon& polygon, int exponent) {
  Ring<Int> ring;
  for (std::size_t i = 0; i < polygon.x.size(); ++i) {
    ring.push_back(
        {to_integer<Int>(polygon.x[i], exponent), to_integer<Int>(polygon.y[i], exponent)});
  }
  return ring;
}

// (b - a) x (c - a)
template <class Int>
Int area(const Point<Int>& a, const Point<Int>& b, const Point<Int>& c) {
  return Int((b.x - a.x) * (c.y - a.y) - (b.y - a.y) * (c.x - a.x));
}

// Counter-clockwise with every turn to the left or straight on, going round once; repeated
// vertices, segments and points are.
template <class Int>
bool is_convex(const Ring<Int>& ring) {
  const std::size_t n = ring.size();
  for (std::size_t i = 0; i < n; ++i) {  // every vertex on the left of every edge
    for (std::size_t j = 0; j < n; ++j) {
      if (sign(area<Int>(ring[i], ring[(i + 1) % n], ring[j])) < 0) return false;
    }
  }
  return true;
}

// Is v in the box of a and b? For a point on their line: is it on the segment?
template <class Int>
bool between(const Point<Int>& a, const Point<Int>& b, const Point<Int>& v) {
  return std::min(a.x, b.x) <= v.x && v.x <= std::max(a.x, b.x) && std::min(a.y, b.y) <= v.y &&
         v.y <= std::max(a.y, b.y);
}

template <class Int>
bool segments_meet(const Point<Int>& a, const Point<Int>& b, const Point<Int>& c,
                   const Point<Int>& d) {
  if (std::max(a.x, b.x) < std::min(c.x, d.x) || std::max(c.x, d.x) < std::min(a.x, b.x) ||
      std::max(a.y, b.y) < std::min(c.y, d.y) || std::max(c.y, d.y) < std::min(a.y, b.y)) {
    return false;
  }
  const int c_side = sign(area<Int>(a, b, c));
  const int d_side = sign(area<Int>(a, b, d));
  if (c_side * d_side > 0) return false;
  const int a_side = sign(area<Int>(c, d, a));
  const int b_side = sign(area<Int>(c, d, b));
  if (a_side * b_side > 0) return false;
  if (c_side == 0 && d_side == 0) return true;  // on one line, and the boxes meet
  return true;
}

// Is v inside, or on the boundary, of a convex ring that is not flat?
template <class Int>
bool holds(const Ring<Int>& ring, const Point<Int>& v) {
  bool flat = true;
  for (std::size_t i = 0; i < ring.size(); ++i) {
    const auto& a = ring[i];
    const auto& b = ring[(i + 1) % ring.size()];
    const int side = sign(area<Int>(a, b, v));
    if (side < 0) return false;
    if (side > 0) flat = false;
  }
  return !flat;  // a flat ring is all boundary, which segments_meet sees
}

template <class Int>
bool meet(const Ring<Int>& p, const Ring<Int>& q) {
  if (holds<Int>(p, q[0]) || holds<Int>(q, p[0])) return true;
  for (std::size_t i = 0; i < p.size(); ++i) {
    for (std::size_t j = 0; j < q.size(); ++j) {
      if (segments_meet<Int>(p[i], p[(i + 1) % p.size()], q[j], q[(j + 1) % q.size()])) return true;
    }
  }
  return false;
}

// The strict hull, counter-clockwise, as indices into the points (monotone chain).
template <class Int>
std::vector<std::size_t> hull(const Ring<Int>& points) {
  std::vector<std::size_t> order(points.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::sort(order.begin(), order.end(), [&](std::size_t i, std::size_t j) {
    return points[i].x < points[j].x || (points[i].x == points[j].x && points[i].y < points[j].y);
  });
  order.erase(std::unique(order.begin(), order.end(),
                          [&](std::size_t i, std::size_t j) { return points[i] == points[j]; }),
              order.end());
  if (order.size() == 1) return order;
  std::vector<std::size_t> ring;
  for (int sweep = 0; sweep < 2; ++sweep) {
    const std::size_t start = ring.size();
    for (const std::size_t i : order) {
      while (ring.size() > start + 1 &&
             area<Int>(points[ring[ring.size() - 2]], points[ring.back()], points[i]) <= 0) {
        ring.pop_back();
      }
      ring.push_back(i);
    }
    ring.pop_back();  // the first of the other sweep
    std::reverse(order.begin(), order.end());
  }
  return ring;
}

// Visits every (from, to, vertex): the edges of either ring against the vertices of the other.
template <class P, class Visit>
void for_each_edge_and_vertex(const std::vector<P>& p, const std::vector<P>& q, Visit&& visit) {
  for (std::size_t i = 0; i < p.size(); ++i) {
    for (const auto& v : q) visit(p[i], p[(i + 1) % p.size()], v);
  }
  for (std::size_t i = 0; i < q.size(); ++i) {
    for (const auto& v : p) visit(q[i], q[(i + 1) % q.size()], v);
  }
}

}  // namespace gjk::verify
