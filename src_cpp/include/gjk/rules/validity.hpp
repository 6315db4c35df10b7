// SPDX-FileCopyrightText: gjk_collision contributors
// SPDX-License-Identifier: Apache-2.0
// The rules that decide whether a mirror of the collision server may answer from the last snapshot
// that it received. This file reads no clock: the caller passes the times. Messages are passed as
// the plain values of their fields.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "gjk/rules/age.hpp"
#include "gjk/rules/fault.hpp"
#include "gjk/rules/servers.hpp"
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
  std::int64_t stamp = 0;  // ns, of info.header
  std::uint64_t static_revision = 0;
  double heartbeat_limit = 0.0;   // s
  double max_future_stamp = 0.0;  // s
  std::vector<AgeLimit> limits;   // of the footprint, if it is from a topic, and of each sender
  Fault fault;                    // `verdict`; used if the id is 0
  Status data_status = Status::success;  // of `data_verdict`
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
// A snapshot can be used while
// - the clock does not go back,
// - at most `heartbeat_limit` has passed since the last message that confirmed it was sent: the
//   snapshot itself, or a heartbeat with its sequence number and its activation of the server,
// - the last heartbeat has no fault, and the same parameters,
// - no message of another server with this name was received within Servers::kOther, and
// - no data in it is too old, by its stamp and by its receipt at the server.
//
// An answer that is returned after a newer snapshot was received needs more: since its own
// snapshot, the server has had no fault, no other parameters and no other static data.
//
// The server computes the time since the receipt with its own steady clock, which is not known
// here. It is replaced by an upper bound: the time at the server when the snapshot was made, plus
// the time under way by the common clock, plus the time since then by the steady clock here. If the
// process was paused, the time since the earliest possible arrival counts too.
class Validity {
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

 public:
  // A snapshot that was received. An answer keeps it, to be checked again when it is returned.
  struct Held {
    SnapshotFacts facts;
    Received received;
    Received confirmed;          // by the last message that confirmed it
    std::uint64_t revision = 0;  // see `revision_`
  };

  // Returns whether the snapshot is used. An older one that arrives late is not.
  bool receive_snapshot(SnapshotFacts facts, const Arrival& arrival) {
    note_time(arrival.read.now);
    const bool is_same_epoch = held_ && epoch_of(facts.id) == epoch_of(held_->facts.id);
    if (is_same_epoch && facts.id != 0 && facts.sequence < held_->facts.sequence) return false;
    servers_.note(epoch_of(facts.id), arrival.read.steady);
    if (held_ && ends(held_->facts, facts)) ++revision_;
    const Received received(arrival, facts.stamp);
    held_ = std::make_shared<Held>(Held{std::move(facts), received, received, revision_});
    if (heartbeat_) note_confirmation(*heartbeat_, heartbeat_at_, arrival.read.steady);
    return true;
  }

  void receive_heartbeat(HeartbeatFacts facts, const Arrival& arrival) {
    note_time(arrival.read.now);
    // A heartbeat that was received before does not prove that the server runs.
    const bool is_same_epoch = heartbeat_ && epoch_of(facts.id) == epoch_of(heartbeat_->id);
    if (is_same_epoch && facts.id != 0 && facts.counter <= heartbeat_->counter) return;
    servers_.note(epoch_of(facts.id), arrival.read.steady);
    heartbeat_ = std::move(facts);
    heartbeat_at_ = Received(arrival, heartbeat_->stamp);
    note_confirmation(*heartbeat_, heartbeat_at_, arrival.read.steady);
  }

  // Forgets all messages. Answers from their snapshots cannot be used any more.
  void reset() {
    const std::uint64_t next = revision_ + 1;
    *this = {};
    revision_ = next;
  }

  // The last snapshot; null: there is none.
  std::shared_ptr<const Held> held() const noexcept { return held_; }

  // Why no answer may be given from the last snapshot; nothing: it can be used.
  //
  // `at` (ns) is the time for which it is asked. The data must not be too old now and at that time.
  // `is_named`: the request names a footprint of the parameters, so that the limits with the status
  // stale_footprint do not count. `used`: the snapshot from which an answer was computed that is
  // returned now; null: the last one.
  std::optional<Fault> check(std::int64_t at, const Clocks& clocks, bool is_named = false,
                             const Held* used = nullptr) {
    if (clocks.now == 0) {
      return Fault{Status::clock_jump, "no time received on /clock yet (use_sim_time)"};
    }
    note_time(clocks.now);
    if (!held_) {
      return jump_ ? jump_ : Fault{Status::undefined, "no message received on ~/snapshot"};
    }
    if (held_->facts.id == 0) return held_->facts.fault;
    if (used == nullptr) used = held_.get();
    if (used->revision != revision_) {
      return Fault{Status::snapshot_mismatch,
                   "since the snapshot, the node has had a fault, other parameters or other static "
                   "data"};
    }
    if (auto fault = check_server(*used, clocks.steady)) return fault;
    return check_data(*used, at, clocks, is_named);
  }

 private:
  // If the clock goes back, ages cannot be computed any more. All messages are forgotten.
  void note_time(std::int64_t now) {
    if (now < newest_) {
      const double back = detail::in_seconds(newest_ - now);
      const Servers servers = servers_;  // their times are steady
      reset();
      servers_ = servers;
      jump_ = {Status::clock_jump,
               detail::formatted("the clock went back by %.9g s; waiting for messages "
                                 "on ~/snapshot and ~/state",
                                 back)};
    }
    newest_ = now;
  }

  // Whether an answer from a snapshot cannot be used any more after the next one.
  static bool ends(const SnapshotFacts& last, const SnapshotFacts& next) noexcept {
    const auto has_fault_since = [](Status before, Status after) noexcept {
      return before == Status::success && after != Status::success;
    };
    return epoch_of(last.id) != epoch_of(next.id) || last.config_hash != next.config_hash ||
           last.static_revision != next.static_revision ||
           has_fault_since(last.fault.status, next.fault.status) ||
           has_fault_since(last.data_status, next.data_status);
  }

  void note_confirmation(const HeartbeatFacts& by, const Received& received, std::int64_t steady) {
    if (!held_ || by.id == 0 || epoch_of(by.id) != epoch_of(held_->facts.id) ||
        by.sequence != held_->facts.sequence) {
      return;
    }
    if (received.since(steady) < held_->confirmed.since(steady)) held_->confirmed = received;
  }

  std::optional<Fault> check_server(const Held& used, std::int64_t steady) const {
    const SnapshotFacts& facts = used.facts;
    const std::int64_t limit = nanoseconds(facts.heartbeat_limit);
    if (auto fault = servers_.fault(epoch_of(facts.id), steady)) return fault;
    const bool is_beating = heartbeat_ && heartbeat_at_.since(steady) <= limit;
    if (is_beating && heartbeat_->id == 0) return heartbeat_->fault;
    const bool is_earlier =
        is_beating && heartbeat_->sequence != 0 && heartbeat_->sequence < held_->facts.sequence;
    if (is_beating && !is_earlier && heartbeat_->config_hash != facts.config_hash) {
      return Fault{Status::snapshot_mismatch, "the parameters of the node have changed"};
    }
    const std::int64_t silence = used.confirmed.since(steady);
    if (silence <= limit) return {};
    return Fault{
        is_beating ? Status::snapshot_mismatch : Status::undefined,
        detail::formatted(
            is_beating ? "the snapshot was last confirmed %.3f s ago, limit %g s: a newer one is "
                         "late or lost"
                       : "no new message received on ~/state and ~/snapshot for %.3f s, limit %g s",
            detail::in_seconds(silence), facts.heartbeat_limit)};
  }

  std::optional<Fault> check_data(const Held& used, std::int64_t at, const Clocks& clocks,
                                  bool is_named) const {
    const SnapshotFacts& snapshot = used.facts;
    const std::int64_t latest = std::max(at, clocks.now);
    if (snapshot.stamp > latest + nanoseconds(snapshot.max_future_stamp)) {
      return Fault{Status::clock_jump,
                   detail::formatted("the snapshot is %.3f s ahead of the clock, limit %g s",
                                     detail::in_seconds(snapshot.stamp - latest),
                                     snapshot.max_future_stamp)};
    }
    const std::int64_t passed = used.received.since(clocks.steady) + (latest - clocks.now);
    for (const AgeLimit& each : snapshot.limits) {
      if (is_named && each.stale == Status::stale_footprint) continue;
      const std::int64_t age = latest - each.stamp;
      const std::int64_t silence = nanoseconds(each.receipt_age) + passed;
      if (const std::string why = too_far_ahead(-age, snapshot.max_future_stamp); !why.empty()) {
        return Fault{Status::future_stamp, each.source + ": " + why};
      }
      if (const std::string why = too_old(age, silence, each.timeout); !why.empty()) {
        return Fault{each.stale, each.source + ": " + why};
      }
    }
    return {};
  }

  std::shared_ptr<Held> held_;
  std::optional<HeartbeatFacts> heartbeat_;
  Received heartbeat_at_;
  // Increases when answers from earlier snapshots cannot be used any more.
  std::uint64_t revision_ = 0;
  Servers servers_;
  std::optional<Fault> jump_;  // why there is no snapshot
  std::int64_t newest_ = 0;    // ns, newest time of the clock
};

}  // namespace gjk
