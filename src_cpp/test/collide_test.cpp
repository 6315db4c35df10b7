// SPDX-FileCopyrightText: gjk_collision contributors
// SPDX-License-Identifier: Apache-2.0
// Level 1: never free without a certificate. gjk_verify compares verdicts with integers.
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "gjk/narrow/batch.hpp"
#include "gjk/narrow/gjk.hpp"
#include "gjk/query.hpp"
#include "pairs.hpp"

namespace gjk::collide_test {
namespace {

using namespace detail;

using test::Outline;

// One bad number anywhere, in any place of either shape.
TEST(Collide, nan_infinity_and_range_are_never_free) {
  for (const double bad : {kNaN, kInfinity, -kInfinity, 1.1e15, -1e300}) {
    for (int place = 0; place < 8; ++place) {
      Outline p{{0, 1, 1, 0}, {0, 0, 1, 1}};
      const Outline q{{50, 51, 51, 50}, {0, 0, 1, 1}};
      (place < 4 ? p.x[place] : p.y[place - 4]) = bad;
      for (const double radius : {0.0, 1.0}) {
        EXPECT_EQ(collide(p.convex(radius), q.convex()), Verdict::unknown) << bad << " " << place;
        EXPECT_EQ(collide(q.convex(), p.convex(radius)), Verdict::unknown) << bad << " " << place;
        EXPECT_EQ(classify(p.convex(radius), q.convex(), 0.5), Verdict::unknown);
        EXPECT_EQ(exact::collide(p.convex(radius), q.convex()), Verdict::unknown);
        if (!std::isfinite(bad)) {  // the loop itself holds no domain; NaN must not pass it
          EXPECT_NE(collide_by_gjk(p.convex(radius), q.convex(), 0.0), Verdict::free)
              << bad << " " << place;
        }
      }
    }
  }
}

TEST(Collide, bad_radius_margin_and_emptiness_are_never_free) {
  const Outline p{{0, 1, 1}, {0, 0, 1}};
  const Outline q{{50, 51, 51}, {0, 0, 1}};
  for (const double bad : {kNaN, kInfinity, -kInfinity, -1.0, 1e16}) {
    EXPECT_EQ(collide(p.convex(bad), q.convex()), Verdict::unknown) << bad;
    EXPECT_EQ(collide(p.convex(), q.convex(bad)), Verdict::unknown) << bad;
    EXPECT_EQ(collide(p.convex(), q.convex(), bad), Verdict::unknown) << bad;
    EXPECT_EQ(classify(p.convex(), q.convex(), bad), Verdict::unknown) << bad;
  }
  const Outline none;
  EXPECT_EQ(collide(none.convex(), q.convex()), Verdict::unknown);
  EXPECT_EQ(collide(q.convex(), none.convex()), Verdict::unknown);
  EXPECT_EQ(collide(Convex{}, Convex{}), Verdict::unknown);
}

TEST(Collide, many_pairs_with_a_bad_margin_are_never_free) {
  const Outline p{{0, 1, 1}, {0, 0, 1}};
  const Outline q{{50, 51, 51}, {0, 0, 1}};
  const Convex a = p.convex(), b = q.convex();
  const std::vector<ConvexPair> pairs(100, {&a, &b});
  for (const double margin : {-1.0, kNaN, kInfinity}) {
    std::vector<Verdict> verdicts(pairs.size(), Verdict::free);
    collide_pairs(pairs, margin, verdicts);
    for (const Verdict verdict : verdicts) EXPECT_EQ(verdict, Verdict::unknown);
  }
  collide_pairs({}, 0.0, {});
}

TEST(Collide, bad_poses_are_never_free) {
  const Outline p{{0, 1, 1}, {0, 0, 1}};
  const Outline q{{50, 51, 51}, {0, 0, 1}};
  for (const double bad : {kNaN, kInfinity, -kInfinity}) {
    for (const Pose& pose : {Pose{bad, 0, 0}, Pose{0, bad, 0}, Pose{0, 0, bad}}) {
      Room room;
      const Convex& placed = room.place(p.convex(), Transform::from_pose(pose));
      EXPECT_EQ(collide(placed, q.convex()), Verdict::unknown) << pose.x << pose.y << pose.yaw;
      EXPECT_EQ(collide(q.convex(), placed), Verdict::unknown) << pose.x << pose.y << pose.yaw;
      EXPECT_EQ(collide(placed, placed), Verdict::unknown) << pose.x << pose.y << pose.yaw;
    }
  }
}

// A shape whose support never comes to an end, and whose rounding hides every certificate.
struct Endless {
  int size = 1;
  double radius = 0.0;
  double extent = 1e18;
  double error = 0.0;
  mutable int asked = 0;

  Vec2 vertex(int i) const noexcept {
    const double nearer = std::pow(0.75, i);
    return {i % 2 == 0 ? nearer : -nearer, 1.0 + nearer};
  }
  int support(Vec2) const noexcept { return ++asked; }
};

TEST(CollideByGjk, running_out_of_iterations_is_never_free) {
  const Outline origin{{0}, {0}};
  const Endless endless;
  EXPECT_EQ(collide_by_gjk(endless, origin.convex(), 0.0), Verdict::unknown);
  EXPECT_LE(endless.asked, kMaxIterations);
}

}  // namespace
}  // namespace gjk::collide_test
