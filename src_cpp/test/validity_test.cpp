// SPDX-FileCopyrightText: gjk_collision contributors
// SPDX-License-Identifier: Apache-2.0
// A mirror must not answer from data that the server would not use any more.
#include "gjk/snapshot/validity.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace gjk::validity_test {
namespace {

constexpr std::int64_t kMs = 1'000'000;
constexpr std::int64_t kNow = 1'800'000'000'000'000'000;  // ns
constexpr std::int64_t kSteady = 40'000 * kMs;
constexpr std::uint64_t kId = (7ULL << 32) + 3;

SnapshotFacts snapshot(std::uint64_t sequence = 5, std::uint64_t id = kId) {
  SnapshotFacts facts;
  facts.id = id;
  facts.sequence = sequence;
  facts.config_hash = 11;
  facts.stamp = kNow;
  facts.heartbeat_limit = 0.3;
  facts.lag_limit = 0.1;
  facts.max_future_stamp = 0.05;
  facts.limits = {{"lidar", Status::stale_obstacles, kNow - 100 * kMs, 0.5, 0.04}};
  facts.fault = {Status::success, "complete"};
  return facts;
}

HeartbeatFacts heartbeat(std::uint64_t counter, std::uint64_t sequence = 5,
                         std::uint64_t id = kId) {
  return {counter, id, sequence, 11, kNow, {Status::success, ""}};
}

Clocks after(std::int64_t ns) { return {kNow + ns, kSteady + ns}; }
Arrival at(std::int64_t ns) { return {after(ns), kSteady + ns}; }

// The status at a time after the snapshot; success: it is valid.
Status status_after(Validity& validity, std::int64_t ns) {
  const std::optional<Fault> fault = validity.check(kNow + ns, after(ns));
  return fault ? fault->status : Status::success;
}

// A mirror with a snapshot that was sent and received at kNow, and a heartbeat.
Validity mirror() {
  Validity validity;
  validity.receive_snapshot(snapshot(), at(0));
  validity.receive_heartbeat(heartbeat(1), at(0));
  return validity;
}

// Heartbeats until a time, so that they are not what makes a snapshot invalid.
void beat_until(Validity& validity, std::int64_t ns) {
  for (std::int64_t t = 0; t <= ns; t += 50 * kMs) {
    HeartbeatFacts facts = heartbeat(static_cast<std::uint64_t>(2 + t / kMs));
    facts.stamp = kNow + t;
    validity.receive_heartbeat(std::move(facts), at(t));
  }
}

TEST(Validity, NothingWasReceived) {
  Validity validity;
  EXPECT_EQ(status_after(validity, 0), Status::undefined);
  validity.receive_heartbeat(heartbeat(1), at(0));
  EXPECT_EQ(status_after(validity, 0), Status::undefined);
  Validity other;
  other.receive_snapshot(snapshot(), at(0));
  EXPECT_EQ(status_after(other, 0), Status::undefined);
  other.receive_heartbeat(heartbeat(1), at(0));
  EXPECT_EQ(status_after(other, 0), Status::success);
}

TEST(Validity, WithoutAClockNothingIsValid) {
  Validity validity = mirror();
  const auto fault = validity.check(kNow, {0, kSteady});
  ASSERT_TRUE(fault);
  EXPECT_EQ(fault->status, Status::clock_jump);
}

TEST(Validity, DataExpiresByStampAtTheVeryNanosecond) {
  Validity validity = mirror();
  beat_until(validity, 390 * kMs);
  EXPECT_EQ(status_after(validity, 400 * kMs), Status::success);
  EXPECT_EQ(status_after(validity, 400 * kMs + 1), Status::stale_obstacles);
}

TEST(Validity, DataExpiresByReceipt) {
  Validity validity = mirror();
  // The clock stands still.
  for (std::int64_t t = 0; t <= 450 * kMs; t += 50 * kMs) {
    const std::uint64_t counter = static_cast<std::uint64_t>(2 + t / kMs);
    validity.receive_heartbeat(heartbeat(counter), {{kNow, kSteady + t}, kSteady + t});
  }
  EXPECT_FALSE(validity.check(kNow, {kNow, kSteady + 460 * kMs}));
  const auto fault = validity.check(kNow, {kNow, kSteady + 460 * kMs + 1});
  ASSERT_TRUE(fault);
  EXPECT_EQ(fault->status, Status::stale_obstacles);
  EXPECT_NE(fault->message.find("lidar: no new stamp received for 0.500 s"), std::string::npos);
}

TEST(Validity, ANamedFootprintDoesNotDependOnTheTopic) {
  SnapshotFacts facts = snapshot();
  facts.limits.insert(facts.limits.begin(),
                      {"footprint", Status::stale_footprint, kNow - 100 * kMs, 0.2, 0.0});
  Validity validity;
  validity.receive_snapshot(std::move(facts), at(0));
  beat_until(validity, 200 * kMs);
  const std::int64_t late = 150 * kMs;
  EXPECT_EQ(status_after(validity, 200 * kMs), Status::stale_footprint);
  EXPECT_FALSE(validity.check(kNow + late, after(200 * kMs), true));
}

TEST(Validity, AnOlderSnapshotThatArrivesLateIsNotUsed) {
  Validity validity;
  EXPECT_TRUE(validity.receive_snapshot(snapshot(6), at(0)));
  EXPECT_FALSE(validity.receive_snapshot(snapshot(5), at(10 * kMs)));
  EXPECT_TRUE(validity.receive_snapshot(snapshot(6), at(20 * kMs)));  // sent once more
}

TEST(Validity, SnapshotsThatAreAlwaysLateAreNotValid) {
  // A snapshot every 50 ms arrives after 500 ms; heartbeats arrive at once.
  Validity validity;
  constexpr std::uint64_t kDelay = 10;
  for (std::uint64_t k = 0; k < 40; ++k) {
    const std::int64_t t = static_cast<std::int64_t>(k) * 50 * kMs;
    if (k >= kDelay) {
      SnapshotFacts facts = snapshot(k - kDelay + 1);
      facts.stamp = kNow + t - 500 * kMs;
      facts.limits = {{"lidar", Status::stale_obstacles, facts.stamp, 2.0, 0.0}};
      EXPECT_TRUE(validity.receive_snapshot(std::move(facts), at(t)));
    }
    HeartbeatFacts facts = heartbeat(k + 1, k + 1);
    facts.stamp = kNow + t;
    validity.receive_heartbeat(std::move(facts), at(t));
    if (k >= kDelay) {
      EXPECT_EQ(status_after(validity, t + 10 * kMs), Status::snapshot_mismatch) << k;
    }
  }
}

TEST(Validity, AHeartbeatWithAnErrorDoesNotForgetWhatWasAnnounced) {
  Validity validity = mirror();
  validity.receive_heartbeat(heartbeat(2, 6), at(50 * kMs));
  HeartbeatFacts error = heartbeat(3, 0, 0);
  error.fault = {Status::internal_error, "error"};
  validity.receive_heartbeat(std::move(error), at(100 * kMs));
  EXPECT_EQ(status_after(validity, 110 * kMs), Status::internal_error);
  validity.receive_heartbeat(heartbeat(4, 6), at(140 * kMs));
  EXPECT_EQ(status_after(validity, 149 * kMs), Status::success);
  EXPECT_EQ(status_after(validity, 151 * kMs), Status::snapshot_mismatch);
}

TEST(Validity, DelaysOfAMessageMakeTheExpiryEarlier) {
  // The time under way counts, by the clock; and the time in the queue of a paused process.
  for (const bool by_clock : {false, true}) {
    Validity validity;
    const std::int64_t delay = 80 * kMs;
    Arrival arrival = at(delay);
    if (!by_clock) arrival = {{kNow, kSteady + delay}, kSteady};  // the clock stood still
    validity.receive_snapshot(snapshot(), arrival);
    const std::int64_t last = by_clock ? 400 * kMs : 460 * kMs;
    for (std::int64_t t = delay; t < last; t += 20 * kMs) {
      HeartbeatFacts facts = heartbeat(static_cast<std::uint64_t>(2 + t / kMs));
      facts.stamp = by_clock ? kNow + t : kNow;
      validity.receive_heartbeat(std::move(facts),
                                 {{by_clock ? kNow + t : kNow, kSteady + t}, kSteady + t});
    }
    const auto when = [&](std::int64_t t) {
      return Clocks{by_clock ? kNow + t : kNow, kSteady + t};
    };
    EXPECT_FALSE(validity.check(kNow, when(last))) << by_clock;
    EXPECT_TRUE(validity.check(kNow, when(last + 1))) << by_clock;
  }
}

TEST(Validity, AQuestionForALaterTimeNeedsDataThatIsFreshThen) {
  Validity validity = mirror();
  EXPECT_FALSE(validity.check(kNow + 400 * kMs, after(0)));
  EXPECT_TRUE(validity.check(kNow + 400 * kMs + 1, after(0)));
  // A question for an earlier time does not make data younger.
  beat_until(validity, 500 * kMs);
  EXPECT_TRUE(validity.check(kNow, after(500 * kMs)));
}

TEST(Validity, HeartbeatsMustGoOn) {
  Validity validity = mirror();
  EXPECT_EQ(status_after(validity, 300 * kMs), Status::success);
  EXPECT_EQ(status_after(validity, 300 * kMs + 1), Status::undefined);
  validity.receive_heartbeat(heartbeat(1), at(301 * kMs));  // the same one again
  EXPECT_EQ(status_after(validity, 301 * kMs), Status::undefined);
  HeartbeatFacts next = heartbeat(2);
  next.stamp = kNow + 301 * kMs;
  validity.receive_heartbeat(next, at(301 * kMs));
  EXPECT_EQ(status_after(validity, 301 * kMs), Status::success);
}

TEST(Validity, ALateHeartbeatIsOld) {
  Validity validity = mirror();
  validity.receive_heartbeat(heartbeat(2), at(250 * kMs));  // sent at kNow
  EXPECT_EQ(status_after(validity, 300 * kMs), Status::success);
  EXPECT_EQ(status_after(validity, 301 * kMs), Status::undefined);
}

TEST(Validity, TheNodeIsNotActive) {
  Validity validity = mirror();
  HeartbeatFacts facts = heartbeat(2, 0, 0);
  facts.fault = {Status::not_active, "inactive"};
  validity.receive_heartbeat(facts, at(0));
  EXPECT_EQ(status_after(validity, 0), Status::not_active);
  SnapshotFacts none = snapshot(6, 0);
  none.fault = {Status::not_active, "inactive"};
  Validity other = mirror();
  other.receive_snapshot(none, at(0));
  EXPECT_EQ(status_after(other, 0), Status::not_active);
}

TEST(Validity, AnotherActivation) {
  Validity validity = mirror();
  const std::uint64_t next = kId + (1ULL << 32);
  validity.receive_heartbeat(heartbeat(1, 1, next), at(10 * kMs));  // it counts from 1 again
  EXPECT_EQ(status_after(validity, 10 * kMs), Status::snapshot_mismatch);
  validity.receive_snapshot(snapshot(1, next), at(20 * kMs));
  EXPECT_EQ(status_after(validity, 20 * kMs), Status::success);
}

TEST(Validity, TwoServersWithOneName) {
  Validity validity = mirror();
  const std::uint64_t other = kId + (9ULL << 32);
  const auto receive = [&](std::uint64_t id, std::uint64_t counter, std::int64_t ms) {
    HeartbeatFacts facts = heartbeat(counter, 5, id);
    facts.stamp = kNow + ms * kMs;
    validity.receive_heartbeat(facts, at(ms * kMs));
    if (id != 0) validity.receive_snapshot(snapshot(5, id), at(ms * kMs));
    return status_after(validity, ms * kMs);
  };
  // A server that was started again: all its heartbeats are later.
  EXPECT_EQ(receive(other, 1, 10), Status::success);
  EXPECT_EQ(receive(other, 2, 20), Status::success);
  EXPECT_EQ(receive(0, 3, 25), Status::success);  // an error, then again
  EXPECT_EQ(receive(other, 4, 30), Status::success);
  // The first one goes on.
  EXPECT_EQ(receive(kId, 2, 40), Status::snapshot_mismatch);
  EXPECT_EQ(receive(other, 5, 50), Status::snapshot_mismatch);
  EXPECT_EQ(receive(other, 6, 350), Status::snapshot_mismatch);
  EXPECT_EQ(receive(other, 7, 351), Status::success);  // it has ended
}

TEST(Validity, OtherParameters) {
  Validity validity = mirror();
  HeartbeatFacts facts = heartbeat(2, 6);
  facts.config_hash = 12;
  validity.receive_heartbeat(facts, at(10 * kMs));
  EXPECT_EQ(status_after(validity, 10 * kMs), Status::snapshot_mismatch);
  // A heartbeat from before the change of the parameters does not contradict.
  Validity other = mirror();
  SnapshotFacts changed = snapshot(6);
  changed.config_hash = 12;
  other.receive_snapshot(changed, at(10 * kMs));
  EXPECT_EQ(status_after(other, 10 * kMs), Status::success);
}

TEST(Validity, AnAnnouncedSnapshotMustArrive) {
  for (const std::uint64_t announced : {std::uint64_t{0}, std::uint64_t{6}}) {
    Validity validity = mirror();
    validity.receive_heartbeat(heartbeat(2, announced), at(10 * kMs));
    // A later heartbeat that announces another one does not extend the time.
    validity.receive_heartbeat(heartbeat(3, 9), at(100 * kMs));
    EXPECT_EQ(status_after(validity, 110 * kMs), Status::success);
    EXPECT_EQ(status_after(validity, 110 * kMs + 1), Status::snapshot_mismatch);
    validity.receive_snapshot(snapshot(6), at(112 * kMs));
    // 6 has arrived; 9 was announced at 100 ms.
    EXPECT_EQ(status_after(validity, 200 * kMs), Status::success);
    EXPECT_EQ(status_after(validity, 201 * kMs), Status::snapshot_mismatch);
    validity.receive_snapshot(snapshot(9), at(201 * kMs));
    EXPECT_EQ(status_after(validity, 201 * kMs), Status::success);
  }
}

TEST(Validity, TheClockGoesBack) {
  Validity validity = mirror();
  EXPECT_EQ(status_after(validity, 10 * kMs), Status::success);
  EXPECT_EQ(status_after(validity, 10 * kMs - 1), Status::clock_jump);
  EXPECT_EQ(status_after(validity, 20 * kMs), Status::clock_jump);  // and it stays so
  validity.receive_snapshot(snapshot(6), at(20 * kMs));
  validity.receive_heartbeat(heartbeat(2, 6), at(20 * kMs));
  EXPECT_EQ(status_after(validity, 20 * kMs), Status::success);
}

TEST(Validity, ASnapshotFromTheFuture) {
  Validity validity;
  validity.receive_snapshot(snapshot(), at(-51 * kMs));
  validity.receive_heartbeat(heartbeat(1), at(-51 * kMs));
  EXPECT_EQ(status_after(validity, -51 * kMs), Status::clock_jump);
  EXPECT_EQ(status_after(validity, -50 * kMs), Status::success);
}

TEST(Validity, AStampInTheFuture) {
  SnapshotFacts facts = snapshot();
  facts.limits[0].stamp = kNow + 50 * kMs;
  Validity validity;
  validity.receive_snapshot(facts, at(-1));
  validity.receive_heartbeat(heartbeat(1), at(-1));
  EXPECT_EQ(status_after(validity, -1), Status::future_stamp);
  EXPECT_EQ(status_after(validity, 0), Status::success);
}

// Against the definition: for random delays, a snapshot is never valid when the server would find
// one of its data too old; the server's steady clock has another zero.
TEST(Validity, NeverValidLongerThanAtTheServer) {
  std::mt19937_64 random(1);
  const auto up_to = [&](std::int64_t limit) {
    return std::uniform_int_distribution<std::int64_t>(0, limit)(random);
  };
  int valid = 0;
  int stale = 0;
  for (int run = 0; run < 20'000; ++run) {
    const std::int64_t delay = up_to(200 * kMs);
    const std::int64_t receipt_age = up_to(300 * kMs);
    const std::int64_t age = receipt_age + up_to(100 * kMs) - 30 * kMs;
    const std::int64_t timeout = 100 * kMs + up_to(500 * kMs);
    SnapshotFacts facts = snapshot();
    facts.heartbeat_limit = 10.0;
    facts.limits = {{"lidar", Status::stale_obstacles, kNow - age,
                     static_cast<double>(timeout) * 1e-9, static_cast<double>(receipt_age) * 1e-9}};
    Validity validity;
    validity.receive_snapshot(facts, at(delay));
    validity.receive_heartbeat(heartbeat(1), at(delay));
    const std::int64_t asked = delay + up_to(500 * kMs);
    const bool is_stale = age + asked > timeout || receipt_age + asked > timeout;
    const bool is_valid = status_after(validity, asked) == Status::success;
    EXPECT_EQ(is_valid, !is_stale) << run;  // with a common clock, to the nanosecond
    valid += is_valid;
    stale += is_stale;
  }
  EXPECT_GT(valid, 2000);
  EXPECT_GT(stale, 2000);
}

}  // namespace
}  // namespace gjk::validity_test
