// SPDX-FileCopyrightText: gjk_collision contributors
// SPDX-License-Identifier: Apache-2.0
// A mirror of a collision server, without ROS, clocks and threads: the last snapshot that was
// received, whether it is still valid, and questions about it. The messages are any classes with
// the fields of msg/Snapshot and msg/CollisionState.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>

#include "gjk/snapshot/mirrored.hpp"
#include "gjk/snapshot/snapshot.hpp"
#include "gjk/snapshot/text.hpp"
#include "gjk/snapshot/validity.hpp"
#include "gjk/verdict.hpp"

namespace gjk {

// What all questions to a mirror have.
struct Question {
  double margin = 0.0;    // m, >= 0, added to the safety margin of the server
  std::string footprint;  // name; "": the one for the present speed, or the default one
  // Time of the question (ns), on the clock of the node. `times` are relative to it. Data must not
  // be too old at this time, nor at the time of the call. 0: now.
  std::int64_t at = 0;
};

// Not for several threads at once, except read(), answer() and the data of questions.
class Mirror {
 public:
  // The data for some questions. Ask it with the functions of gjk/snapshot/questions.hpp: this has
  // the least overhead. Call fault_at_return() after the computation, before an answer is used.
  class Asked {
   public:
    const Snapshot& view() const noexcept { return view_; }
    // The footprint, and the issue if its name was refused.
    const Mirrored::Chosen& chosen() const noexcept { return chosen_; }
    const Issue& issue() const noexcept { return chosen_.issue; }
    std::int64_t id_of(std::int64_t index) const noexcept {
      return data_ ? data_->id_of(index) : -1;
    }
    std::string source_of(std::int64_t index) const {
      return data_ ? data_->source_of(index) : std::string();
    }

   private:
    friend class Mirror;

    void set_view(std::int64_t at, const std::optional<Fault>& fault) {
      static const Mirrored::Chosen none;
      if (data_) {
        view_ = data_->view(fault ? none : chosen_, at, fault);
      } else {
        view_.stamp = at;
        view_.fault = fault;
        view_.max_poses = std::numeric_limits<std::size_t>::max();
      }
    }

    std::shared_ptr<const Mirrored> data_;
    std::shared_ptr<const Validity::Held> used_;
    Mirrored::Chosen chosen_;
    Snapshot view_;
    std::optional<Fault> state_;  // why the mirror has no valid snapshot
  };

  // A message of ~/snapshot that was read.
  struct Content {
    std::shared_ptr<const Mirrored> data;  // null: it cannot be used
    SnapshotFacts facts;
    Issue issue;  // why it cannot be used
  };

  // Builds the scene of a message.
  template <class Message>
  static Content read(const Message& message) {
    Content content;
    content.data = Mirrored::read(message, content.issue);
    content.facts = content.data ? Mirrored::facts_of(message) : Mirrored::no_facts(content.issue);
    return content;
  }

  // Returns whether questions are now answered from this message.
  bool receive_snapshot(Content content, const Arrival& arrival) {
    if (!validity_.receive_snapshot(std::move(content.facts), arrival) || !content.data) {
      return false;
    }
    data_ = std::move(content.data);
    return true;
  }

  template <class Message>
  void receive_heartbeat(const Message& message, const Arrival& arrival) {
    validity_.receive_heartbeat(Mirrored::heartbeat_of(message), arrival);
  }

  // The data for a question. `required`: id of the snapshot; 0: the last one. `frame`: of the
  // poses.
  Asked ask(const Question& question, std::uint64_t required, const std::string& frame,
            const Clocks& clocks) {
    Asked asked;
    const std::int64_t at = question.at != 0 ? question.at : std::max<std::int64_t>(clocks.now, 1);
    asked.data_ = data_;
    asked.used_ = validity_.held();
    if (data_) asked.chosen_ = data_->chosen(question.footprint);
    asked.state_ = validity_.check(at, clocks, asked.chosen_.is_named);
    if (!asked.state_ && !data_) asked.state_ = Fault{};
    asked.set_view(at, asked.state_ ? asked.state_ : refusal(asked, required, frame));
    return asked;
  }

  // Why an answer that was computed from this data must not be used any more; nothing: it can be
  // used. The data may have become too old, or the parameters may have changed.
  std::optional<Fault> fault_at_return(const Asked& asked, const Clocks& clocks) {
    return validity_.check(asked.view_.stamp, clocks, asked.chosen_.is_named, asked.used_.get());
  }

  // The answer that `compute()` gives. If the data cannot be used any more after the computation,
  // or if the mirror has no valid snapshot, it is UNKNOWN with this reason, also for a request that
  // is not valid. `fault_now()`: fault_at_return() with the present times.
  template <class Compute, class FaultNow>
  static std::invoke_result_t<Compute&> answer(Asked& asked, Compute compute, FaultNow fault_now) {
    std::invoke_result_t<Compute&> found = compute();
    std::optional<Fault> fault = asked.state_;
    if (!fault) {
      fault = fault_now();
      if (!fault) return found;
      asked.set_view(asked.view_.stamp, fault);
      found = compute();
    }
    found.answer.status = fault->status;
    found.answer.message = fault->message;
    return found;
  }

 private:
  // Why a question is not answered from a valid snapshot.
  static std::optional<Fault> refusal(const Asked& asked, std::uint64_t required,
                                      const std::string& frame) {
    const Mirrored& data = *asked.data_;
    if (asked.issue()) return Fault{asked.issue().status, text_of(asked.issue())};
    if (required != 0 && required != data.id()) {
      return Fault{Status::snapshot_mismatch, "snapshot " + std::to_string(required) +
                                                  " is not available; the last snapshot is " +
                                                  std::to_string(data.id())};
    }
    if (frame == data.frame()) return {};
    return Fault{Status::unknown_frame, "the poses are in '" + frame +
                                            "', but the server checks in '" + data.frame() +
                                            "': transform them"};
  }

  std::shared_ptr<const Mirrored> data_;
  Validity validity_;
};

}  // namespace gjk
