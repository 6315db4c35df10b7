// SPDX-FileCopyrightText: gjk_collision contributors
// SPDX-License-Identifier: Apache-2.0
// A mirror must not answer from data that the server would not use any more.
#include "gjk/rules/validity.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
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
  facts.static_revision = 3;
  facts.max_future_stamp = 0.05;
  facts.limits = {{"lidar", Status::stale_obstacles, kNow - 100 * kMs, 0.5, 0.04}};
  facts.fault = {Status::success, ""};
  return facts;
}

HeartbeatFacts heartbeat(std::uint64_t counter, std::uint64_t sequence = 5, std::uint64_t id = kId,
                         std::int64_t sent = 0) {
  return {counter, id, sequence, 11, kNow + sent, {Status::success, ""}};
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
  EXPECT_EQ(status_after(other, 0), Status::success);  // the snapshot confirms itself
  EXPECT_EQ(status_after(other, 300 * kMs), Status::success);
  EXPECT_EQ(status_after(other, 300 * kMs + 1), Status::undefined);
}

TEST(Validity, WithoutAClockNothingIsValid) {
  Validity validity = mirror();
  const auto fault = validity.check(kNow, {0, kSteady});
  ASSERT_TRUE(fault);
  EXPECT_EQ(fault->status, Status::clock_jump);
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

TEST(Validity, AHeartbeatWithAnErrorConfirmsNothing) {
  Validity validity = mirror();
  HeartbeatFacts error = heartbeat(3, 0, 0, 100 * kMs);
  error.fault = {Status::internal_error, "error"};
  validity.receive_heartbeat(std::move(error), at(100 * kMs));
  EXPECT_EQ(status_after(validity, 110 * kMs), Status::internal_error);
  validity.receive_heartbeat(heartbeat(4, 6, kId, 140 * kMs), at(140 * kMs));
  EXPECT_EQ(status_after(validity, 300 * kMs), Status::success);
  EXPECT_EQ(status_after(validity, 300 * kMs + 1), Status::snapshot_mismatch);
}

// Against the definition, for random losses and delays: the last snapshot is valid if and only if
// a message that confirms it was sent at most the limit ago.
TEST(Validity, ASnapshotIsValidForTheLimitAfterItsLastConfirmation) {
  struct Message {
    std::int64_t sent = 0;
    std::int64_t arrives = 0;
    std::uint64_t sequence = 0;
    std::uint64_t counter = 0;  // 0: a snapshot
  };
  std::mt19937_64 random(7);
  const auto up_to = [&](std::int64_t limit) {
    return std::uniform_int_distribution<std::int64_t>(0, limit)(random);
  };
  int valid = 0;
  int invalid = 0;
  for (int run = 0; run < 300; ++run) {
    std::vector<Message> messages;
    std::uint64_t sequence = 5;
    const std::int64_t slow = up_to(3) * 100 * kMs;  // delays of snapshots
    const std::int64_t lost = up_to(8);              // of 10
    std::int64_t last_arrival[2] = {0, 0};
    const auto send = [&](std::int64_t sent, std::uint64_t counter) {
      const bool is_snapshot = counter == 0;
      const std::int64_t arrives = sent + up_to(is_snapshot ? slow + 20 * kMs : 30 * kMs);
      std::int64_t& last = last_arrival[is_snapshot];
      last = std::max(last, arrives);  // in their order
      if (up_to(9) >= lost) messages.push_back({sent, last, sequence, counter});
    };
    for (std::int64_t t = 0; t < 3000 * kMs; t += 20 * kMs) {
      if (up_to(4) == 0) {
        ++sequence;
        send(t, 0);
      }
      if (t % (100 * kMs) == 0) send(t + 1, static_cast<std::uint64_t>(t / kMs) + 1);
    }
    std::stable_sort(messages.begin(), messages.end(),
                     [](const Message& a, const Message& b) { return a.arrives < b.arrives; });
    Validity validity;
    std::size_t next = 0;
    std::uint64_t held = 0;
    std::size_t first = 0;  // the heartbeats from here on can confirm it
    std::size_t heartbeat_before = 0;
    for (std::int64_t t = 0; t < 3000 * kMs; t += 7 * kMs) {
      for (; next < messages.size() && messages[next].arrives <= t; ++next) {
        const Message& each = messages[next];
        if (each.counter != 0) {
          validity.receive_heartbeat(heartbeat(each.counter, each.sequence, kId, each.sent),
                                     at(each.arrives));
          heartbeat_before = next;
        } else {
          SnapshotFacts facts = snapshot(each.sequence);
          facts.stamp = kNow + each.sent;
          facts.limits.clear();
          validity.receive_snapshot(facts, at(each.arrives));
          held = each.sequence;
          first = heartbeat_before;
        }
      }
      bool is_confirmed = false;
      for (std::size_t i = 0; i < next; ++i) {
        const bool counts = messages[i].counter == 0 || i >= first;
        is_confirmed |= counts && messages[i].sequence == held && t - messages[i].sent <= 300 * kMs;
      }
      const bool is_valid = status_after(validity, t) == Status::success;
      EXPECT_EQ(is_valid, held != 0 && is_confirmed) << "run " << run << ", " << t << " ns";
      (is_valid ? valid : invalid) += 1;
    }
  }
  EXPECT_GT(valid, 10'000);
  EXPECT_GT(invalid, 10'000);
}

// A long computation: its answer is judged again when it is returned, with its own snapshot.
TEST(Validity, AnAnswerIsCheckedWhenItIsReturned) {
  const auto status = [](Validity& validity, const Validity::Held& used, std::int64_t ns) {
    const auto fault = validity.check(kNow, after(ns), false, &used);
    return fault ? fault->status : Status::success;
  };
  // The node ends during the computation.
  Validity dead = mirror();
  EXPECT_EQ(status(dead, *dead.held(), 300 * kMs), Status::success);
  EXPECT_EQ(status(dead, *dead.held(), 300 * kMs + 1), Status::undefined);

  // Newer snapshots arrive. Its own must not be too old, by its data and by its confirmation.
  Validity alive = mirror();
  const auto used = alive.held();
  const auto receive = [&](std::int64_t ns, auto... change) {
    SnapshotFacts facts = snapshot(6);
    facts.stamp = kNow + ns;
    facts.limits[0].stamp = kNow + ns;
    (change(facts), ...);
    alive.receive_snapshot(facts, at(ns));
  };
  receive(250 * kMs);
  EXPECT_EQ(status(alive, *used, 300 * kMs), Status::success);
  EXPECT_EQ(status(alive, *used, 300 * kMs + 1), Status::undefined);
  EXPECT_EQ(status_after(alive, 301 * kMs), Status::success);

  // Other parameters, other static data, another activation, a fault: also if it is over.
  const auto changes = std::vector<void (*)(SnapshotFacts&)>{
      [](SnapshotFacts& facts) { facts.config_hash = 12; },
      [](SnapshotFacts& facts) { facts.static_revision = 4; },
      [](SnapshotFacts& facts) { facts.id += 1ULL << 32; },
      [](SnapshotFacts& facts) { facts.fault.status = Status::non_finite; },
      [](SnapshotFacts& facts) { facts.data_status = Status::non_finite; },
  };
  for (std::size_t i = 0; i < changes.size(); ++i) {
    alive = mirror();
    const auto before = alive.held();
    receive(10 * kMs);
    EXPECT_EQ(status(alive, *before, 20 * kMs), Status::success) << i;
    receive(30 * kMs, changes[i]);
    EXPECT_EQ(status(alive, *before, 40 * kMs), Status::snapshot_mismatch) << i;
    receive(50 * kMs);
    EXPECT_EQ(status(alive, *before, 60 * kMs), Status::snapshot_mismatch) << i;
  }

  // The clock goes back, and messages arrive again.
  Validity back = mirror();
  const auto before = back.held();
  EXPECT_EQ(status_after(back, 10 * kMs), Status::success);
  EXPECT_EQ(status_after(back, 9 * kMs), Status::clock_jump);
  back.receive_snapshot(snapshot(), at(20 * kMs));
  back.receive_heartbeat(heartbeat(9), at(20 * kMs));
  EXPECT_EQ(status_after(back, 20 * kMs), Status::success);
  EXPECT_EQ(status(back, *before, 20 * kMs), Status::snapshot_mismatch);
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
    const auto fault = validity.check(kNow, when(last + 1));
    ASSERT_TRUE(fault) << by_clock;
    EXPECT_EQ(fault->status, Status::stale_obstacles);
    const std::string text = by_clock ? "lidar: " : "lidar: no new stamp received for 0.500 s";
    EXPECT_NE(fault->message.find(text), std::string::npos) << fault->message;
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

// A snapshot and a heartbeat of a server arrive at once, `ns` after kNow.
void receive_both(Validity& validity, std::uint64_t id, std::int64_t ns, std::uint64_t counter) {
  SnapshotFacts facts = snapshot(5, id);
  facts.stamp = kNow + ns;
  facts.limits.clear();
  validity.receive_snapshot(facts, at(ns));
  validity.receive_heartbeat(heartbeat(counter, 5, id, ns), at(ns));
}
Status hear(Validity& validity, std::uint64_t id, std::int64_t ms) {
  receive_both(validity, id, ms * kMs, static_cast<std::uint64_t>(ms));
  return status_after(validity, ms * kMs);
}

// Servers with one name, at several rates and in any order: no snapshot is valid, except within the
// first period, when only one of them was received.
TEST(Validity, SeveralServersWithOneName) {
  std::mt19937_64 random(3);
  for (const int count : {2, 3, 4}) {
    for (const bool in_rotation : {true, false}) {
      for (const std::int64_t slowest : {20 * kMs, 1000 * kMs}) {  // the period of the first server
        Validity validity;
        std::vector<std::int64_t> next(static_cast<std::size_t>(count), 0);
        std::uint64_t counter = 0;
        int received = 0;
        for (std::int64_t t = 0; t < 6000 * kMs; t += 5 * kMs) {
          for (std::size_t k = 0; k < next.size(); ++k) {
            if (next[k] > t) continue;
            const std::int64_t period = k == 0 ? slowest : 20 * kMs;
            const std::int64_t late =
                in_rotation ? 0 : std::uniform_int_distribution<std::int64_t>(0, 30)(random) * kMs;
            next[k] = t + period + late * (k != 0);
            const std::uint64_t id = kId + ((9ULL * k) << 32);
            receive_both(validity, id, t, ++counter);
            ++received;
          }
          if (received >= count && t > 100 * kMs) {
            EXPECT_EQ(status_after(validity, t), Status::snapshot_mismatch) << count << ' ' << t;
          }
        }
      }
    }
  }
}

TEST(Validity, AServerThatWasStartedAgain) {
  Validity validity = mirror();
  const std::uint64_t other = kId + (9ULL << 32);
  EXPECT_EQ(hear(validity, other, 2000), Status::snapshot_mismatch);
  EXPECT_EQ(hear(validity, other, 3000), Status::snapshot_mismatch);
  EXPECT_EQ(hear(validity, other, 3001),
            Status::success);  // 3 s after the last message of the other
  EXPECT_EQ(hear(validity, other + (1ULL << 32), 3100), Status::success);  // activated again
}

TEST(Validity, AnotherServerIsNotForgotten) {
  const std::uint64_t other = kId + (400ULL << 32);
  const std::uint64_t next = kId + (1ULL << 32);
  // The first server is activated again.
  Validity again;
  EXPECT_EQ(hear(again, kId, 1), Status::success);
  EXPECT_EQ(hear(again, other, 100), Status::snapshot_mismatch);
  EXPECT_EQ(hear(again, kId, 200), Status::snapshot_mismatch);
  EXPECT_EQ(hear(again, next, 300), Status::snapshot_mismatch);
  EXPECT_EQ(hear(again, next, 3100), Status::snapshot_mismatch);
  EXPECT_EQ(hear(again, next, 3101), Status::success);
  // A late message of the last activation changes nothing.
  again.receive_heartbeat(heartbeat(9999, 5, kId, 3102), at(3102 * kMs));
  EXPECT_EQ(status_after(again, 3102 * kMs), Status::success);

  // The first server has ended; the second one starts, and is activated again.
  Validity started;
  EXPECT_EQ(hear(started, kId, 1), Status::success);
  EXPECT_EQ(hear(started, other, 500), Status::snapshot_mismatch);
  EXPECT_EQ(hear(started, other + (1ULL << 32), 900), Status::snapshot_mismatch);
  EXPECT_EQ(hear(started, other + (1ULL << 32), 3002), Status::success);

  // The clock of the mirror goes back: the messages are forgotten, the other server is not.
  Validity stepped;
  EXPECT_EQ(hear(stepped, other, 100), Status::success);
  EXPECT_EQ(hear(stepped, kId, 200), Status::snapshot_mismatch);
  EXPECT_EQ(status_after(stepped, 150 * kMs), Status::clock_jump);
  SnapshotFacts facts = snapshot(6);
  facts.stamp = kNow + 150 * kMs;
  facts.limits.clear();
  stepped.receive_snapshot(facts, {{kNow + 150 * kMs, kSteady + 210 * kMs}, kSteady + 210 * kMs});
  const auto fault = stepped.check(kNow + 150 * kMs, {kNow + 150 * kMs, kSteady + 210 * kMs});
  ASSERT_TRUE(fault);
  EXPECT_EQ(fault->status, Status::snapshot_mismatch);
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
