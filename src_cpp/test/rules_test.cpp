// SPDX-FileCopyrightText: gjk_collision contributors
// SPDX-License-Identifier: Apache-2.0
// The rules that turn results of the kernel into answers. If one of these tests fails, an answer of
// the server or of a mirror may be FREE although nothing is known.
#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <fstream>
#include <limits>
#include <regex>
#include <string>
#include <vector>

#include "gjk/rules/questions.hpp"

namespace gjk::rules_test {
namespace {

constexpr std::int64_t kSecond = 1'000'000'000;

Shape box(double half) {
  Shape shape;
  const std::array<Vec2, 4> ring{Vec2{half, half}, Vec2{-half, half}, Vec2{-half, -half},
                                 Vec2{half, -half}};
  shape.add_part(std::vector<Vec2>(ring.begin(), ring.end()), 0.0);
  return shape;
}

// A vehicle and an obstacle of 2 m x 2 m; the obstacle is at the origin and does not move.
struct World {
  Scene scene;
  Shape vehicle = box(1.0);

  World() {
    const Piece still = Piece::still({});
    scene.reserve(1);
    scene.add(box(1.0), {}, {&still, 1}, 0.0);
    scene.build();
  }
  Snapshot snapshot() const {
    Snapshot known;
    known.scene = &scene;
    known.footprint = &vehicle;
    known.stamp = known.epoch = 100 * kSecond;
    known.horizon = 5.0;
    known.max_poses = 1000;
    return known;
  }
};

// FREE, as a certificate concludes it.
Verdict certified_free(const World& world) {
  return collide(world.snapshot(), {{50.0, 0.0, 0.0}}).answer.verdict;
}

const Fault kStale{Status::stale_obstacles, "obstacles: stale"};

// A result at one pose.
PoseResult result_of(Verdict verdict, Status status) {
  PoseResult r;
  r.verdict = verdict;
  r.status = status;
  r.distance = r.lower_bound = 1.0;
  r.nearest = 0;
  return r;
}

// If the kernel gives up on a pose, it is UNKNOWN, and a certain collision beside it is worse.
TEST(Rules, WhatTheKernelGivesUpOnIsUnknown) {
  const World world;
  const Snapshot known = world.snapshot();
  const Verdict free = certified_free(world);
  for (const Status status : {Status::numeric_failure, Status::iteration_limit}) {
    for (const Mode mode : {Mode::collide, Mode::distance, Mode::witness}) {
      for (const bool is_hit : {false, true}) {
        detail::PosesJoin join({&known, 1}, {}, 4, mode);
        for (const std::size_t i : {0, 1, 3}) join.put(i, result_of(free, Status::success));
        join.put(2, result_of(Verdict::unknown, status));
        if (is_hit) join.put(3, result_of(Verdict::collision, Status::success));
        const PosesAnswer found = join.join(4, false, {});
        EXPECT_EQ(found.answer.verdict, is_hit ? Verdict::collision : Verdict::unknown);
        EXPECT_EQ(found.answer.status, is_hit ? Status::success : status);
        EXPECT_EQ(found.first_invalid, 2);
        EXPECT_EQ(found.statuses[2], status);
        EXPECT_EQ(found.verdicts[1], free);
        if (mode != Mode::collide) {
          EXPECT_TRUE(std::isnan(found.lower_bounds[2]));
        }
      }
    }
    EXPECT_EQ(detail::answer_at(known, result_of(Verdict::unknown, status)).status, status);
    const std::vector<Verdict> verdicts{free, Verdict::unknown};
    const std::vector<Status> statuses{Status::success, status};
    EXPECT_EQ(detail::worst_of(verdicts, statuses, {true, true}).verdict, Verdict::unknown);
    EXPECT_EQ(detail::worst_of(verdicts, statuses, {true, true}).status, status);
  }
}

TEST(Rules, WithoutAFootprintNothingIsKnown) {
  const std::array<double, 3> flat{50.0, 0.0, 0.0};
  Snapshot known;
  known.max_poses = 9;
  for (int i = 0; i < 2; ++i) {
    const Status status = i == 0 ? Status::no_footprint : kStale.status;
    if (i == 1) known.fault = kStale;
    EXPECT_EQ(collide(known, {}).answer.status, status);
    EXPECT_EQ(distance(known, {}).answer.status, status);
    EXPECT_EQ(check_poses(known, {.poses = flat}).answer.status, status);
    EXPECT_EQ(check_path(known, {.poses = flat}).answer.status, status);
    EXPECT_EQ(check_poses(known, {.poses = flat}).answer.verdict, Verdict::unknown);
  }
}

TEST(Rules, PastTheTimeLimitTheRestIsUnknown) {
  const World world;
  std::vector<double> flat;
  for (int i = 0; i < 1000; ++i) flat.insert(flat.end(), {50.0 + i, 0.0, 0.0});
  const Budget over = Budget::until(std::chrono::steady_clock::now() - std::chrono::seconds(1));
  const PosesAnswer found = check_poses(world.snapshot(), {.poses = flat}, over);
  EXPECT_EQ(found.answer.verdict, Verdict::unknown);
  EXPECT_EQ(found.answer.status, Status::time_budget);
  EXPECT_EQ(found.answer.message, "time_budget used up after 128 of 1000 items");
  EXPECT_EQ(found.first_invalid, 128);
  const PathAnswer path = check_path(world.snapshot(), {.poses = flat}, over);
  EXPECT_EQ(path.answer.status, Status::time_budget);
  EXPECT_EQ(path.first_invalid_segment, 4);
  const Budget later = Budget::until(std::chrono::steady_clock::now() + std::chrono::hours(1));
  EXPECT_EQ(check_poses(world.snapshot(), {.poses = flat}, later).answer.verdict, Verdict::free);
}

TEST(Rules, RequestsOutOfRangeAreRefused) {
  const World world;
  const Snapshot known = world.snapshot();
  const auto refused = [](const Issue& issue, const Answer& answer, Status status,
                          const std::string& text) {
    EXPECT_EQ(issue.status, status);
    EXPECT_EQ(answer.verdict, Verdict::unknown);
    EXPECT_EQ(answer.status, status);
    EXPECT_EQ(answer.message, text);
  };
  const CollideAnswer one = collide(known, {.pose = {kNaN, 0.0, 1.0}});
  refused(one.issue, one.answer, Status::non_finite, "pose: must be finite (got (nan, 0, 1))");
  const CollideAnswer two = collide(known, {.pose = {}, .margin = -1e-7});
  refused(two.issue, two.answer, Status::invalid_input,
          "margin: must not be negative (got -1e-07)");
  const std::array<double, 6> flat{0.0, 0.0, 0.0, 0.0, 2e15, 0.0};
  const PosesAnswer far = check_poses(known, {.poses = flat});
  refused(far.issue, far.answer, Status::coord_range,
          "poses[3]: magnitude of x and y must not exceed 1e15 m "
          "(got (0, 2e+15, 0))");
  EXPECT_TRUE(far.verdicts.empty());
  const std::array<double, 2> times{1.0, 1.0};
  const PathAnswer path = check_path(known, {.poses = flat, .times = times});
  refused(path.issue, path.answer, Status::invalid_input,
          "times[1]: must increase strictly (got 1)");
  const std::array<double, 3> origin{};
  const std::array<double, 4> odd{};
  const std::array<double, 1> one_time{0.0};
  Snapshot small = known;
  small.max_poses = 1;
  const std::array<double, 3> turned{0.0, 0.0, -2e6};
  const std::array<double, 3> infinite{0.0, 0.0, kInfinity};
  const std::array<double, 1> late{2e10};
  // Both questions check the same arguments.
  const auto both = [&](const Snapshot& s, const PosesRequest& r, Status status,
                        const std::string& text) {
    const PosesAnswer poses = check_poses(s, r);
    refused(poses.issue, poses.answer, status, text);
    const PathAnswer way =
        check_path(s, {.poses = r.poses, .times = r.times, .errors = r.errors, .margin = r.margin});
    refused(way.issue, way.answer, status, text);
  };
  both(small, {.poses = flat}, Status::limit_exceeded, "poses: 2 poses, limit 1");
  both(known, {.poses = odd}, Status::array_mismatch,
       "poses: must have 3 values per pose, x y yaw (got 4 values)");
  both(known, {.poses = flat, .times = one_time}, Status::array_mismatch,
       "times: must be empty or have 2 values, one per pose (got 1)");
  both(known, {.poses = infinite}, Status::non_finite, "poses[2]: must be finite (got inf)");
  both(known, {.poses = turned}, Status::coord_range,
       "poses[0]: magnitude of yaw must not exceed 1e6 rad (got (0, 0, -2e+06))");
  both(known, {.poses = origin, .times = late}, Status::coord_range,
       "times[0]: magnitude must not exceed 1e10 s (got 2e+10)");
  both(known, {.poses = flat, .errors = one_time}, Status::array_mismatch,
       "errors: must be empty or have one value per pose");
  both(known, {.poses = origin, .margin = kInfinity}, Status::non_finite,
       "margin: must be finite (got inf)");
  const PosesAnswer mode = check_poses(known, {.poses = origin, .mode = 4});
  refused(mode.issue, mode.answer, Status::invalid_input,
          "mode: must be 0 (collide), 1 (distance), 2 (witness) or 3 (gradient) (got 4)");
  for (const double tolerance : {2.0, 1e-7}) {
    const PathAnswer rough = check_path(known, {.poses = origin, .tolerance = tolerance});
    refused(rough.issue, rough.answer, Status::invalid_input,
            "tolerance: must be 1e-06 to 1 m (got " + text_of(tolerance) + "), or be 0");
  }
  const DistanceAnswer reach = distance(known, {.pose = {}, .max_distance = -1.0});
  refused(reach.issue, reach.answer, Status::invalid_input,
          "max_distance: must not be negative (got -1)");
  const PathAnswer none = check_path(known, {});
  refused(none.issue, none.answer, Status::empty_request, "poses: must have at least one pose");
}

TEST(Rules, TheMarginIsRoundedUp) {
  const World world;
  Snapshot known = world.snapshot();
  known.safety_margin = 1.0;
  // The sum is not a double. Rounded to nearest, it would be 1, and the gap of 1 more than that.
  const double tiny = 0x1p-60;
  const double gap = std::nextafter(1.0, 2.0);
  EXPECT_EQ(collide(known, {.pose = {2.0 + gap, 0.0, 0.0}, .margin = tiny}).answer.verdict,
            collide(known, {.pose = {3.0, 0.0, 0.0}, .margin = tiny}).answer.verdict);
  EXPECT_EQ(collide(known, {.pose = {3.0, 0.0, 0.0}, .margin = tiny}).answer.verdict,
            Verdict::margin);
}

TEST(Texts, NumbersCanBeReadAgain) {
  EXPECT_EQ(text_of(3.0), "3");
  EXPECT_EQ(text_of(0.1), "0.1");
  EXPECT_EQ(text_of(1e-5), "1e-05");
  EXPECT_EQ(text_of(123456789012345680.0), "123456789012345680");
  EXPECT_EQ(text_of(-kInfinity), "-inf");
  EXPECT_EQ(text_of(-kNaN), "nan");
}

// The vehicle is larger by the error of the pose: of its own pose, not of another one.
TEST(Rules, EachPoseHasItsOwnError) {
  const World world;  // gaps of 1 m
  const std::array<double, 9> flat{3, 0, 0, 3, 0, 0, 3, 0, 0};
  const std::array<double, 3> errors{0.0, 1.5, 0.5};
  const PosesAnswer found = check_poses(world.snapshot(), {.poses = flat, .errors = errors});
  EXPECT_EQ(found.verdicts, (std::vector{Verdict::free, Verdict::collision, Verdict::free}));
  const PathAnswer path = check_path(world.snapshot(), {.poses = flat, .errors = errors});
  EXPECT_EQ(path.answer.verdict, Verdict::collision);
}

TEST(Rules, AnErrorThatIsNoBoundIsNotIgnored) {
  const World world;
  const Snapshot known = world.snapshot();
  const std::array<double, 6> flat{50, 0, 0, 50, 0, 0};
  for (const double wrong : {kNaN, -1e-9, kInfinity}) {
    const std::array<double, 2> errors{0.5, wrong};
    const PosesAnswer poses = check_poses(known, {.poses = flat, .errors = errors});
    const PathAnswer path = check_path(known, {.poses = flat, .errors = errors});
    const CollideAnswer one = collide(known, {.pose = {50, 0, 0}, .pose_error = wrong});
    const DistanceAnswer near = distance(known, {.pose = {50, 0, 0}, .pose_error = wrong});
    for (const Issue& issue : {poses.issue, path.issue, one.issue, near.issue}) {
      EXPECT_EQ(issue.status, wrong < 0.0 ? Status::invalid_input : Status::non_finite) << wrong;
    }
    for (const Answer& answer : {poses.answer, path.answer, one.answer, near.answer}) {
      EXPECT_EQ(answer.verdict, Verdict::unknown) << wrong;
    }
    if (std::isfinite(wrong)) {
      EXPECT_EQ(path.answer.message, "errors[1]: must not be negative or NaN (got -1e-09)");
    }
  }
}

// The times of a request are relative to a stamp, which may be before the time zero of the scene.
TEST(Rules, TimesAreMovedToTheClockOfTheScene) {
  Snapshot known;
  known.epoch = 100 * kSecond;
  known.stamp = 100 * kSecond - 1'250'000'000;
  const std::array<double, 2> times{0.0, 2.0};
  EXPECT_EQ(detail::on_clock(known, times, 0), (std::vector<double>{-1.25, 0.75}));
  EXPECT_EQ(detail::on_clock(known, times, 103 * kSecond + 500'000'000),
            (std::vector<double>{3.5, 5.5}));
}

// In the first part, what comes after 2.5 s is not known; a later part collides at 7 s.
TEST(Rules, AContactMayBeAsEarlyAsTheFirstUnknown) {
  const std::array<double, 5> times{0.0, 2.0, 4.0, 6.0, 8.0};
  std::array<detail::PathPart, 2> parts{detail::PathPart{0, {}}, detail::PathPart{2, {}}};
  parts[0].result = detail::unknown_path(Status::iteration_limit);
  parts[0].result.first_invalid_segment = 1;
  parts[0].result.last_valid_fraction = 0.25;
  parts[1].result.verdict = Verdict::collision;
  parts[1].result.status = Status::success;
  parts[1].result.first_invalid_segment = 1;
  parts[1].result.first_collision_time = 7.0;
  parts[1].result.obstacle = 0;
  const PathAnswer path = detail::join({}, parts, 4, 4, times, 0.0);
  EXPECT_EQ(path.answer.verdict, Verdict::collision);
  EXPECT_EQ(path.first_collision_time, 2.5);
  EXPECT_EQ(path.first_invalid_segment, 1);
  EXPECT_EQ(path.last_valid_fraction, 0.25);
  // Beside a fault, nothing is free.
  Snapshot stale;
  stale.fault = kStale;
  parts[1] = parts[0];
  EXPECT_EQ(detail::join(stale, parts, 4, 4, times, 0.0).answer.status, kStale.status);
  parts[0].result.verdict = parts[1].result.verdict = Verdict::free;
  EXPECT_EQ(detail::join(stale, parts, 4, 4, times, 0.0).answer.verdict, Verdict::unknown);
  EXPECT_EQ(detail::join(stale, parts, 4, 4, times, 0.0).last_valid_fraction, 0.0);
}

// msg/Verdict.msg defines the statuses and their names.
TEST(SnapshotText, StatusesAreNamedAsInTheMessage) {
  const std::string file = __FILE__;
  std::ifstream definition(file.substr(0, file.rfind("src_cpp")) + "msg/Verdict.msg");
  const std::regex constant("uint16 ([A-Z_]+)=([0-9]+).*");
  std::smatch found;
  int count = 0;
  for (std::string line; std::getline(definition, line);) {
    if (!std::regex_match(line, found, constant)) continue;
    ++count;
    std::string name = found[1];
    for (char& c : name) c = c == '_' ? ' ' : static_cast<char>(c - 'A' + 'a');
    if (name == "success") name.clear();  // an answer without a reason
    EXPECT_EQ(reason(static_cast<Status>(std::stoi(found[2]))), name);
  }
  EXPECT_EQ(count, 28);
  EXPECT_STREQ(reason(static_cast<Status>(39)), "unknown status");
}

}  // namespace
}  // namespace gjk::rules_test
