// SPDX-FileCopyrightText: gjk_collision contributors
// SPDX-License-Identifier: Apache-2.0
// Questions to a mirror: when the answer is not the one that the last snapshot gives.
#include "gjk/rules/mirror.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "gjk/rules/questions.hpp"
#include "messages.hpp"

namespace gjk::mirror_test {
namespace {

using messages::HeartbeatMessage;
using messages::kSecond;
using messages::SnapshotMessage;

constexpr std::int64_t kMs = 1'000'000;
constexpr Pose kFree{0, 0, 0};
constexpr Pose kHit{5, 0, 0};

// Times after the snapshot of the example.
Clocks after(std::int64_t ns) { return {101 * kSecond + ns, 7 * kSecond + ns}; }
Arrival at(std::int64_t ns) { return {after(ns), after(ns).steady}; }

SnapshotMessage message() {
  SnapshotMessage m = messages::message();
  m.senders[0].age_limit.timeout = 2.0;  // still
  return m;
}

Mirror mirror() {
  Mirror mirror;
  EXPECT_TRUE(mirror.receive_snapshot(Mirror::read(message()), at(0)));
  return mirror;
}

// The answer for a pose from `asked`, which is returned at a time.
Answer returned(Mirror& mirror, const Mirror::Asked& asked, const Pose& pose, std::int64_t ns) {
  const auto compute = [&] { return collide(asked.view(), {pose}); };
  return Mirror::answer(compute, [&] { return mirror.fault(asked, after(ns)); }).answer;
}

Mirror::Asked asked_of(Mirror& mirror, const std::vector<std::string>& footprints = {},
                       std::uint64_t required = 0, const std::string& frame = "odom",
                       std::int64_t at = 0) {
  return mirror.ask(footprints, at, required, &frame, after(0));
}

Answer ask(Mirror& mirror, const Pose& pose, const std::vector<std::string>& footprints = {},
           std::uint64_t required = 0, const std::string& frame = "odom", std::int64_t at = 0) {
  return returned(mirror, asked_of(mirror, footprints, required, frame, at), pose, 0);
}

TEST(Mirror, WithoutASnapshotAllIsUnknown) {
  Mirror mirror;
  const Mirror::Asked asked = asked_of(mirror);
  EXPECT_EQ(asked.view().id_of(0), -1);
  EXPECT_EQ(asked.view().source_of(0), "");
  // This is said before an error of the question.
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (const Pose& pose : {kFree, Pose{nan, 0, 0}}) {
    const Answer answer = returned(mirror, asked, pose, 0);
    EXPECT_EQ(answer.verdict, Verdict::unknown);
    EXPECT_EQ(answer.status, Status::undefined);
    EXPECT_EQ(answer.message, "no message received on ~/snapshot");
  }
}

TEST(Mirror, QuestionsThatAreRefused) {
  Mirror mirror = mirror_test::mirror();
  EXPECT_EQ(ask(mirror, kHit, {"nobody"}).status, Status::invalid_input);
  EXPECT_EQ(ask(mirror, kHit, {"", "nobody"}).status, Status::invalid_input);
  EXPECT_EQ(asked_of(mirror, {"nobody"}).issue().argument, "footprint");
  EXPECT_EQ(ask(mirror, kHit, {}, message().info.snapshot_id).verdict, Verdict::collision);
  EXPECT_EQ(ask(mirror, kHit, {}, 5).status, Status::snapshot_mismatch);
  EXPECT_EQ(ask(mirror, kHit, {}, 0, "map").status, Status::unknown_frame);
  EXPECT_EQ(ask(mirror, kHit, {}, 0, "map").verdict, Verdict::unknown);
}

TEST(Mirror, DataMustNotBeTooOldAtTheTimeOfTheQuestion) {
  Mirror mirror = mirror_test::mirror();
  const std::int64_t at = after(500 * kMs).now;
  EXPECT_EQ(ask(mirror, kFree, {}, 0, "odom", at).verdict, Verdict::free);
  EXPECT_EQ(ask(mirror, kFree, {}, 0, "odom", at + 1).status, Status::stale_obstacles);
}

TEST(Mirror, AMessageThatCannotBeUsedEndsTheLastSnapshot) {
  Mirror mirror = mirror_test::mirror();
  const Mirror::Asked asked = asked_of(mirror);
  SnapshotMessage bad = message();
  bad.senders[0].obstacles.xy.pop_back();
  const Mirror::Content content = Mirror::read(bad);
  EXPECT_TRUE(content.issue);
  EXPECT_FALSE(mirror.receive_snapshot(content, at(0)));
  EXPECT_EQ(ask(mirror, kFree).status, Status::internal_error);
  EXPECT_EQ(returned(mirror, asked, kFree, 0).status, Status::internal_error);
}

TEST(Mirror, AnEarlierMessageThatArrivesLateIsNotUsed) {
  Mirror mirror;
  SnapshotMessage next = message();
  next.sequence = 2;
  next.senders[0].obstacles.poses = {50, 0, 0};
  EXPECT_TRUE(mirror.receive_snapshot(Mirror::read(next), at(0)));
  EXPECT_FALSE(mirror.receive_snapshot(Mirror::read(message()), at(0)));
  EXPECT_EQ(ask(mirror, kHit).verdict, Verdict::free);
}

TEST(Mirror, AnAnswerIsJudgedWhenItIsReturned) {
  Mirror mirror = mirror_test::mirror();
  const Mirror::Asked asked = asked_of(mirror);
  HeartbeatMessage heartbeat;
  heartbeat.header.stamp = {101, 150 * kMs};
  heartbeat.counter = heartbeat.snapshot_sequence = 1;
  mirror.receive_heartbeat(heartbeat, at(150 * kMs));
  EXPECT_EQ(returned(mirror, asked, kFree, 350 * kMs).verdict, Verdict::free);
  EXPECT_EQ(returned(mirror, asked, kFree, 350 * kMs + 1).verdict, Verdict::unknown);
  EXPECT_EQ(returned(mirror, asked, kFree, 350 * kMs + 1).status, Status::undefined);
}

TEST(Mirror, AnAnswerKeepsItsSnapshot) {
  Mirror mirror = mirror_test::mirror();
  const Mirror::Asked asked = asked_of(mirror);
  EXPECT_EQ(asked.view().stamp, after(0).now);  // not that of the data
  SnapshotMessage next = message();
  next.sequence = 2;
  ++next.info.snapshot_id;
  next.senders[0].obstacles.poses = {50, 0, 0};
  EXPECT_TRUE(mirror.receive_snapshot(Mirror::read(next), at(0)));
  EXPECT_EQ(ask(mirror, kHit).verdict, Verdict::free);
  EXPECT_EQ(returned(mirror, asked, kHit, 20 * kMs).verdict, Verdict::collision);
  // Not if other parameters apply since.
  ++next.sequence;
  next.info.config_hash = 1;
  EXPECT_TRUE(mirror.receive_snapshot(Mirror::read(next), at(30 * kMs)));
  EXPECT_EQ(returned(mirror, asked, kHit, 40 * kMs).status, Status::snapshot_mismatch);
}

}  // namespace
}  // namespace gjk::mirror_test
