// SPDX-FileCopyrightText: gjk_collision contributors
// SPDX-License-Identifier: Apache-2.0
// Curves of a car: each ends at its goal, has the length of a known solution, and is not longer
// than any other way there. The ends are integrated in long double.
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <random>
#include <vector>

#include "gjk/motion/dubins.hpp"
#include "gjk/motion/reeds_shepp.hpp"

namespace gjk::curves_test {
namespace {

constexpr double kPi = std::numbers::pi;
constexpr double kUlp = 0x1p-52;

using Shortest = Curve (*)(const Pose&, const Pose&, double) noexcept;

struct End {
  long double x = 0.0, y = 0.0, yaw = 0.0;
};

End drive(const Pose& from, const std::vector<Arc>& arcs) {
  End end{from.x, from.y, from.yaw};
  for (const Arc& arc : arcs) {
    // The chord: sin(turn / 2) / (turn / 2) of the length, in the mean direction.
    const long double half = 0.5L * arc.curvature * arc.length;
    const long double chord = arc.length * (half == 0.0L ? 1.0L : std::sin(half) / half);
    end.x += chord * std::cos(end.yaw + half);
    end.y += chord * std::sin(end.yaw + half);
    end.yaw += 2.0L * half;
  }
  return end;
}

std::vector<Arc> arcs_of(const Curve& curve) {
  return {curve.arcs.begin(), curve.arcs.begin() + curve.count};
}

// How far the curve's end is from b, over the rounding that is allowed there.
long double miss(const Pose& a, const Pose& b, double radius, const Curve& curve) {
  const End end = drive(a, arcs_of(curve));
  const long double dx = end.x - b.x, dy = end.y - b.y;
  const long double turn = std::remainder(end.yaw - b.yaw, 2.0L * std::numbers::pi_v<long double>);
  const long double input = std::fabs(a.x) + std::fabs(a.y) + std::fabs(b.x) + std::fabs(b.y);
  const long double yaws = 1.0L + std::fabs(a.yaw) + std::fabs(b.yaw);
  const long double position = kUlp * (input + (radius + std::hypot(b.x - a.x, b.y - a.y)) * yaws);
  return std::fmax(std::hypot(dx, dy) / position,
                   std::fabs(turn) / (kUlp * (yaws + input / radius)));
}

struct Case {
  Pose a;
  Pose b;
  double radius;
};

// Random poses, poses close together, grids of the radius and quarter turns, and ends of curves
// with arcs of no length.
std::vector<Case> cases(std::size_t count) {
  std::mt19937_64 random(16);
  const auto uniform = [&random](double low, double high) {
    return std::uniform_real_distribution<double>(low, high)(random);
  };
  const auto whole = [&random](int low, int high) {
    return static_cast<double>(std::uniform_int_distribution<int>(low, high)(random));
  };
  std::vector<Case> result;
  for (std::size_t i = 0; i < count; ++i) {
    const double radius = std::vector<double>{4.0, 1.0, 1e-3, 1e5}[i / 8 % 4];
    Pose a{uniform(-20.0, 20.0), uniform(-20.0, 20.0), uniform(-4.0, 4.0)};
    Pose b{uniform(-20.0, 20.0), uniform(-20.0, 20.0), uniform(-4.0, 4.0)};
    const double far = 3.0 * radius;
    switch (i % 8) {
      case 0:
        break;
      case 1:
        b = {a.x + uniform(-far, far), a.y + uniform(-far, far), uniform(-4.0, 4.0)};
        break;
      case 2: {
        const double small = std::pow(10.0, uniform(-12.0, 0.0));
        b = {a.x + small * uniform(-1.0, 1.0), a.y + small * uniform(-1.0, 1.0),
             a.yaw + small * uniform(-1.0, 1.0)};
        break;
      }
      case 3:
        a = {radius * whole(-3, 3), radius * whole(-3, 3), 0.5 * kPi * whole(-4, 4)};
        b = {radius * whole(-3, 3), radius * whole(-3, 3), 0.5 * kPi * whole(-4, 4)};
        break;
      case 4:
        b = {a.x + radius * whole(-4, 4), a.y, a.yaw + 0.25 * kPi * whole(-8, 8)};
        break;
      case 5: {
        const End end =
            drive(a, {{whole(-1, 1) / radius, radius * whole(0, 1) * uniform(-2.0, 2.0)},
                      {whole(-1, 1) / radius, radius * uniform(-2.0, 2.0)}});
        b = {static_cast<double>(end.x), static_cast<double>(end.y), static_cast<double>(end.yaw)};
        break;
      }
      case 6:
        a = {4e6 + uniform(-9.0, 9.0), 5e6 + uniform(-9.0, 9.0), uniform(-4.0, 4.0)};
        b = {4e6 + uniform(-9.0, 9.0), 5e6 + uniform(-9.0, 9.0), uniform(-4.0, 4.0)};
        break;
      default:
        a.yaw = uniform(-1e6, 1e6);
        b.yaw = uniform(-1e6, 1e6);
    }
    result.push_back({a, b, radius});
  }
  return result;
}

TEST(Curves, end_at_their_goal) {
  for (const Shortest shortest : {&dubins, &reeds_shepp}) {
    for (const Case& each : cases(40'000)) {
      const Curve curve = shortest(each.a, each.b, each.radius);
      ASSERT_LE(miss(each.a, each.b, each.radius, curve), 64.0L)
          << std::hexfloat << each.a.x << ' ' << each.a.y << ' ' << each.a.yaw << " to " << each.b.x
          << ' ' << each.b.y << ' ' << each.b.yaw << ", radius " << each.radius;
      for (const Arc& arc : arcs_of(curve)) {
        ASSERT_TRUE(arc.curvature == 0.0 || std::fabs(arc.curvature) == 1.0 / each.radius);
        ASSERT_NE(arc.length, 0.0);
        ASSERT_TRUE(shortest == &reeds_shepp || arc.length > 0.0);
      }
    }
  }
}

TEST(Curves, are_not_longer_than_another_way) {
  std::mt19937_64 random(17);
  std::uniform_real_distribution<double> length(-3.0, 3.0);
  std::uniform_int_distribution<int> side(-1, 1);
  for (int i = 0; i < 10'000; ++i) {
    std::vector<Arc> way(static_cast<std::size_t>(1 + i % 5));
    double sum = 0.0;
    for (Arc& arc : way) {
      arc = {static_cast<double>(side(random)), length(random) / (i % 3 == 0 ? 10.0 : 1.0)};
      sum += std::fabs(arc.length);
    }
    const Pose a{1.0, 2.0, 0.5};
    const auto shortest_to = [&a](const End& end, Shortest shortest) {
      const Pose b{static_cast<double>(end.x), static_cast<double>(end.y),
                   static_cast<double>(end.yaw)};
      return shortest(a, b, 1.0).length();
    };
    ASSERT_LE(shortest_to(drive(a, way), &reeds_shepp), sum + 1e-7) << "way " << i;
    for (Arc& arc : way) arc.length = std::fabs(arc.length);
    ASSERT_LE(shortest_to(drive(a, way), &dubins), sum + 1e-7) << "way " << i;
  }
}

struct Known {
  Pose b;
  double dubins;
  double reeds_shepp;
};

// From (0, 0, 0) with radius 1.
TEST(Curves, have_known_lengths) {
  for (const Known& each : std::vector<Known>{
           {{0.0, 0.0, 0.0}, 0.0, 0.0},
           {{0.0, 0.0, 4.0 * kPi}, 0.0, 0.0},
           {{5.0, 0.0, 0.0}, 5.0, 5.0},
           {{-5.0, 0.0, 0.0}, 5.0 + 2.0 * kPi, 5.0},
           {{1.0, 1.0, kPi / 2.0}, kPi / 2.0, kPi / 2.0},
           {{0.0, 2.0, kPi}, kPi, kPi},
           {{0.0, 2.0, -kPi}, kPi, kPi},
           {{0.0, 0.0, kPi}, 7.0 * kPi / 3.0, kPi},                     // C|C|C of thirds of a turn
           {{2.0, 2.0, 0.0}, kPi, kPi},                                 // LR
           {{0.0, -1.0, kPi}, 3.0 * kPi - 4.0 * std::asin(0.75), kPi},  // LRL
           // of OMPL 2.0.1: the words of both
           {{-3.5, -1.75, 1.0}, 8.238292169062406, 3.955106861882821},     // LSL, LSL
           {{-5.5, -2.75, -0.75}, 10.453414537391675, 6.503329169408196},  // LSR, LSR
           {{-0.5, -1.5, -2.75}, 5.701898967398819, 2.75},                 // LRL, L|R|L
           {{-1.25, -1.0, 0.25}, 7.427455762243342, 1.8997034451971575},   // LSL, L|RL
           {{-1.5, -0.5, -0.5}, 6.978583022802413, 1.9329144427275429},    // LSL, LR|L
           {{0.0, -0.25, -0.5}, 6.390263222503532, 1.0676410687529267},    // LSL, LR|LR
           {{-0.25, 0.25, 0.0}, 6.63673869777286, 1.1960605963913618},     // LSL, L|RL|R
           {{2.5, -4.0, 2.0}, 8.560989196425275, 5.715983389484662},       // LSL, L|RSL
           {{1.5, 1.25, -2.75}, 5.55095464010144, 3.051765034122925},      // LSR, L|RSR
           {{4.5, -2.25, -3.0}, 7.366627839186673, 6.153402886835059},     // LSL, LSL|R
           {{4.5, 3.25, -1.5}, 7.233382477194294, 6.604576469838968},      // LSR, LSR|L
           {{-1.5, 5.5, 0.0}, 8.297707289911383, 6.658340478112971},       // LSR, L|RSL|R
       }) {
    EXPECT_NEAR(dubins({}, each.b, 1.0).length(), each.dubins, 1e-14 * (1.0 + each.dubins))
        << each.b.x << ' ' << each.b.y << ' ' << each.b.yaw;
    EXPECT_NEAR(reeds_shepp({}, each.b, 1.0).length(), each.reeds_shepp,
                1e-14 * (1.0 + each.reeds_shepp))
        << each.b.x << ' ' << each.b.y << ' ' << each.b.yaw;
  }
}

// A straight line has one arc and a quarter turn has one, also from a rotated pose.
TEST(Curves, have_no_arcs_of_rounding) {
  for (const double yaw : {0.0, 0.3, -2.0, 3.0}) {
    const Pose a{12.3, -4.5, yaw};
    for (const Arc& arc : {Arc{0.0, 7.0}, Arc{0.25, 2.0}, Arc{-0.25, 6.0}}) {
      const End end = drive(a, {arc});
      const Pose b{static_cast<double>(end.x), static_cast<double>(end.y),
                   static_cast<double>(end.yaw)};
      for (const Shortest shortest : {&dubins, &reeds_shepp}) {
        const Curve curve = shortest(a, b, 4.0);
        EXPECT_NEAR(curve.length(), arc.length, 1e-13);
        double longest = 0.0;
        for (const Arc& each : arcs_of(curve)) longest = std::fmax(longest, each.length);
        EXPECT_NEAR(longest, arc.length, 1e-6);
      }
    }
  }
}

TEST(Curves, have_no_length_outside_the_domain) {
  const double nan = std::nan("");
  for (const Shortest shortest : {&dubins, &reeds_shepp}) {
    for (const Case& bad : std::vector<Case>{{{nan, 0.0, 0.0}, {}, 1.0},
                                             {{}, {0.0, HUGE_VAL, 0.0}, 1.0},
                                             {{}, {1e16, 0.0, 0.0}, 1.0},
                                             {{}, {1.0, 0.0, 2e6}, 1.0},
                                             {{}, {1.0, 0.0, 0.0}, 0.0},
                                             {{}, {1.0, 0.0, 0.0}, -1.0},
                                             {{}, {1.0, 0.0, 0.0}, nan},
                                             {{}, {1.0, 0.0, 0.0}, 1e-320}}) {
      EXPECT_TRUE(std::isnan(shortest(bad.a, bad.b, bad.radius).length()));
    }
  }
}

TEST(Curves, angles_are_within_two_ulp) {
  std::mt19937_64 random(18);
  std::uniform_real_distribution<double> unit(-1.0, 1.0);
  for (int i = 0; i < 200'000; ++i) {
    const Vec2 p{unit(random), unit(random) * std::pow(10.0, i % 20 - 10)};
    const long double truth =
        std::atan2(static_cast<long double>(p.y), static_cast<long double>(p.x));
    ASSERT_LE(std::fabs(detail::angle_of(p) - truth), 2.0 * kUlp * std::fabs(truth) + 1e-300)
        << std::hexfloat << p.x << ' ' << p.y;
  }
  EXPECT_EQ(detail::angle_of({}), 0.0);
  EXPECT_EQ(detail::angle_of({-1.0, 0.0}), kPi);
  EXPECT_TRUE(std::isnan(detail::angle_of({std::nan(""), 1.0})));
  EXPECT_TRUE(std::isnan(detail::angle_of({HUGE_VAL, 1.0})));
}

}  // namespace
}  // namespace gjk::curves_test
