// SPDX-FileCopyrightText: gjk_collision contributors
// SPDX-License-Identifier: Apache-2.0
// Rounding bounds at their worst: a search changes the input by single bits, to make the error as
// large as it can be relative to its bound. The reference is in 64-bit mantissas.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <numbers>
#include <random>
#include <sstream>
#include <string>

#include "gjk/motion/motion.hpp"
#include "gjk/narrow/axes.hpp"
#include "gjk/narrow/exact.hpp"
#include "gjk/narrow/gjk.hpp"
#include "gjk/shape/expansion.hpp"
#include "gjk/shape/placing.hpp"
#include "gjk/shape/pose.hpp"

namespace gjk::bounds_test {
namespace {

using Real = long double;
static_assert(sizeof(Real) > sizeof(double), "the reference needs more digits");

constexpr double kLeft = -std::numeric_limits<double>::infinity();

struct Point {
  Real x;
  Real y;
};
Point truly_rotated(double x, double y, Real yaw) {
  return {std::cos(yaw) * x - std::sin(yaw) * y, std::sin(yaw) * x + std::cos(yaw) * y};
}

// Finds inputs for which ratio(values) is large. `first` returns random values.
template <std::size_t N>
class Search {
 public:
  using Values = std::array<double, N>;

  template <class First, class Ratio>
  Search(const First& first, const Ratio& ratio) {
    for (int start = 0; start < 40; ++start) {
      Values at = first(random_);
      double found = ratio(at);
      for (int step = 0; step < 4000; ++step) {
        Values next = at;
        for (std::uint64_t changes = 1 + random_() % 3; changes > 0; --changes) {
          double& value = next[random_() % N];
          value = changed(value);
        }
        const double then = ratio(next);
        if (!(then >= found)) continue;
        found = then;
        at = next;
      }
      if (found > greatest) {
        greatest = found;
        values = at;
      }
    }
  }

  std::string literal() const {
    std::ostringstream text;
    text << std::hexfloat;
    for (const double value : values) text << value << ", ";
    return text.str();
  }

  double greatest = -std::numeric_limits<double>::infinity();
  Values values{};

 private:
  // Roundings are largest beside powers of two.
  double changed(double value) {
    const double steps =
        static_cast<double>(random_() % 16) * std::numeric_limits<double>::epsilon();
    int exponent = 0;
    std::frexp(value, &exponent);
    switch (random_() % 6) {
      case 0:
        return std::nextafter(value, 1e300);
      case 1:
        return std::nextafter(value, -1e300);
      case 2:
        return std::copysign(std::ldexp(1.0 + steps, exponent - 1), value);
      case 3:
        return std::copysign(std::ldexp(1.0 - steps, exponent), value);
      case 4:
        return -value;
      default:
        return value * (1.0 + std::ldexp(1.0, -static_cast<int>(random_() % 53)));
    }
  }

  std::mt19937_64 random_{20261123};
};

double signed_unit(std::mt19937_64& random) {
  return std::uniform_real_distribution<double>(-1.0, 1.0)(random);
}

template <std::size_t N>
std::array<double, N> any(std::mt19937_64& random) {
  std::array<double, N> values;
  for (double& value : values) {
    value = std::ldexp(signed_unit(random), static_cast<int>(random() % 9) - 4);
  }
  return values;
}

// The search must find more than `least`, or it would test nothing.
template <std::size_t N>
void expect_within(const Search<N>& search, double least) {
  EXPECT_GT(search.greatest, least) << search.literal();
  EXPECT_LE(search.greatest, 1.0) << search.literal();
}

Convex points(const double* x, const double* y, int size) {
  Convex shape;
  shape.x = x;
  shape.y = y;
  shape.size = size;
  shape.find_extremes();
  return shape;
}

// {p.x, p.x, p.y, p.y, q.x, q.x, q.y, q.y, n.x, n.y, from.x, from.y}
TEST(Bounds, gap_along_any_vector) {
  const auto ratio = [](const std::array<double, 12>& v) {
    const Convex p = points(&v[0], &v[2], 2);
    const Convex q = points(&v[4], &v[6], 2);
    const Vec2 n{v[8], v[9]};
    const Vec2 from{v[10], v[11]};
    Real most = -std::numeric_limits<Real>::infinity();
    Real least = std::numeric_limits<Real>::infinity();
    for (int i = 0; i < 2; ++i) {
      const auto along = [&](Vec2 w) {
        return (static_cast<Real>(w.x) - from.x) * n.x + (static_cast<Real>(w.y) - from.y) * n.y;
      };
      most = std::fmax(most, along(p.vertex(i)));
      least = std::fmin(least, along(q.vertex(i)));
    }
    const Real length = std::hypot(static_cast<Real>(n.x), static_cast<Real>(n.y));
    const Real gap = (least - most) / length;
    const double size = scalar_span(p, n, from).size + scalar_span(q, -n, from).size;
    const Real bound = 4.0L * kUnitRoundoff * size * norm1(n) / length;
    const double found = exact::gap_along(p, q, n, from);
    return std::isfinite(found) ? static_cast<double>(1.0L + (found - gap) / bound) : kLeft;
  };
  expect_within(Search<12>(any<12>, ratio), 0.4);
}

// {p.x, p.x, p.y, p.y, q.x, q.x, q.y, q.y, d.x, d.y}
TEST(Bounds, support_of_any_vector) {
  const auto ratio = [](const std::array<double, 10>& v) {
    const Convex p = points(&v[0], &v[2], 2);
    const Convex q = points(&v[4], &v[6], 2);
    const Vec2 d{v[8], v[9]};
    Real least = std::numeric_limits<Real>::infinity();
    for (int i = 0; i < 2; ++i) {
      for (int j = 0; j < 2; ++j) {
        least = std::fmin(least, (static_cast<Real>(p.x[i]) - q.x[j]) * d.x +
                                     (static_cast<Real>(p.y[i]) - q.y[j]) * d.y);
      }
    }
    const double along = dot(d, detail::support(p, q, -d).point);
    return static_cast<double>((along - least) / (detail::support_rounding(p, q) * norm1(d)));
  };
  expect_within(Search<10>(any<10>, ratio), 0.2);
}

// To within a relative 2^-51.
double exact_sum(std::initializer_list<double> terms) {
  Expansion<8> sum;
  for (const double term : terms) add_to(sum, exactly(term));
  return sum.approximate();
}

// turned + pose - origin - placed
double excess(Real turned, double pose, double origin, double placed) {
  const auto high = static_cast<double>(turned);
  return exact_sum({high, static_cast<double>(turned - high), pose, -origin, -placed});
}

// {x, y, pose.x, pose.y, pose.yaw, origin.x, origin.y, pose_error}
TEST(Bounds, places_with_the_error_of_the_pose) {
  const auto ratio = [](const std::array<double, 8>& v) {
    const double pose_error = std::fabs(v[7]);
    const Transform at = Transform::from_pose({v[2], v[3], v[4]}, {v[5], v[6]}, pose_error);
    Convex placed;
    double x = 0.0;
    double y = 0.0;
    place(Convex::view(&v[0], &v[1], 1), at, &x, &y, placed);
    const Point turned = truly_rotated(v[0], v[1], v[4]);
    const double off = std::hypot(excess(turned.x, v[2], v[5], x), excess(turned.y, v[3], v[6], y));
    // The part of the bound that is left for the rounding.
    const double bound = exact_sum({placed.error, -pose_error});
    return off > 0.0 ? off / std::fmax(bound, 0.0) : 0.0;
  };
  const auto with_error = [](std::mt19937_64& random) {
    auto values = any<8>(random);
    if (random() % 2 == 0) values[4] = 0.0;
    values[7] *= std::ldexp(1.0, -static_cast<int>(random() % 64));
    return values;
  };
  expect_within(Search<8>(with_error, ratio), 0.9);
}

// {begin, duration, from.x, from.y, from.yaw, to.x, to.y, to.yaw, share, x, y}
TEST(Bounds, poses_between_two_poses) {
  const auto ratio = [](const std::array<double, 11>& v) {
    const double begin = v[0];
    const double end = begin + std::fabs(v[1]);
    const double t = begin + std::fabs(v[8]) * (end - begin);
    if (!(t <= end && begin < end && std::fabs(v[7] - v[4]) < 3.0)) return kLeft;
    const Piece piece = Piece::between(begin, {v[2], v[3], v[4]}, end, {v[5], v[6], v[7]});
    const Placement found = piece.at(t, reach(points(&v[9], &v[10], 1)));
    const Real share = (static_cast<Real>(t) - begin) / (static_cast<Real>(end) - begin);
    const auto coordinate = [&](std::size_t i) {
      return v[i] + share * (static_cast<Real>(v[i + 3]) - v[i]);
    };
    const Point true_vertex = truly_rotated(v[9], v[10], coordinate(4));
    const Point vertex = truly_rotated(v[9], v[10], found.pose.yaw);
    const Real off_x = true_vertex.x - vertex.x + coordinate(2) - found.pose.x;
    const Real off_y = true_vertex.y - vertex.y + coordinate(3) - found.pose.y;
    return static_cast<double>(std::hypot(off_x, off_y) / found.error);
  };
  expect_within(Search<11>(any<11>, ratio), 0.2);
}

// place() takes a pose for a translation if its sine is 0 and its cosine is 1: only at yaw 0.
TEST(Bounds, no_other_yaw_is_taken_for_zero) {
  const auto is_rotated = [](double yaw) {
    return Transform::from_pose({0.0, 0.0, yaw}).is_rotated();
  };
  for (int turns = 1; turns * 2 * std::numbers::pi < kMaxYaw; ++turns) {
    double yaw = std::nextafter(turns * 2 * std::numbers::pi, 0.0);
    for (int step = 0; step < 3; ++step, yaw = std::nextafter(yaw, kMaxYaw)) {
      ASSERT_TRUE(is_rotated(yaw)) << turns;
      ASSERT_TRUE(is_rotated(-yaw)) << turns;
    }
  }
  for (const double yaw : {std::numeric_limits<double>::denorm_min(), 1e-300, 1e-9}) {
    EXPECT_TRUE(is_rotated(yaw)) << yaw;
  }
}

}  // namespace
}  // namespace gjk::bounds_test
