// SPDX-FileCopyrightText: gjk_collision contributors
// SPDX-License-Identifier: Apache-2.0
// How far two sets of points are apart, answered without rounding.
#pragma once

#include <cmath>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "oracle.hpp"
#include "placement.hpp"

namespace gjk::verify {

// A sum of doubles, without rounding.
struct Sum {
  mpz_class value = 0;  // times 2^exponent
  int exponent = 0;
  long double approximate = 0.0L;
  long double rounding = 0.0L;  // of that

  Sum(std::initializer_list<double> terms) : Sum(std::vector<double>(terms)) {}
  explicit Sum(const std::vector<double>& terms) {
    exponent = Grid::of({&terms}).exponent;
    for (const double v : terms) {
      value += to_integer<mpz_class>(v, exponent);
      approximate += static_cast<long double>(v);
      rounding += 1e-18L * std::fabs(static_cast<long double>(v));
    }
  }
  Sum operator-() const {
    Sum negated = *this;
    negated.value = -value;
    negated.approximate = -approximate;
    return negated;
  }
};

// The signed distance of the hulls of two sets of points: negative is the depth of an overlap.
// The points need not be convex, distinct or in order. Floating point with a bound on its error
// answers first, then fixed point with few bits, then with many.
class Truth {
 public:
  // In world coordinates.
  Truth(const Polygon& p, const Polygon& q) {
    const int exponent = Grid::of({&p.x, &p.y, &q.x, &q.y}).exponent;
    levels_.emplace_back(to_ring<mpz_class>(p, exponent), to_ring<mpz_class>(q, exponent), exponent,
                         mpz_class(0));
  }
  // In local coordinates, at poses.
  Truth(Polygon p, TruePose p_pose, Polygon q, TruePose q_pose)
      : posed_(Posed{std::move(p), std::move(q), std::move(p_pose), std::move(q_pose)}) {
    levels_.push_back(posed_->level(kFraction));
  }

  // Sign of the signed distance minus the sum (m). 0: equal, or closer than the last level can
  // tell.
  int compare(const Sum& sum) const {
    const Level& first = levels_.front();
    if (first.low > sum.approximate + sum.rounding) return 1;
    if (first.high < sum.approximate - sum.rounding) return -1;
    const int sign = first.compare(sum);
    if (sign != 0 || !posed_) return sign;
    if (levels_.size() == 1) levels_.push_back(posed_->level(kWideFraction));
    return levels_.back().compare(sum);
  }
  // Bounds on the signed distance, m; the upper one is hardly below 0 where they overlap.
  long double low() const { return levels_.front().low; }
  long double high() const { return levels_.front().high; }

  bool polygons_meet() const { return compare({0.0}) <= 0; }
  // Is their distance at most the sum of `reach` (m)?
  bool within(std::initializer_list<double> reach) const {
    const Sum sum(reach);
    return sum.value >= 0 && compare(sum) <= 0;
  }
  // Is their distance at least that sum? What a lower bound claims.
  bool at_least(std::initializer_list<double> reach) const {
    const Sum sum(reach);
    return sum.value <= 0 || compare(sum) >= 0;
  }
  // Of polygons that meet: is the depth at most, at least the sum?
  bool depth_at_most(std::initializer_list<double> depth) const {
    const Sum sum(depth);
    return sum.value >= 0 && compare(-sum) >= 0;
  }
  bool depth_at_least(std::initializer_list<double> depth) const {
    const Sum sum(depth);
    return sum.value <= 0 || compare(-sum) <= 0;
  }

 private:
  struct Near {
    long double x;
    long double y;
    const Point<mpz_class>* exact;
  };

  // The hulls in units of 2^exponent m, each vertex less than `error / 2` units off; 0: exact.
  struct Level {
    Ring<mpz_class> p;
    Ring<mpz_class> q;
    int exponent;
    mpz_class error;
    // The same relative to a vertex of p, m, rounded.
    std::vector<Near> near_p;
    std::vector<Near> near_q;
    long double rounding = 0.0L;  // m: of a distance of these
    long double low = 0.0L;       // m: bounds on the signed distance
    long double high = 0.0L;

    Level(const Ring<mpz_class>& points_p, const Ring<mpz_class>& points_q, int e, mpz_class error_)
        : exponent(e), error(std::move(error_)) {
      for (const std::size_t i : hull<mpz_class>(points_p)) p.push_back(points_p[i]);
      for (const std::size_t i : hull<mpz_class>(points_q)) q.push_back(points_q[i]);
      approximate();
    }
    Level(Level&&) = default;  // what is pointed to stays in place

    int compare(const Sum& sum) const {
      if (sum.value != 0 && sum.exponent < exponent && error == 0)
        return refined(sum.exponent).compare(sum);
      const int shift = sum.exponent - exponent;
      const auto by = static_cast<mp_bitcnt_t>(std::abs(shift));
      const mpz_class units = shift >= 0 ? mpz_class(sum.value << by) : mpz_class(sum.value >> by);
      if (error == 0) {
        if (!is_at_most(units, true)) return 1;
        return is_at_most(units, false) ? -1 : 0;
      }
      const mpz_class unsure = error + 2;
      if (is_at_most(units - unsure, true)) return -1;
      return is_at_most(units + unsure, true) ? 0 : 1;
    }

   private:
    Level refined(int finer) const {
      const auto by = static_cast<mp_bitcnt_t>(exponent - finer);
      Ring<mpz_class> fine_p, fine_q;
      for (const auto& v : p) fine_p.push_back({mpz_class(v.x << by), mpz_class(v.y << by)});
      for (const auto& v : q) fine_q.push_back({mpz_class(v.x << by), mpz_class(v.y << by)});
      return {fine_p, fine_q, finer, mpz_class(0)};
    }

    long double metres(const mpz_class& value) const {
      long e = 0;
      const double mantissa = mpz_get_d_2exp(&e, value.get_mpz_t());
      return std::ldexp(static_cast<long double>(mantissa), static_cast<int>(e) + exponent);
    }

    void approximate() {
      long double largest = 0.0L;
      for (auto [ring, near] : {std::pair{&p, &near_p}, std::pair{&q, &near_q}}) {
        for (const auto& v : *ring) {
          near->push_back({metres(v.x - p[0].x), metres(v.y - p[0].y), &v});
          largest = std::max({largest, std::fabs(near->back().x), std::fabs(near->back().y)});
        }
      }
      // Coordinates are rounded to double, and that is the largest error by far.
      rounding = 0x1p-48L * largest + metres(error) + 0x1p-1060L;
      long double apart = -INFINITY;  // along any one direction: a lower bound
      const auto test_direction = [&](long double x, long double y) {
        const long double length = std::sqrt(x * x + y * y);
        if (!(length > 0x1p-8000L)) return;
        long double first = INFINITY, last = -INFINITY;
        for (const Near& v : near_q) first = std::min(first, x * v.x + y * v.y);
        for (const Near& v : near_p) last = std::max(last, x * v.x + y * v.y);
        apart = std::max(apart, (first - last) / length);
      };
      for (std::size_t i = 0; i < near_p.size(); ++i) {
        const Near& a = near_p[i];
        const Near& b = near_p[(i + 1) % near_p.size()];
        test_direction(b.y - a.y, a.x - b.x);
      }
      for (std::size_t i = 0; i < near_q.size(); ++i) {
        const Near& a = near_q[i];
        const Near& b = near_q[(i + 1) % near_q.size()];
        test_direction(a.y - b.y, b.x - a.x);
      }
      long double nearest = INFINITY;
      Near foot_to_vertex{};
      for_each_edge_and_vertex(near_p, near_q, [&](const Near& a, const Near& b, const Near& v) {
        const Near way = foot_to(a, b, v);
        const long double here = way.x * way.x + way.y * way.y;
        if (here >= nearest) return;
        nearest = here;
        foot_to_vertex = way;
      });
      nearest = std::sqrt(nearest);
      test_direction(foot_to_vertex.x, foot_to_vertex.y);  // of p or of q: one of both is right
      test_direction(-foot_to_vertex.x, -foot_to_vertex.y);
      high = apart < -rounding && overlap_for_certain() ? -kLeast : nearest + rounding;
      // Where they are apart for certain, no point of the one is nearer to the other than this.
      low = (apart > rounding ? nearest : apart) - rounding;
    }

    // Is the signed distance at most (closed) or less than `units`?
    bool is_at_most(const mpz_class& units, bool closed) const {
      if (units > 0) return do_meet() || some_vertex_within(units, closed);
      if (units == 0 && closed) return do_meet();
      return do_meet() && is_deep(-units, closed);
    }
    bool do_meet() const { return low <= 0.0L && (high < 0.0L || meet<mpz_class>(p, q)); }

    // Of any length at all.
    static constexpr long double kLeast = std::numeric_limits<long double>::min();

    // The side of the edge a, b on which v lies; 0: floating point does not tell.
    int side_of(const Near& a, const Near& b, const Near& v) const {
      const long double ex = b.x - a.x, ey = b.y - a.y, fx = v.x - a.x, fy = v.y - a.y;
      const long double twice_area = ex * fy - ey * fx;
      const long double unsure =
          8.0L * rounding *
          (std::fabs(ex) + std::fabs(ey) + std::fabs(fx) + std::fabs(fy) + rounding);
      return twice_area > unsure ? 1 : twice_area < -unsure ? -1 : 0;
    }
    bool is_inside_for_certain(const std::vector<Near>& ring, const Near& v) const {
      for (std::size_t i = 0; i < ring.size(); ++i) {
        if (side_of(ring[i], ring[(i + 1) % ring.size()], v) <= 0) return false;
      }
      return true;
    }
    bool overlap_for_certain() const {
      for (const Near& v : near_q) {
        if (is_inside_for_certain(near_p, v)) return true;
      }
      for (const Near& v : near_p) {
        if (is_inside_for_certain(near_q, v)) return true;
      }
      for (std::size_t i = 0; i < near_p.size(); ++i) {
        const Near& a = near_p[i];
        const Near& b = near_p[(i + 1) % near_p.size()];
        for (std::size_t j = 0; j < near_q.size(); ++j) {
          const Near& c = near_q[j];
          const Near& d = near_q[(j + 1) % near_q.size()];
          if (side_of(a, b, c) * side_of(a, b, d) < 0 && side_of(c, d, a) * side_of(c, d, b) < 0) {
            return true;
          }
        }
      }
      return false;
    }

    bool some_vertex_within(const mpz_class& reach, bool closed) const {
      // What floating point shows to be farther needs no integers.
      const long double threshold = metres(reach) * (1.0L + 1e-15L) + rounding;
      const mpz_class squared = reach * reach;
      bool found = false;
      for_each_edge_and_vertex(near_p, near_q, [&](const Near& a, const Near& b, const Near& v) {
        if (found || distance(a, b, v) > threshold) return;
        found = is_within(*a.exact, *b.exact, *v.exact, squared, closed);
      });
      return found;
    }

    // Do the hulls, which meet, reach at least (closed) or more than `depth` inside each other at
    // every edge of both?
    bool is_deep(const mpz_class& depth, bool closed) const {
      if (p.size() == 1 && q.size() == 1) return closed && depth == 0;
      return edges_are_reached(p, q, depth, closed) && edges_are_reached(q, p, depth, closed);
    }
  };

  struct Posed {
    Polygon p;
    Polygon q;
    TruePose p_pose;
    TruePose q_pose;

    Level level(int bits) const {
      const Placing at_p = placed_exactly(p, p_pose, bits);
      const Placing at_q = placed_exactly(q, q_pose, bits);
      return {at_p.points, at_q.points, -bits, mpz_class(2 * (at_p.error + at_q.error))};
    }
  };

  static bool is_within(const Point<mpz_class>& a, const Point<mpz_class>& b,
                        const Point<mpz_class>& v, const mpz_class& reach_squared, bool closed) {
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
    return closed ? left <= right : left < right;
  }

  static bool edges_are_reached(const Ring<mpz_class>& ring, const Ring<mpz_class>& other,
                                const mpz_class& depth, bool closed) {
    for (std::size_t i = 0; i < ring.size() && ring.size() > 1; ++i) {
      const auto& from = ring[i];
      const auto& to = ring[(i + 1) % ring.size()];
      mpz_class deepest = area<mpz_class>(from, to, other[0]);
      for (const auto& v : other) deepest = std::max(deepest, area<mpz_class>(from, to, v));
      if (deepest < 0) return false;
      const mpz_class ex = to.x - from.x, ey = to.y - from.y;
      const mpz_class left = deepest * deepest;
      const mpz_class right = depth * depth * (ex * ex + ey * ey);
      if (closed ? left < right : left <= right) return false;
    }
    return true;
  }

  // From the point of the edge that is nearest to v, to v.
  static Near foot_to(const Near& a, const Near& b, const Near& v) {
    const long double ex = b.x - a.x, ey = b.y - a.y, fx = v.x - a.x, fy = v.y - a.y;
    const long double along = ex * fx + ey * fy;
    const long double length = ex * ex + ey * ey;
    if (along <= 0) return {fx, fy, nullptr};
    if (along >= length) return {v.x - b.x, v.y - b.y, nullptr};
    const long double across = (ex * fy - ey * fx) / length;
    return {-across * ey, across * ex, nullptr};
  }
  static long double distance(const Near& a, const Near& b, const Near& v) {
    const Near way = foot_to(a, b, v);
    return std::sqrt(way.x * way.x + way.y * way.y);
  }

  std::optional<Posed> posed_;
  mutable std::vector<Level> levels_;
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
