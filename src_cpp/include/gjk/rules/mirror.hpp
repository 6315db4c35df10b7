// SPDX-FileCopyrightText: gjk_collision contributors
// SPDX-License-Identifier: Apache-2.0
// A mirror of a collision server, without ROS, clocks and threads: the last snapshot that was
// received, whether it is still valid, and questions about it. The messages are any classes with
// the fields of msg/Snapshot and msg/CollisionState.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "gjk/arithmetic.hpp"
#include "gjk/rules/answers.hpp"
#include "gjk/rules/received_snapshot.hpp"
#include "gjk/rules/snapshot.hpp"
#include "gjk/rules/validity.hpp"
#include "gjk/shape/shape.hpp"
#include "gjk/text.hpp"
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
  // The data for some questions. Ask it with the functions of gjk/rules/questions.hpp: this has the
  // least overhead. Call Mirror::fault() after the computation, before an answer is used.
  class Asked {
   public:
    // With the first footprint.
    const Snapshot& view() const noexcept { return views_.front(); }
    // With each footprint of the question.
    const std::vector<Snapshot>& views() const noexcept { return views_; }
    std::uint64_t id() const noexcept { return data_ ? data_->id() : 0; }  // of the snapshot
    // Why a name of a footprint was refused.
    const Issue& issue() const noexcept { return issue_; }
    // The known footprints of the question, separated by ", ".
    std::string footprint() const {
      std::vector<std::string> names;
      for (std::size_t i = 0; i < views_.size(); ++i) {
        const std::string& name = chosen_[i].name;
        const bool is_new = std::find(names.begin(), names.end(), name) == names.end();
        if (views_[i].footprint != nullptr && is_new) names.push_back(name);
      }
      std::string joined;
      for (const std::string& name : names) joined += (joined.empty() ? "" : ", ") + name;
      return joined;
    }
    // Ages of the data (s) at the time of the question; NaN: not known.
    double footprint_age() const noexcept {
      double age = kNaN;
      for (std::size_t i = 0; data_ && i < chosen_.size(); ++i) {
        if (chosen_[i].footprint == nullptr) continue;
        age = std::fmax(age, data_->footprint_age(chosen_[i], view().stamp));
      }
      return age;
    }
    double max_obstacle_age() const noexcept {
      return data_ ? data_->max_obstacle_age(view().stamp) : kNaN;
    }

   private:
    friend class Mirror;

    // Whether no footprint depends on messages with the footprint or the speed.
    bool are_named() const noexcept {
      return data_ && std::all_of(chosen_.begin(), chosen_.end(),
                                  [](const auto& each) noexcept { return each.is_named; });
    }

    std::shared_ptr<const ReceivedSnapshot> data_;
    std::shared_ptr<const Validity::Held> used_;
    std::vector<ReceivedSnapshot::Chosen> chosen_;
    std::vector<Snapshot> views_;
    Issue issue_;
    std::optional<Fault> fault_;  // why the question is not answered from a valid snapshot
  };

  // A message of ~/snapshot that was read.
  struct Content {
    std::shared_ptr<const ReceivedSnapshot> data;  // null: it cannot be used
    SnapshotFacts facts;
    Issue issue;  // why it cannot be used
  };

  // Builds the scene of a message.
  template <class Message>
  static Content read(const Message& message) {
    Issue issue;
    std::shared_ptr<const ReceivedSnapshot> data = ReceivedSnapshot::read(message, issue);
    if (!data) return unusable(std::move(issue));
    return {std::move(data), ReceivedSnapshot::facts_of(message), {}};
  }
  static Content unusable(Issue issue) {
    SnapshotFacts facts = ReceivedSnapshot::no_facts(issue);
    return {nullptr, std::move(facts), std::move(issue)};
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
    validity_.receive_heartbeat(ReceivedSnapshot::heartbeat_of(message), arrival);
  }

  // The data for a question. `footprints`: names; empty: as one name "". `at`: the time of the
  // question (ns); 0: now. `required`: id of the snapshot; 0: the last one. `frame`: of the poses;
  // null: the check frame.
  Asked ask(const std::vector<std::string>& footprints, std::int64_t at, std::uint64_t required,
            const std::string* frame, const Clocks& clocks) {
    Asked asked;
    const std::int64_t now = std::max<std::int64_t>(clocks.now, 1);
    const std::int64_t when = at != 0 ? at : now;
    asked.data_ = data_;
    asked.used_ = validity_.held();
    asked.chosen_.resize(std::max<std::size_t>(footprints.size(), 1));
    for (std::size_t i = 0; data_ && !asked.issue_ && i < asked.chosen_.size(); ++i) {
      const std::string& name = footprints.empty() ? std::string() : footprints[i];
      asked.issue_ = data_->choose(name, asked.chosen_[i]);
    }
    asked.fault_ = validity_.check(when, clocks, asked.are_named());
    if (!asked.fault_ && !data_) asked.fault_ = Fault{};
    if (!asked.fault_) asked.fault_ = refusal(asked, required, frame);
    for (const ReceivedSnapshot::Chosen& each : asked.chosen_) {
      Snapshot none;
      none.stamp = when;
      none.fault = asked.fault_;
      none.max_poses = std::numeric_limits<std::size_t>::max();
      asked.views_.push_back(data_ ? data_->view(each, when, now, asked.fault_) : none);
    }
    return asked;
  }

  // Why no answer may be given from this data; nothing: an answer that was computed can be used.
  // The question may be refused, the data may have become too old, or the parameters may have
  // changed. The state of the data is said before an error of the question.
  std::optional<Fault> fault(const Asked& asked, const Clocks& clocks) {
    const std::optional<Fault> now =
        validity_.check(asked.view().stamp, clocks, asked.are_named(), asked.used_.get());
    return asked.fault_ ? asked.fault_ : now;
  }

  // The answer that `compute()` gives, or UNKNOWN with the reason why it must not be used.
  // `fault_now()`: fault() with the present times.
  template <class Compute, class FaultNow>
  static std::invoke_result_t<Compute&> answer(Compute compute, FaultNow fault_now) {
    std::invoke_result_t<Compute&> found = compute();
    if (const std::optional<Fault> fault = fault_now()) {
      found = {};
      found.answer = detail::unknown(*fault);
    }
    return found;
  }

 private:
  // Why a question is not answered from a valid snapshot.
  static std::optional<Fault> refusal(const Asked& asked, std::uint64_t required,
                                      const std::string* frame) {
    const ReceivedSnapshot& data = *asked.data_;
    if (asked.issue()) return Fault{asked.issue().status, text_of(asked.issue())};
    if (required != 0 && required != data.id()) {
      return Fault{Status::snapshot_mismatch, "snapshot " + std::to_string(required) +
                                                  " is not available; the last snapshot is " +
                                                  std::to_string(data.id())};
    }
    if (frame == nullptr || *frame == data.frame()) return {};
    return Fault{Status::unknown_frame, "the poses are in '" + *frame +
                                            "', but the server checks in '" + data.frame() +
                                            "': transform them"};
  }

  std::shared_ptr<const ReceivedSnapshot> data_;
  Validity validity_;
};

}  // namespace gjk
