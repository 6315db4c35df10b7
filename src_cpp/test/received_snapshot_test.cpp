// SPDX-FileCopyrightText: gjk_collision contributors
// SPDX-License-Identifier: Apache-2.0
// Data from a message as on ~/snapshot: what can be asked, and which messages are refused.
#include "gjk/rules/received_snapshot.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "gjk/rules/pauses.hpp"
#include "gjk/rules/questions.hpp"
#include "messages.hpp"

namespace gjk::received_snapshot_test {
namespace {

using messages::kSecond;
using messages::message;
using messages::ObstaclesMessage;
using messages::SnapshotMessage;

ReceivedSnapshot::Chosen default_of(const ReceivedSnapshot& data) {
  ReceivedSnapshot::Chosen chosen;
  EXPECT_FALSE(data.choose("", chosen));
  return chosen;
}

struct Found {
  Verdict verdict;
  Status status;
};
Found ask(const SnapshotMessage& m, const Pose& pose, const std::string& footprint = "",
          const std::optional<Fault>& fault = {}) {
  Issue issue;
  const auto data = ReceivedSnapshot::read(m, issue);
  EXPECT_FALSE(issue) << text_of(issue);
  ReceivedSnapshot::Chosen chosen;
  EXPECT_FALSE(data->choose(footprint, chosen));
  const Snapshot view = data->view(chosen, 101 * kSecond, 101 * kSecond, fault);
  const CollideAnswer found = collide(view, {pose});
  return {found.answer.verdict, found.answer.status};
}

// A region, [-9, 9] x [-9, 9], whose radii are 0.25 m.
void add_fence(SnapshotMessage& m, double inflation) {
  m.region_source = "fence";
  m.region_boundary = {-9, -9, 9, -9, 9, -9, 9, 9, 9, 9, -9, 9, -9, 9, -9, -9};
  m.region_radii = {0.25, 0.25, 0.25, 0.25};
  m.region_inflation = inflation;
}

TEST(ReceivedSnapshot, FootprintsAreChosenByName) {
  const SnapshotMessage m = message();
  EXPECT_EQ(ask(m, {2.5, 0, 0}).verdict, Verdict::free);
  EXPECT_EQ(ask(m, {2.5, 0, 0}, "default").verdict, Verdict::free);
  EXPECT_EQ(ask(m, {2.5, 0, 0}, "wide").verdict, Verdict::collision);
  Issue issue;
  const auto data = ReceivedSnapshot::read(m, issue);
  ReceivedSnapshot::Chosen chosen;
  const Issue unknown = data->choose("narrow", chosen);
  EXPECT_EQ(unknown.status, Status::invalid_input);
  EXPECT_EQ(unknown.rule, "must be empty or one of default, wide (got 'narrow')");
  EXPECT_FALSE(data->choose("wide", chosen));
  EXPECT_TRUE(chosen.is_named);
  EXPECT_FALSE(default_of(*data).is_named);
}

TEST(ReceivedSnapshot, OnlyCollisionIsSaidOfIncompleteData) {
  SnapshotMessage m = message();
  m.verdict.status = static_cast<std::uint16_t>(Status::stale_obstacles);
  m.data_verdict = m.verdict;
  EXPECT_EQ(ask(m, {0, 0, 0}).verdict, Verdict::unknown);
  EXPECT_EQ(ask(m, {0, 0, 0}).status, Status::stale_obstacles);
  EXPECT_EQ(ask(m, {5, 0, 0}).verdict, Verdict::collision);
  // Data that is no longer valid gives no answer.
  const Fault fault{Status::snapshot_mismatch, "of a test"};
  EXPECT_EQ(ask(message(), {5, 0, 0}, "", fault).verdict, Verdict::unknown);
  EXPECT_EQ(ask(message(), {0, 0, 0}, "", fault).status, Status::snapshot_mismatch);
}

TEST(ReceivedSnapshot, WithoutAFootprintAllIsUnknown) {
  SnapshotMessage m = message();
  m.info.footprint.clear();
  m.footprints.clear();
  for (const Status status : {Status::no_footprint, Status::success}) {
    m.verdict.status = static_cast<std::uint16_t>(status);
    EXPECT_EQ(ask(m, {0, 0, 0}).verdict, Verdict::unknown);
    EXPECT_NE(ask(m, {0, 0, 0}).status, Status::success);
  }
}

TEST(ReceivedSnapshot, BrokenMessagesAreRefusedWithTheField) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const double inf = std::numeric_limits<double>::infinity();
  using Break = std::function<void(SnapshotMessage&)>;
  const std::vector<std::pair<std::string, Break>> breaks = {
      {"senders[0].obstacles.offsets", [](auto& m) { m.senders[0].obstacles.offsets = {0, 5}; }},
      {"senders[0].obstacles.ids", [](auto& m) { m.senders[0].obstacles.offsets = {}; }},
      {"senders[1].obstacles.header.stamp", [](auto& m) { m.senders[1].age_limit.stamp = {9, 0}; }},
      {"senders[0].obstacles.ids", [](auto& m) { m.senders[0].obstacles.offsets = {0, 4, 4}; }},
      {"senders[1].obstacles.offsets",
       [](auto& m) { m.senders[1].obstacles.offsets = {0, 10, 9}; }},
      {"senders[1].obstacles.offsets", [](auto& m) { m.senders[1].obstacles.offsets = {0, 0, 9}; }},
      {"senders[0].obstacles.xy", [](auto& m) { m.senders[0].obstacles.xy.pop_back(); }},
      {"senders[0].obstacles.xy", [&](auto& m) { m.senders[0].obstacles.xy[3] = nan; }},
      {"senders[0].obstacles.poses", [](auto& m) { m.senders[0].obstacles.poses.pop_back(); }},
      {"senders[0].obstacles.poses", [&](auto& m) { m.senders[0].obstacles.poses[2] = inf; }},
      {"senders[1].obstacles.kinds", [](auto& m) { m.senders[1].obstacles.kinds = {0}; }},
      {"senders[1].obstacles.kinds", [](auto& m) { m.senders[1].obstacles.kinds = {0, 2}; }},
      {"senders[1].obstacles.radius", [](auto& m) { m.senders[1].obstacles.radius = {1}; }},
      {"senders[1].obstacles.radius", [](auto& m) { m.senders[1].obstacles.radius[1] = -1; }},
      {"senders[1].obstacles.margins", [](auto& m) { m.senders[1].obstacles.margins = {0}; }},
      {"senders[1].obstacles.margin_rates",
       [&](auto& m) { m.senders[1].obstacles.margin_rates = {0, nan}; }},
      {"senders[1].obstacles.velocities", [](auto& m) { m.senders[1].obstacles.velocities = {0}; }},
      {"senders[1].obstacles.velocities",
       [&](auto& m) { m.senders[1].obstacles.velocities[1] = inf; }},
      {"senders[0].obstacles.path_offsets",
       [](auto& m) { m.senders[0].obstacles.path_offsets = {0, 1}; }},
      {"senders[0].obstacles.path_offsets",
       [](auto& m) {
         m.senders[0].obstacles.path_times = {1};
         m.senders[0].obstacles.path_poses = {1, 1, 1};
       }},
      {"senders[0].obstacles.path_offsets",
       [](auto& m) { m.senders[0].obstacles.path_times = {1}; }},
      {"senders[0].obstacles.path_times",
       [](auto& m) {
         m.senders[0].obstacles.path_offsets = {0, 2};
         m.senders[0].obstacles.path_times = {1, 1};
         m.senders[0].obstacles.path_poses = {0, 0, 0, 1, 1, 1};
       }},
      {"timeout", [&](auto& m) { m.senders[0].age_limit.timeout = nan; }},
      {"receipt_age", [&](auto& m) { m.senders[1].age_limit.receipt_age = -1.0; }},
      {"timeout", [&](auto& m) { m.footprint_limits = {{"footprint", {}, inf, 0.0}}; }},
      {"footprint default", [](auto& m) { m.footprints[0].offsets = {0, 3}; }},
      {"footprint default", [&](auto& m) { m.footprints[0].xy[0] = nan; }},
      {"footprint wide", [](auto& m) { m.footprints[1] = {"wide", {0}, {}, {}}; }},
      {"info.footprint", [](auto& m) { m.info.footprint = "narrow"; }},
      {"region_boundary", [](auto& m) { m.region_source = "fence"; }},
      {"region_inflation", [&](auto& m) { add_fence(m, nan); }},
      {"region_inflation", [&](auto& m) { add_fence(m, -0.1); }},
      {"region_radii", [&](auto& m) { add_fence(m, std::nextafter(0.25, 1.0)); }},
      {"senders[0].prediction_policy", [](auto& m) { m.senders[0].prediction_policy = "guess"; }},
      {"concave_policy", [](auto& m) { m.concave_policy = "guess"; }},
      {"heartbeat_limit", [&](auto& m) { m.heartbeat_limit = nan; }},
      {"safety_margin", [](auto& m) { m.safety_margin = -0.1; }},
  };
  for (std::size_t i = 0; i < breaks.size(); ++i) {
    SnapshotMessage m = message();
    breaks[i].second(m);
    Issue issue;
    EXPECT_EQ(ReceivedSnapshot::read(m, issue), nullptr) << "case " << i;
    EXPECT_NE(issue.argument.find(breaks[i].first), std::string::npos)
        << "case " << i << ": " << text_of(issue);
    EXPECT_FALSE(ReceivedSnapshot::no_facts(issue).fault.message.empty());
    EXPECT_EQ(ReceivedSnapshot::no_facts(issue).id, 0U);
  }
}

TEST(ReceivedSnapshot, LimitsAreThoseOfTheMessage) {
  SnapshotMessage m = message();
  m.senders[0].age_limit.timeout = 0.0;  // no limit
  m.footprint_limits = {{"twist_topic", {99, 5}, 0.25, 0.125}};
  const SnapshotFacts facts = ReceivedSnapshot::facts_of(m);
  ASSERT_EQ(facts.limits.size(), 2U);
  EXPECT_EQ(facts.limits[0].stale, Status::stale_footprint);
  EXPECT_EQ(facts.limits[0].stamp, 99 * kSecond + 5);
  EXPECT_EQ(facts.limits[0].receipt_age, 0.125);
  EXPECT_EQ(facts.limits[1].source, "b");
  EXPECT_EQ(facts.limits[1].stamp, 101 * kSecond);
}

TEST(Pauses, MessagesAfterAPauseMayHaveArrivedAtItsBegin) {
  constexpr std::int64_t kMs = 1'000'000;
  constexpr std::int64_t kLater = 10'000 * kMs;  // sent after the pause
  Pauses pauses(0);
  for (std::int64_t t = 0; t <= 1000; t += 50) pauses.note_activity(t * kMs);
  EXPECT_EQ(pauses.earliest(1050 * kMs, 0), 1050 * kMs);
  EXPECT_EQ(pauses.earliest(3000 * kMs, kLater), 1050 * kMs);
  for (std::int64_t t = 3050; t <= 3250; t += 50) pauses.note_activity(t * kMs);
  EXPECT_EQ(pauses.earliest(3250 * kMs, kLater), 1050 * kMs);
  EXPECT_EQ(pauses.earliest(3300 * kMs, kLater), 3300 * kMs);
}

// However late it is read.
TEST(Pauses, AMessageOfAPauseIsNeverNew) {
  constexpr std::int64_t kMs = 1'000'000;
  Pauses pauses(0);
  for (std::int64_t t = 3000; t <= 9000; t += 50) pauses.note_activity(t * kMs);
  EXPECT_EQ(pauses.earliest(9000 * kMs, 2999 * kMs), 0);
  EXPECT_EQ(pauses.earliest(9000 * kMs, -5 * kMs), -5 * kMs);
  EXPECT_EQ(pauses.earliest(9000 * kMs, 3000 * kMs), 9000 * kMs);
  constexpr std::int64_t kZero = 1'000'000 * kMs;  // of the system clock
  EXPECT_EQ(Pauses::sending_time(kZero + 40, kZero + 50, 100, kZero + 100), 40);
  EXPECT_EQ(Pauses::sending_time(kZero + 70, kZero + 50, 100, kZero + 100), 50);
  EXPECT_EQ(Pauses::sending_time(kZero + 40, 0, 100, kZero + 100), 40);
  EXPECT_EQ(Pauses::sending_time(0, kZero + 50, 100, kZero + 100), 50);
  EXPECT_EQ(Pauses::sending_time(0, 0, 100, kZero + 100), 100);
}

TEST(ReceivedSnapshot, ConcaveOutlinesCanBeRefused) {
  SnapshotMessage m = message();
  m.concave_policy = "reject";
  Issue issue;
  EXPECT_EQ(ReceivedSnapshot::read(m, issue), nullptr);
  EXPECT_EQ(issue.status, Status::concave_rejected);
  EXPECT_EQ(issue.argument, "senders[1].obstacles.xy");
  EXPECT_EQ(issue.rule, "obstacle 1: the outline is not convex at this vertex");
}

}  // namespace
}  // namespace gjk::received_snapshot_test
