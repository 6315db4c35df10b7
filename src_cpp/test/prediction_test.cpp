// SPDX-FileCopyrightText: gjk_collision contributors
// SPDX-License-Identifier: Apache-2.0
// Predicted motions: where an obstacle is at a time, and when that is unknown.
#include "gjk/motion/prediction.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

namespace gjk::prediction_test {
namespace {

constexpr Velocity kNone{kNaN, 0.0, 0.0};
constexpr Pose kHere{10.0, 20.0, 0.5};

constexpr PredictionPolicy kPolicies[] = {PredictionPolicy::unknown_is_error,
                                          PredictionPolicy::constant_velocity,
                                          PredictionPolicy::hold};

struct Reported {
  Velocity velocity = kNone;
  std::vector<double> times;
  std::vector<Pose> poses;

  std::vector<Piece> predicted(PredictionPolicy policy, double horizon = 5.0) const {
    // Pieces of other obstacles come first in the same vector, and stay as they are.
    std::vector<Piece> pieces{Piece::still({-1, -2, -3}), Piece::still({-4, -5, -6})};
    pieces.back().begin = 100.0;
    append_prediction({kHere, velocity, times, poses}, {policy, horizon}, pieces);
    EXPECT_EQ(pieces[0].from.x, -1.0);
    EXPECT_EQ(pieces[0].end, kInfinity);
    EXPECT_EQ(pieces[1].from.x, -4.0);
    EXPECT_EQ(pieces[1].end, kInfinity);
    return {pieces.begin() + 2, pieces.end()};
  }
};

// The x coordinate at a time; NaN if it is unknown. y and yaw move by as much as x in all cases.
double x_at(const std::vector<Piece>& pieces, double time) {
  std::size_t hint = 0;
  const Piece* piece = piece_at(pieces, time, hint);
  if (piece == nullptr) return kNaN;
  const Pose pose = piece->at(time, 0.0).pose;
  EXPECT_NEAR(pose.y - kHere.y, pose.x - kHere.x, 1e-12);
  EXPECT_NEAR(pose.yaw - kHere.yaw, 0.25 * (pose.x - kHere.x), 1e-12);
  return pose.x;
}

// Each piece begins where the previous one ends, and none is empty but a single one.
void expect_joined(const std::vector<Piece>& pieces) {
  ASSERT_FALSE(pieces.empty());
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    EXPECT_LE(pieces[i].begin, pieces[i].end);
    if (i > 0) {
      EXPECT_EQ(pieces[i - 1].end, pieces[i].begin);
    }
  }
}

void expect_x(const std::vector<Piece>& pieces,
              std::initializer_list<std::pair<double, double>> xs) {
  expect_joined(pieces);
  for (const auto& [time, x] : xs) {
    const double found = x_at(pieces, time);
    if (std::isnan(x)) {
      EXPECT_TRUE(std::isnan(found)) << "at " << time << " it is at " << found;
    } else {
      EXPECT_NEAR(found, x, 1e-12) << "at " << time;
    }
  }
}

Pose moved(double by) { return {kHere.x + by, kHere.y + by, kHere.yaw + 0.25 * by}; }

TEST(Prediction, of_a_velocity_lasts_up_to_the_horizon) {
  for (const PredictionPolicy policy : kPolicies) {
    expect_x(Reported{{2.0, 2.0, 0.5}, {}, {}}.predicted(policy),
             {{-0.001, kNaN}, {0.0, 10.0}, {1.0, 12.0}, {5.0, 20.0}, {5.001, kNaN}});
  }
  // One component is enough.
  for (const Velocity& v : {Velocity{1, 0, 0}, Velocity{0, 1, 0}, Velocity{0, 0, 1}}) {
    const std::vector<Piece> pieces =
        Reported{v, {}, {}}.predicted(PredictionPolicy::constant_velocity);
    ASSERT_EQ(pieces.size(), 1U);
    EXPECT_EQ(pieces[0].change.x, v.x);
    EXPECT_EQ(pieces[0].change.y, v.y);
    EXPECT_EQ(pieces[0].change.yaw, v.yaw);
    EXPECT_EQ(pieces[0].end, 5.0);
    EXPECT_EQ(pieces[0].begin, 0.0);
  }
}

TEST(Prediction, of_a_velocity_of_zero_stands_still_forever) {
  for (const PredictionPolicy policy : kPolicies) {
    expect_x(Reported{{0, 0, 0}, {}, {}}.predicted(policy),
             {{-1e9, 10.0}, {0.0, 10.0}, {1e9, 10.0}});
  }
}

TEST(Prediction, of_no_velocity_is_known_at_the_stamp_only) {
  for (const Velocity& none :
       {kNone, Velocity{0, kNaN, 0}, Velocity{0, 0, kNaN}, Velocity{1, kInfinity, 1},
        Velocity{kInfinity, 0, 0}, Velocity{1, 1, -kInfinity}}) {
    for (const PredictionPolicy policy :
         {PredictionPolicy::unknown_is_error, PredictionPolicy::constant_velocity}) {
      expect_x(Reported{none, {}, {}}.predicted(policy),
               {{-0.001, kNaN}, {0.0, 10.0}, {0.001, kNaN}, {5.0, kNaN}});
    }
    expect_x(Reported{none, {}, {}}.predicted(PredictionPolicy::hold),
             {{-1e9, 10.0}, {0.0, 10.0}, {1e9, 10.0}});
  }
}

TEST(Prediction, after_a_path_follows_the_policy) {
  // From the pose at the stamp to the first of the path, then on. A velocity does not count.
  for (const Velocity& velocity : {kNone, Velocity{9, 9, 9}, Velocity{0, 0, 0}}) {
    const Reported path{velocity, {1.0, 3.0}, {moved(1), moved(5)}};
    expect_x(path.predicted(PredictionPolicy::unknown_is_error), {{-0.001, kNaN},
                                                                  {0.0, 10.0},
                                                                  {0.5, 10.5},
                                                                  {1.0, 11.0},
                                                                  {2.0, 13.0},
                                                                  {3.0, 15.0},
                                                                  {3.001, kNaN},
                                                                  {5.0, kNaN}});
    expect_x(path.predicted(PredictionPolicy::constant_velocity), {{-0.001, kNaN},
                                                                   {0.5, 10.5},
                                                                   {2.0, 13.0},
                                                                   {3.0, 15.0},
                                                                   {4.0, 17.0},
                                                                   {5.0, 19.0},
                                                                   {5.001, kNaN}});
    expect_x(path.predicted(PredictionPolicy::hold), {{-0.001, kNaN},
                                                      {0.5, 10.5},
                                                      {2.0, 13.0},
                                                      {3.0, 15.0},
                                                      {4.0, 15.0},
                                                      {5.0, 15.0},
                                                      {5.001, kNaN}});
  }
}

TEST(Prediction, of_a_path_that_begins_at_the_stamp_begins_with_its_pose) {
  const Reported path{kNone, {0.0, 2.0}, {moved(3), moved(7)}};
  for (const PredictionPolicy policy : kPolicies) {
    expect_x(path.predicted(policy), {{-0.001, kNaN}, {0.0, 13.0}, {1.0, 15.0}, {2.0, 17.0}});
  }
}

TEST(Prediction, is_cut_at_the_horizon) {
  const Reported path{kNone, {1.0, 3.0, 4.0}, {moved(1), moved(5), moved(0)}};
  for (const PredictionPolicy policy : kPolicies) {
    expect_x(path.predicted(policy, 2.0),
             {{0.0, 10.0}, {1.0, 11.0}, {2.0, 13.0}, {2.001, kNaN}, {3.0, kNaN}});
    EXPECT_EQ(path.predicted(policy, 2.0).size(), 2U);
    // A piece that begins at the horizon is left out: it would add a jump at its begin.
    EXPECT_EQ(path.predicted(policy, 3.0).size(), 2U);
    expect_x(path.predicted(policy, 3.0), {{3.0, 15.0}, {3.001, kNaN}});
    expect_x(path.predicted(policy, 0.5), {{0.0, 10.0}, {0.5, 10.5}, {0.501, kNaN}});
    expect_x(path.predicted(policy, 0.0), {{0.0, 10.0}, {0.001, kNaN}});
    EXPECT_EQ(path.predicted(policy, 0.0).size(), 1U);
  }
}

TEST(Prediction, of_one_pose_at_the_stamp) {
  const Reported still{kNone, {0.0}, {moved(3)}};
  expect_x(still.predicted(PredictionPolicy::unknown_is_error),
           {{-0.001, kNaN}, {0.0, 13.0}, {0.001, kNaN}});
  expect_x(still.predicted(PredictionPolicy::constant_velocity),
           {{-0.001, kNaN}, {0.0, 13.0}, {0.001, kNaN}});
  expect_x(still.predicted(PredictionPolicy::hold),
           {{-0.001, kNaN}, {0.0, 13.0}, {1.0, 13.0}, {5.0, 13.0}, {5.001, kNaN}});
  // As if only the velocity were reported, at the pose of the path.
  const Reported moving{{2.0, 2.0, 0.5}, {0.0}, {moved(3)}};
  expect_x(moving.predicted(PredictionPolicy::constant_velocity),
           {{-0.001, kNaN}, {0.0, 13.0}, {1.0, 15.0}, {5.0, 23.0}, {5.001, kNaN}});
  expect_x(moving.predicted(PredictionPolicy::unknown_is_error),
           {{-0.001, kNaN}, {0.0, 13.0}, {0.001, kNaN}});
}

TEST(Prediction, of_one_pose_after_the_stamp_is_the_way_to_it) {
  const Reported path{{9, 9, 9}, {2.0}, {moved(4)}};
  expect_x(path.predicted(PredictionPolicy::unknown_is_error),
           {{0.0, 10.0}, {1.0, 12.0}, {2.0, 14.0}, {2.001, kNaN}});
  expect_x(path.predicted(PredictionPolicy::constant_velocity),
           {{1.0, 12.0}, {2.0, 14.0}, {4.0, 18.0}, {5.001, kNaN}});
  expect_x(path.predicted(PredictionPolicy::hold),
           {{1.0, 12.0}, {2.0, 14.0}, {4.0, 14.0}, {5.001, kNaN}});
}

TEST(Prediction, by_default_assumes_nothing_and_lasts_for_five_seconds) {
  ReportedMotion reported;
  EXPECT_TRUE(std::isnan(reported.velocity.x));
  std::vector<Piece> pieces;
  append_prediction(reported, {}, pieces);
  ASSERT_EQ(pieces.size(), 1U);
  EXPECT_EQ(pieces[0].begin, 0.0);
  EXPECT_EQ(pieces[0].end, 0.0);
  reported.velocity = {1.0, 0.0, 0.0};
  append_prediction(reported, {}, pieces);
  EXPECT_EQ(pieces.back().begin, 0.0);
  EXPECT_EQ(pieces.back().end, 5.0);
}

}  // namespace
}  // namespace gjk::prediction_test
