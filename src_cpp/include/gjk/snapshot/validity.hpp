// SPDX-FileCopyrightText: gjk_collision contributors
// SPDX-License-Identifier: Apache-2.0
// The rules that decide whether a mirror of the collision server may answer from the last snapshot
// that it received. This file reads no clock: the caller passes the times. Messages are passed as
// the plain values of their fields.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "gjk/snapshot/snapshot.hpp"
#include "gjk/verdict.hpp"

namespace gjk {

// Times of the process of the mirror [ns]. `now` is the time of the clock that stamps refer to (ROS
// time); 0: not known yet. `steady` is the time of a steady clock; it is only compared with other
// steady times of this process.
struct Clocks {
  std::int64_t now = 0;
  std::int64_t steady = 0;
};

// When a message was received: the times when it was read, and the earliest steady time at which it
// can have arrived. The latter is earlier than `read.steady` if the process was paused in between.
struct Arrival {
  Clocks read;
  std::int64_t earliest = 0;  // ns
};

// The limits of the age of the data of one sender.
struct AgeLimit {
  std::string source;        // name in obstacle_sources, "footprint" or "twist_topic"
  Status stale{};            // stale_obstacles or stale_footprint
  std::int64_t stamp = 0;    // ns
  double timeout = 0.0;      // s, maximum age by stamp and by receipt
  double receipt_age = 0.0;  // s, at the time of the snapshot: time since `stamp` was received
};

// Fields of msg/Snapshot.
struct SnapshotFacts {
  std::uint64_t id = 0;
  std::uint64_t sequence = 0;
  std::uint32_t config_hash = 0;
  std::int64_t stamp = 0;         // ns, of info.header
  double heartbeat_limit = 0.0;   // s
  double lag_limit = 0.0;         // s
  double max_future_stamp = 0.0;  // s
  std::vector<AgeLimit> limits;   // of the footprint, if it is from a topic, and of each sender
  Fault fault;                    // `verdict`; used if the id is 0
};

// Fields of msg/CollisionState.
struct HeartbeatFacts {
  std::uint64_t counter = 0;
  std::uint64_t id = 0;        // info.snapshot_id
  std::uint64_t sequence = 0;  // snapshot_sequence
  std::uint32_t config_hash = 0;
  std::int64_t stamp = 0;  // ns, of header
  Fault fault;             // `verdict`; used if the id is 0
};

// Keeps the facts of the last messages. Not for several threads at once.
//
// A snapshot is valid while
// - the clock does not go back,
// - heartbeats arrive, and are of the same activation of the server and the same parameters,
// - they are of one server only,
// - no later snapshot was announced by a heartbeat more than `lag_limit` ago, and
// - no data in it is too old, by its stamp and by its receipt at the server.
//
// The server computes the time since the receipt with its own steady clock, which is not known
// here. It is replaced by an upper bound: the time at the server when the snapshot was made, plus
// the time under way by the common clock, plus the time since then by the steady clock here. If the
// process was paused, the time since the earliest possible arrival counts too.
class Validity {
 public:
  // Returns whether the snapshot is used. An older one that arrives late is not.
  bool receive_snapshot(SnapshotFacts facts, const Arrival& arrival) {
    note_time(arrival.read.now);
    const bool is_same_epoch = snapshot_ && epoch(facts.id) == epoch(snapshot_->id);
    if (is_same_epoch && facts.id != 0 && facts.sequence < snapshot_->sequence) return false;
    snapshot_ = std::move(facts);
    snapshot_at_ = Received(arrival, snapshot_->stamp);
    // Snapshots are announced by heartbeats of the same activation. A process that was restarted
    // begins to count again.
    if (epoch(snapshot_->id) == missing_epoch_) {
      std::erase_if(missing_, [&](const Announced& each) noexcept {
        return each.sequence <= snapshot_->sequence;
      });
    }
    return true;
  }

  void receive_heartbeat(HeartbeatFacts facts, const Arrival& arrival) {
    note_time(arrival.read.now);
    // A heartbeat that was received before does not prove that the server runs.
    const bool is_same_epoch = heartbeat_ && epoch(facts.id) == epoch(heartbeat_->id);
    if (is_same_epoch && facts.id != 0 && facts.counter <= heartbeat_->counter) return;
    note_servers(epoch(facts.id), arrival.read.steady);
    heartbeat_ = std::move(facts);
    heartbeat_at_ = Received(arrival, heartbeat_->stamp);
    if (heartbeat_->id != 0 && epoch(heartbeat_->id) != missing_epoch_) {
      missing_.clear();
      missing_epoch_ = epoch(heartbeat_->id);
    }
    note_missing();
  }

  // Forgets all messages.
  void reset() { *this = {}; }

  // Why no answer may be given from the last snapshot; nothing: it is valid.
  //
  // `at` (ns) is the time for which it is asked. The data must not be too old now and at that time.
  // `is_named`: the request names a footprint of the parameters, so that the limits with the status
  // stale_footprint do not count.
  std::optional<Fault> check(std::int64_t at, const Clocks& clocks, bool is_named = false) {
    if (clocks.now == 0) {
      return Fault{Status::clock_jump, "no time received on /clock yet (use_sim_time)"};
    }
    note_time(clocks.now);
    if (jump_ && !(snapshot_ && heartbeat_)) return jump_;
    if (!snapshot_) return Fault{Status::undefined, "no message received on ~/snapshot"};
    const SnapshotFacts& snapshot = *snapshot_;
    if (snapshot.id == 0) return snapshot.fault;
    if (auto fault = check_heartbeat(snapshot, clocks.steady)) return fault;
    return check_data(snapshot, at, clocks, is_named);
  }

 private:
  // When a message was received, to bound the time since it was sent.
  struct Received {
    std::int64_t read = 0;      // steady time, ns
    std::int64_t transit = 0;   // ns, by the common clock, until it was read
    std::int64_t earliest = 0;  // steady time, ns

    Received() = default;
    Received(const Arrival& arrival, std::int64_t stamp) noexcept
        : read(arrival.read.steady),
          transit(std::max<std::int64_t>(0, arrival.read.now - stamp)),
          earliest(arrival.earliest) {}

    // Upper bound of the time since it was sent [ns].
    std::int64_t since(std::int64_t steady) const noexcept {
      return std::max(steady - read + transit, steady - earliest);
    }
  };

  struct Announced {
    std::uint64_t sequence = 0;  // of a snapshot; 0: the server has sent none with its present data
    std::int64_t steady = 0;     // ns, when it was announced
  };

  static constexpr std::size_t kMaxMissing = 1024;  // 10 s of heartbeats at their highest rate

  static std::uint64_t epoch(std::uint64_t id) noexcept { return id >> 32; }
  // Rounded as the server rounds its limits.
  static std::int64_t nanoseconds(double seconds) noexcept {
    return static_cast<std::int64_t>(std::nearbyint(seconds * 1e9));
  }

  template <class... Values>
  static std::string text(const char* format, Values... values) {
    char buffer[160];
    std::snprintf(buffer, sizeof buffer, format, values...);
    return buffer;
  }

  // If the clock goes back, ages cannot be computed any more. All messages are forgotten.
  void note_time(std::int64_t now) {
    if (now < newest_) {
      const double back = static_cast<double>(newest_ - now) * 1e-9;
      reset();
      jump_ = {Status::clock_jump, text("the clock went back by %.9g s; waiting for messages "
                                        "on ~/snapshot and ~/state",
                                        back)};
    }
    newest_ = now;
  }

  // Detects two servers: heartbeats of an earlier activation arrive after those of a later one.
  // Heartbeats without a snapshot have the epoch 0 and do not count.
  void note_servers(std::uint64_t of, std::int64_t steady) noexcept {
    if (of == 0 || of == last_epoch_) return;
    if (of == epoch_before_) two_servers_ = steady;
    epoch_before_ = last_epoch_;
    last_epoch_ = of;
  }

  // Notes whether the last heartbeat has announced a snapshot that was not received.
  void note_missing() {
    if (!heartbeat_ || heartbeat_->id == 0) return;
    const std::uint64_t announced = heartbeat_->sequence;
    const bool is_same_epoch = snapshot_ && epoch(snapshot_->id) == epoch(heartbeat_->id);
    if (is_same_epoch && announced != 0 && announced <= snapshot_->sequence) return;
    if (!missing_.empty() && missing_.back().sequence == announced) return;
    if (missing_.size() < kMaxMissing) {
      missing_.push_back({announced, heartbeat_at_.earliest});
    } else {  // its time is then too early
      missing_.back().sequence = announced;
    }
  }

  std::optional<Fault> check_heartbeat(const SnapshotFacts& snapshot, std::int64_t steady) const {
    if (!heartbeat_) return Fault{Status::undefined, "no message received on ~/state"};
    const std::int64_t silence = heartbeat_at_.since(steady);
    if (silence > nanoseconds(snapshot.heartbeat_limit)) {
      return Fault{Status::undefined,
                   text("no new message received on ~/state for %.3f s, limit "
                        "%g s",
                        static_cast<double>(silence) * 1e-9, snapshot.heartbeat_limit)};
    }
    if (two_servers_ && steady - *two_servers_ <= nanoseconds(snapshot.heartbeat_limit)) {
      return Fault{Status::snapshot_mismatch,
                   "two nodes publish ~/snapshot and ~/state: their names must be different"};
    }
    if (heartbeat_->id == 0) return heartbeat_->fault;
    if (epoch(heartbeat_->id) != epoch(snapshot.id)) {
      return Fault{Status::snapshot_mismatch,
                   "the snapshot is from before the last activation of the node"};
    }
    const bool is_earlier = heartbeat_->sequence != 0 && heartbeat_->sequence < snapshot.sequence;
    if (!is_earlier && heartbeat_->config_hash != snapshot.config_hash) {
      return Fault{Status::snapshot_mismatch, "the parameters of the node have changed"};
    }
    const std::int64_t lag = missing_.empty() ? 0 : steady - missing_.front().steady;
    if (lag > nanoseconds(snapshot.lag_limit)) {
      return Fault{Status::snapshot_mismatch,
                   text("a newer snapshot was announced %.3f s ago and not received, limit %g s",
                        static_cast<double>(lag) * 1e-9, snapshot.lag_limit)};
    }
    return {};
  }

  std::optional<Fault> check_data(const SnapshotFacts& snapshot, std::int64_t at,
                                  const Clocks& clocks, bool is_named) const {
    const std::int64_t latest = std::max(at, clocks.now);
    const std::int64_t ahead = nanoseconds(snapshot.max_future_stamp);
    if (snapshot.stamp > latest + ahead) {
      return Fault{Status::clock_jump, text("the snapshot is %.3f s ahead of the clock, limit %g s",
                                            static_cast<double>(snapshot.stamp - latest) * 1e-9,
                                            snapshot.max_future_stamp)};
    }
    const std::int64_t passed = snapshot_at_.since(clocks.steady) + (latest - clocks.now);
    for (const AgeLimit& each : snapshot.limits) {
      if (is_named && each.stale == Status::stale_footprint) continue;
      if (auto fault = too_old(each, latest, passed, snapshot.max_future_stamp)) return fault;
    }
    return {};
  }

  std::optional<Fault> too_old(const AgeLimit& limit, std::int64_t now, std::int64_t passed,
                               double max_future_stamp) const {
    const std::int64_t age = now - limit.stamp;
    const std::int64_t silence = nanoseconds(limit.receipt_age) + passed;
    if (-age > nanoseconds(max_future_stamp)) {
      return Fault{Status::future_stamp,
                   limit.source + text(": the stamp is %.3f s ahead of the clock, limit %g s",
                                       static_cast<double>(-age) * 1e-9, max_future_stamp)};
    }
    if (std::max(age, silence) <= nanoseconds(limit.timeout)) return {};
    const bool by_stamp = age > nanoseconds(limit.timeout);
    return Fault{
        limit.stale,
        limit.source + text(by_stamp ? ": %.3f s old, limit %g s"
                                     : ": no new stamp received for %.3f s, limit %g s",
                            static_cast<double>(by_stamp ? age : silence) * 1e-9, limit.timeout)};
  }

  std::optional<SnapshotFacts> snapshot_;
  Received snapshot_at_;
  std::optional<HeartbeatFacts> heartbeat_;
  Received heartbeat_at_;
  std::vector<Announced> missing_;   // announced snapshots that were not received, in their order
  std::uint64_t missing_epoch_ = 0;  // of the heartbeats that announced them
  std::uint64_t last_epoch_ = 0;     // of the last heartbeat with a snapshot
  std::uint64_t epoch_before_ = 0;   // of the last heartbeat with a snapshot of another activation
  std::optional<std::int64_t> two_servers_;  // steady time at which two servers were noticed [ns]
  std::optional<Fault> jump_;                // why there is no snapshot
  std::int64_t newest_ = 0;                  // ns, newest time of the clock
};

}  // namespace gjk
