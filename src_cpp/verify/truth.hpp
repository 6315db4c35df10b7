// SPDX-FileCopyrightText: gjk_collision contributors
// SPDX-License-Identifier: Apache-2.0
// Questions about one pair of polygons, answered without rounding.
#pragma once

#include <cmath>
#include <vector>

#include "oracle.hpp"

namespace gjk::verify {

class Truth {
 public:
  Truth(const Polygon& p, const Polygon& q) {
    const Grid grid = Grid::of({&p.x, &p.y, &q.x, &q.y});
    exponent_ = grid.exponent;
    p_ = to_ring<mpz_class>(p, exponent_);
    q_ = to_ring<mpz_class>(q, exponent_);
    meet_ = grid.bits <= 61
                ? meet<Int128>(to_ring<Int128>(p, exponent_), to_ring<Int128>(q, exponent_))
                : meet<mpz_class>(p_, q_);
    approximate();
  }
  // Coordinates in units of 2^exponent m.
  Truth(Ring<mpz_class> p, Ring<mpz_class> q, int exponent)
      : exponent_(exponent), p_(std::move(p)), q_(std::move(q)), meet_(meet<mpz_class>(p_, q_)) {
    approximate();
  }

  bool polygons_meet() const { return meet_; }

  // Is their distance at most the sum of `reach` (m; each finite, the sum >= 0)?
  bool within(std::initializer_list<double> reach) const {
    return meet_ || some_vertex_within(Length(reach, exponent_), true);
  }
  // Is their distance at least that sum? What a lower bound claims.
  bool at_least(std::initializer_list<double> reach) const {
    const Length length(reach, exponent_);
    if (length.value <= 0) return true;
    return !meet_ && !some_vertex_within(length, false);
  }

  // Of polygons that meet: the depth is the smallest, over the edges of both, of how far the
  // other's vertices reach inside. Is it at most the sum?
  bool depth_at_most(std::initializer_list<double> sum) const {
    const Length length(sum, exponent_);
    return length.value >= 0 && (some_edge_is_reached(p_, q_, length, true) ||
                                 some_edge_is_reached(q_, p_, length, true) || no_edges());
  }
  bool depth_at_least(std::initializer_list<double> sum) const {
    const Length length(sum, exponent_);
    if (length.value <= 0) return true;
    return !no_edges() && !some_edge_is_reached(p_, q_, length, false) &&
           !some_edge_is_reached(q_, p_, length, false);
  }

 private:
  // A sum of doubles in units of 2^(exponent - shift).
  struct Length {
    mpz_class value = 0;
    mp_bitcnt_t shift = 0;
    long double approximate = 0.0L;

    Length(std::initializer_list<double> terms, int exponent) {
      const std::vector<double> list(terms);
      const Grid grid = Grid::of({&list});
      const int finer = std::max(0, exponent - grid.exponent);
      shift = static_cast<mp_bitcnt_t>(finer);
      for (const double v : list) {
        value += to_integer<mpz_class>(v, exponent - finer);
        approximate += static_cast<long double>(v);
      }
    }
  };
  struct Near {
    long double x;
    long double y;
    const Point<mpz_class>* exact;
  };

  void approximate() {
    for (auto [ring, near] : {std::pair{&p_, &near_p_}, std::pair{&q_, &near_q_}}) {
      for (const auto& v : *ring) {
        const auto metres = [&](const mpz_class& value) {
          long e = 0;
          const double mantissa = mpz_get_d_2exp(&e, value.get_mpz_t());
          return std::ldexp(static_cast<long double>(mantissa), static_cast<int>(e) + exponent_);
        };
        near->push_back({metres(v.x), metres(v.y), &v});
        largest_ = std::max({largest_, std::fabs(near->back().x), std::fabs(near->back().y)});
      }
    }
  }

  bool no_edges() const {
    const auto is_point = [](const Ring<mpz_class>& ring) {
      for (const auto& v : ring) {
        if (!(v == ring[0])) return false;
      }
      return true;
    };
    return is_point(p_) && is_point(q_);
  }

  // Is some vertex at most (closed) or less than (not closed) `reach` from an edge of the other
  // polygon?
  bool some_vertex_within(const Length& reach, bool closed) const {
    if (reach.value < 0) return false;
    // What floating point shows to be farther needs no integers. Coordinates are rounded to double
    // here, and that is the largest error by far.
    const long double threshold = reach.approximate * (1.0L + 1e-15L) + 1e-14L * largest_;
    const mpz_class squared = reach.value * reach.value;
    bool found = false;
    for_each_edge_and_vertex(near_p_, near_q_, [&](const Near& a, const Near& b, const Near& v) {
      if (found || distance(a, b, v) > threshold) return;
      found = is_within(*a.exact, *b.exact, *v.exact, squared, reach.shift, closed);
    });
    return found;
  }

  static bool is_within(const Point<mpz_class>& a, const Point<mpz_class>& b,
                        const Point<mpz_class>& v, const mpz_class& reach_squared,
                        mp_bitcnt_t shift, bool closed) {
    const mpz_class ex = b.x - a.x, ey = b.y - a.y, fx = v.x - a.x, fy = v.y - a.y;
    const mpz_class along = ex * fx + ey * fy;
    const mpz_class length = ex * ex + ey * ey;
    mpz_class left;
    mpz_class right = reach_squared;
    if (along <= 0) {
      left = fx * fx + fy * fy;
    } else if (along >= length) {
      const mpz_class tx = v.x - b.x, ty = v.y - b.y;
      left = tx * tx + ty * ty;
    } else {
      const mpz_class twice_area = ex * fy - ey * fx;
      left = twice_area * twice_area;
      right *= length;
    }
    left <<= 2 * shift;
    return closed ? left <= right : left < right;
  }

  // Does the other polygon reach at most (less than) `depth` inside some edge of `ring`?
  static bool some_edge_is_reached(const Ring<mpz_class>& ring, const Ring<mpz_class>& other,
                                   const Length& depth, bool closed) {
    for (std::size_t i = 0; i < ring.size(); ++i) {
      const auto& from = ring[i];
      const auto& to = ring[(i + 1) % ring.size()];
      if (from == to) continue;
      mpz_class deepest = area<mpz_class>(from, to, other[0]);
      for (const auto& v : other) deepest = std::max(deepest, area<mpz_class>(from, to, v));
      if (deepest <= 0) return closed || depth.value > 0;
      const mpz_class ex = to.x - from.x, ey = to.y - from.y;
      const mpz_class left = (deepest * deepest) << (2 * depth.shift);
      const mpz_class right = depth.value * depth.value * (ex * ex + ey * ey);
      if (closed ? left <= right : left < right) return true;
    }
    return false;
  }

  static long double distance(const Near& a, const Near& b, const Near& v) {
    const long double ex = b.x - a.x, ey = b.y - a.y, fx = v.x - a.x, fy = v.y - a.y;
    const long double along = ex * fx + ey * fy;
    const long double length = ex * ex + ey * ey;
    if (along <= 0) return std::sqrt(fx * fx + fy * fy);
    if (along >= length) {
      const long double tx = v.x - b.x, ty = v.y - b.y;
      return std::sqrt(tx * tx + ty * ty);
    }
    return std::fabs(ex * fy - ey * fx) / std::sqrt(length);
  }

  int exponent_ = 0;
  Ring<mpz_class> p_;
  Ring<mpz_class> q_;
  bool meet_ = false;
  std::vector<Near> near_p_;
  std::vector<Near> near_q_;
  long double largest_ = 0.0L;
};

// The vertices of the strict hull, so that convexity has no rounding.
inline Polygon convex_hull(const Polygon& points) {
  const Grid grid = Grid::of({&points.x, &points.y});
  const std::vector<std::size_t> ring =
      grid.bits <= 61 ? hull<Int128>(to_ring<Int128>(points, grid.exponent))
                      : hull<mpz_class>(to_ring<mpz_class>(points, grid.exponent));
  Polygon result;
  for (const std::size_t i : ring) result.add(points.vertex(static_cast<int>(i)));
  return result;
}

// (b - a) x (c - a) == 0, without rounding.
inline bool collinear(Vec2 a, Vec2 b, Vec2 c) {
  const Polygon points{{a.x, b.x, c.x}, {a.y, b.y, c.y}};
  const auto ring = to_ring<mpz_class>(points, Grid::of({&points.x, &points.y}).exponent);
  return area<mpz_class>(ring[0], ring[1], ring[2]) == 0;
}

}  // namespace gjk::verify
